package parse

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestDamagedFiles damages files of every format at random and asks that each
// ends with a text or with an error that blames the file, within the limits,
// and that neither children nor files are left behind. RAGAGENT_DAMAGED_FILES
// sets how many, RAGAGENT_DAMAGED_SEED where to begin.
func TestDamagedFiles(t *testing.T) {
	n := 150
	if raced {
		n = 40
	}
	n = fromEnvironment(t, "RAGAGENT_DAMAGED_FILES", n)
	first := fromEnvironment(t, "RAGAGENT_DAMAGED_SEED", 0)
	temporary := t.TempDir()
	before := childrenOf(t, os.Getpid())
	t.Cleanup(func() { nothingLeft(t, temporary, before) }) // after that of newParser
	p := newParser(t, Config{Timeout: 20 * time.Second, Stall: 5 * time.Second, TempDir: temporary})
	all := fixtures(t)
	seeds := make(chan int)
	var outcomes outcomes
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for seed := range seeds {
				outcomes.count(t, seed, all, p)
			}
		})
	}
	for i := range n {
		seeds <- first + i
	}
	close(seeds)
	workers.Wait()
	t.Logf("%d files: %v", n, outcomes.counts)
}

// outcomes counts how damaged files ended.
type outcomes struct {
	mu     sync.Mutex
	counts map[string]int
}

// count reads one damaged file.
func (o *outcomes) count(t *testing.T, seed int, all []fixture, p *Parser) {
	m := mutator{Rand: rand.New(rand.NewPCG(7, uint64(seed))), others: all}
	f := all[m.IntN(len(all))]
	data := m.damaged(f)
	name := f.name
	if m.IntN(4) == 0 {
		name = "upload"
	}
	// Longer than any limit of the parser.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	text, err := p.Parse(ctx, name, inMemory(data))
	outcome := "text"
	switch {
	case err == nil:
		if why := brokenText(text); why != "" {
			t.Errorf("seed %d (%s): %s", seed, f.name, why)
		}
	case !blamesFile(err):
		t.Errorf("seed %d (%s): %v", seed, f.name, err)
		outcome = "other"
	default:
		for code, sentinel := range failureCodes {
			if errors.Is(err, sentinel) {
				outcome = code
			}
		}
		if outcome == "limit" || strings.Contains(err.Error(), "crashed") {
			t.Logf("seed %d (%s): %v", seed, f.name, err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	o.counts[path.Ext(f.name)+" "+outcome]++
}

func fromEnvironment(t *testing.T, name string, standard int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return standard
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// nothingLeft asks that there are no files in a folder and no children but
// those from before.
func nothingLeft(t *testing.T, dir string, before map[int]bool) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("the file %s was left behind", e.Name())
	}
	for pid := range childrenOf(t, os.Getpid()) {
		if !before[pid] {
			t.Errorf("the process %d was left behind", pid)
		}
	}
}

// childrenOf returns the processes that a process has started, dead ones that
// nobody has waited for included. None are found on systems without /proc.
func childrenOf(t *testing.T, parent int) map[int]bool {
	t.Helper()
	out := map[int]bool{}
	if runtime.GOOS != "linux" {
		return out
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may hold anything.
		_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			out[pid] = true
		}
	}
	return out
}
