package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: a number from 1 on is wanted", name, value)
	}
	return n
}

// seeded returns a source of random numbers whose seed is logged and can be given.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := setting(t, "RAGAGENT_SEED", int(time.Now().UnixNano()&0xffffffff))
	t.Logf("RAGAGENT_SEED=%d", seed)
	return rand.New(rand.NewPCG(uint64(seed), 0))
}

// damage is something that happens to one file.
type damage struct {
	name string
	do   func(raw []byte, r *rand.Rand) []byte // nil: the file is removed
}

var damages = []damage{
	{"flip a bit", func(raw []byte, r *rand.Rand) []byte {
		raw = slices.Clone(raw)
		raw[r.IntN(len(raw))] ^= 1 << r.IntN(8)
		return raw
	}},
	{"cut", func(raw []byte, r *rand.Rand) []byte { return raw[:r.IntN(len(raw))] }},
	{"remove", func([]byte, *rand.Rand) []byte { return nil }},
	{"fill with zeros", func(raw []byte, r *rand.Rand) []byte {
		raw = slices.Clone(raw)
		from := r.IntN(len(raw))
		clear(raw[from:min(len(raw), from+512)])
		raw[from] ^= 0x5a // zeros may have been there
		return raw
	}},
	{"append", func(raw []byte, r *rand.Rand) []byte { return append(slices.Clone(raw), byte(r.Uint32())) }},
	{"other content", func(_ []byte, r *rand.Rand) []byte { return fmt.Appendf(nil, "something else %d", r.Uint64()) }},
}

// TestDamages damages a data folder in one place at a time. Each damage is
// found by verify, or keeps the server from starting with a message that names
// the file; a server that starts does not crash, and what was not damaged
// answers as before.
func TestDamages(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; not with -short")
	}
	sound := filled(t)
	runs(t, "verify", "--data", sound)
	want := answersOf(t, sound, "letters")
	random := seeded(t)
	for i := range setting(t, "RAGAGENT_DAMAGES", 12) {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
			t.Fatal(err)
		}
		what, records := damageOne(t, dir, i, random)
		t.Run(fmt.Sprintf("%02d %s", i, what), func(t *testing.T) {
			code, out, msg := command(t, "verify", "--data", copyOf(t, dir))
			if code != exitFailed || !strings.Contains(out, "\n    ") && !strings.Contains(msg, recordsFile) {
				t.Errorf("verify did not find it: exit %d\n%s%s", code, out, msg)
			}
			srv, said := tryServer(t, dir)
			if srv == nil {
				if !records || !strings.Contains(said, recordsFile) {
					t.Errorf("the server did not start, and said %q", said)
				}
				return
			}
			api := srv.client()
			if got := lettersOf(t, api); got != want && !records {
				t.Errorf("the other knowledge base answers\n%s\nnot\n%s", got, want)
			}
			_ = api.post(t.Context(), "/api/v1/retrieve", map[string]any{"query": "crates code7x", "knowledge_bases": []string{"reports"}}, nil)
			if err := api.get(t.Context(), "/healthz", nil); err != nil {
				t.Errorf("the server has died: %v", err)
			}
		})
	}
}

// damageOne does the i-th damage and says what it was; records: it was done to
// the database, which all knowledge bases share.
func damageOne(t *testing.T, dir string, i int, r *rand.Rand) (what string, records bool) {
	t.Helper()
	blobs := reportBlobs(t, dir)
	path := blobs[r.IntN(len(blobs))]
	switch d := damages[i/2%len(damages)]; {
	case i%10 == 8: // strays
		name := []string{"note.txt", "blobs/ab", "blobs/00/note.txt", "blobs/" + strings.Repeat("ab/", 2) + "x", "blobs/ab/" + strings.Repeat("c", 62)}[i/10%5]
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			name += "/stray.tmp"
		}
		write(t, filepath.Join(dir, name), []byte("stray"))
		return "stray " + name, false
	case i%10 == 9: // two files change places
		other := blobs[(slices.Index(blobs, path)+1)%len(blobs)]
		a, b := read(t, path), read(t, other)
		write(t, path, b)
		write(t, other, a)
		return "swap two blobs", false
	case i%2 == 0:
		apply(t, path, d, r)
		return d.name + " of a blob", false
	default:
		apply(t, filepath.Join(dir, recordsFile), d, r)
		return d.name + " of the records", true
	}
}

func apply(t *testing.T, path string, d damage, r *rand.Rand) {
	t.Helper()
	raw := d.do(read(t, path), r)
	if raw == nil {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	write(t, path, raw)
}

// reportBlobs are the files of the knowledge base that may be damaged.
func reportBlobs(t *testing.T, dir string) (paths []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "blobs", "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if bytes.Contains(read(t, path), []byte("The reports number")) {
			paths = append(paths, path)
		}
	}
	if len(paths) < 12 {
		t.Fatalf("%d blobs of reports", len(paths))
	}
	return paths
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func write(t *testing.T, path string, raw []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// answersOf is what a knowledge base answers, asked over HTTP.
func answersOf(t *testing.T, data, kb string) (answers string) {
	t.Helper()
	e := &env{ctx: t.Context(), stdout: t.Output(), stderr: t.Output()}
	err := withClient(e, reachFlags{dataFlags: dataFlags{Data: data}}, modelFlags{}, true, func(api *client) error {
		answers = lettersOf(t, api)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

func lettersOf(t *testing.T, api *client) string {
	t.Helper()
	var all strings.Builder
	for _, q := range []string{"code7x", "how many crates", "counted twice a year"} {
		var r retrieved
		err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{"query": q, "knowledge_bases": []string{"letters"}, "top_k": 12}, &r)
		fmt.Fprintln(&all, q, err)
		for _, h := range r.Hits {
			fmt.Fprintf(&all, "%s %.9f %q\n", h.DocumentName, h.Score, h.Text)
		}
	}
	return all.String()
}

// tryServer starts a server and waits until it is ready, or has ended, and
// returns what it said then.
func tryServer(t *testing.T, data string) (*server, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0", "--data", data)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	path := filepath.Join(t.TempDir(), "log")
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the server has its own
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: cmd}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended is in its log
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	s.once.Do(func() {}) // the goroutine above waits for it
	var said string
	eventually(t, func() bool {
		raw, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		said = string(raw)
		if _, rest, ok := strings.Cut(said, "is ready on "); ok {
			s.base, _, _ = strings.Cut(rest, " ")
			return strings.Contains(rest, " ")
		}
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	if strings.Contains(said, "panic") {
		t.Errorf("the server panicked:\n%s", said)
	}
	if s.base == "" {
		return nil, said
	}
	return s, said
}
