package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// slowestStart is what a start may take after a kill, in processor time: how
// long others keep a busy machine is not what is tested.
const slowestStart = 5 * time.Second

// TestKills kills one server again and again: while it starts, while documents
// and knowledge bases come and go, while a backup is written. Nothing that was
// acknowledged is lost, nothing that was deleted comes back, every start is
// quick, and verify finds nothing.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes; not with -short")
	}
	random := seeded(t)
	t.Setenv("RAGAGENT_SAVE_INDEXES_EVERY", "5ms") // so that kills meet side files half written
	data, log := filepath.Join(t.TempDir(), "data"), newLedger()
	slowest, torn, kept := time.Duration(0), 0, 0
	kills := setting(t, "RAGAGENT_KILLS", 20)
	for i := range kills {
		if i%4 == 3 {
			killWhileStarting(t, data, random)
		} else {
			slowest = max(slowest, killWhileBusy(t, data, log, i%4 == 2, random))
		}
		torn += count(t, filepath.Join(data, indexesFolder, "*.tmp"))
		kept += count(t, filepath.Join(data, indexesFolder, "*.side"))
		if i%5 == 4 || i == kills-1 {
			runs(t, "verify", "--data", data)
		}
		if i%10 == 9 || i == kills-1 {
			srv, took := timedStart(t, data)
			slowest = max(slowest, took)
			log.check(t, srv.client())
			log.versions.check(t, srv.client())
			srv.kill()
		}
		if t.Failed() {
			t.Fatalf("after kill %d", i+1)
		}
	}
	runs(t, "verify", "--data", data)
	there, gone := log.now()
	t.Logf("%d kills: %d documents are there, %d are gone; the slowest start took %s; they left %d side files and %d that were being written",
		kills, len(there), len(gone), slowest, kept, torn)
}

func count(t *testing.T, pattern string) int {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// usedBy is the processor time that a process has used so far, where the system has /proc.
func usedBy(pid int) (spent time.Duration, known bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, found := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if err != nil || !found || len(fields) < 13 {
		return 0, false
	}
	var user, system int64 // in hundredths of a second
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, false
	}
	return time.Duration(user+system) * 10 * time.Millisecond, true
}

func timedStart(t *testing.T, data string) (*server, time.Duration) {
	t.Helper()
	begin := time.Now()
	srv := startServer(t, data)
	took := time.Since(begin)
	if spent, known := usedBy(srv.cmd.Process.Pid); known && spent > slowestStart {
		t.Errorf("a start took %s of processor time, %s in all", spent, took)
	}
	return srv, took
}

// killWhileStarting lets a server live for a moment at most.
func killWhileStarting(t *testing.T, data string, r *rand.Rand) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0", "--data", data)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration(r.IntN(150)) * time.Millisecond)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// killWhileBusy kills a server under load, if wanted with a backup going on,
// and returns how long it took to start.
func killWhileBusy(t *testing.T, data string, log *ledger, backup bool, r *rand.Rand) time.Duration {
	t.Helper()
	srv, took := timedStart(t, data)
	api := srv.client()
	if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	for range 3 {
		clients.Go(func() { log.churn(ctx, api) })
	}
	clients.Go(func() { log.churnBases(ctx, api) })
	clients.Go(func() { log.versions.churn(ctx, api, log.count) })
	clients.Go(func() { ask(ctx, api) })
	if backup {
		clients.Go(func() { backupUntil(ctx, t, api) })
	}
	time.Sleep(time.Duration(10+r.IntN(400)) * time.Millisecond)
	for _, child := range srv.killing() {
		eventually(t, func() bool { return !parses(child) })
	}
	return took
}

// backupUntil makes backups until ctx ends; each that says to be whole is.
func backupUntil(ctx context.Context, t *testing.T, api *client) {
	for i := 0; ctx.Err() == nil; i++ {
		file := filepath.Join(t.TempDir(), "b")
		code, out, msg := command(t, "backup", "--server", api.base, file)
		if (code == exitOK) != exists(file) || exists(file+".partial") {
			t.Errorf("backup: exit %d, and the file is there: %t\n%s%s", code, exists(file), out, msg)
		}
		if code != exitOK {
			return // the server is gone
		}
		restored := filepath.Join(t.TempDir(), fmt.Sprintf("restored-%d", i))
		if out := runs(t, "restore", file, "--data", restored); !strings.HasSuffix(out, ": 0 problems\n") {
			t.Errorf("restore: %s", out)
		}
	}
}
