package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// filled makes a data folder with two knowledge bases.
func filled(t *testing.T) (data string) {
	t.Helper()
	data, files := filepath.Join(t.TempDir(), "data"), t.TempDir()
	for _, kb := range []string{"reports", "letters"} {
		for i := range 12 {
			text := strings.ReplaceAll(killText(i), "warehouse", kb)
			if err := os.WriteFile(filepath.Join(files, fmt.Sprintf("%s-%02d.md", kb, i)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		paths, err := filepath.Glob(filepath.Join(files, kb+"-*"))
		if err != nil {
			t.Fatal(err)
		}
		runs(t, append([]string{"ingest", "--data", data, "--kb", kb}, paths...)...)
	}
	return data
}

// runs is a command that has to work.
func runs(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	code, out, msg := command(t, args...)
	if code != exitOK {
		t.Fatalf("%s: exit %d\n%s%s", strings.Join(args, " "), code, out, msg)
	}
	return out
}

// fails is a command that has to fail and say why.
func fails(t *testing.T, why string, args ...string) {
	t.Helper()
	code, out, msg := command(t, args...)
	if code == exitOK || !strings.Contains(msg+out, why) {
		t.Errorf("%s: exit %d, want one that says %q\n%s%s", strings.Join(args, " "), code, why, out, msg)
	}
}

// answers is what a folder answers, with scores, to compare two of them.
func answers(t *testing.T, data string) string {
	t.Helper()
	var all strings.Builder
	for _, kb := range []string{"reports", "letters"} {
		for _, q := range []string{"code7x", "how many crates", "counted twice a year"} {
			all.WriteString(runs(t, "search", "--data", data, "--kb", kb, "--top-k", "12", q))
		}
	}
	return all.String()
}

func TestBackupAndRestore(t *testing.T) {
	data := filled(t)
	file := filepath.Join(t.TempDir(), "all.backup")
	out := runs(t, "backup", "--data", data, file)
	if !strings.HasPrefix(out, "backed up the records and 48 blobs, ") {
		t.Errorf("backup: %s", out)
	}
	fails(t, "overwrites nothing", "backup", "--data", data, file)
	fails(t, "is in the data folder", "backup", "--data", data, filepath.Join(data, "b"))
	fails(t, "holds no data", "backup", "--data", filepath.Join(data, "nowhere"), file+"2")
	if exists(filepath.Join(data, "nowhere")) || exists(file+"2") || exists(file+"2.partial") {
		t.Error("a backup that failed left something behind")
	}

	restored := filepath.Join(t.TempDir(), "restored")
	out = runs(t, "restore", file, "--data", restored)
	if !strings.Contains(out, "2 knowledge bases, 24 documents") || !strings.HasSuffix(out, ": 0 problems\n") {
		t.Errorf("restore: %s", out)
	}
	if want, got := answers(t, data), answers(t, restored); want != got || !strings.Contains(want, "reports-07.md") {
		t.Errorf("the restored folder answers\n%s\nthe original\n%s", got, want)
	}
	fails(t, "is not empty", "restore", file, "--data", restored)
	fails(t, "is not empty", "restore", file, "--data", filepath.Dir(file))
	out = runs(t, "rebuild", "--data", restored)
	for _, want := range []string{"records: ", "reports: 12 chunks, 12 vectors", "letters: 12 chunks, 12 vectors"} {
		if !strings.Contains(out, want) {
			t.Errorf("rebuild: %s, want %q", out, want)
		}
	}
	if want, got := answers(t, data), answers(t, restored); want != got {
		t.Errorf("after rebuild\n%s\nbefore\n%s", got, want)
	}
}

// TestDamagedBackupIsRefused: nothing of it is put in place.
func TestDamagedBackupIsRefused(t *testing.T) {
	data := filled(t)
	file := filepath.Join(t.TempDir(), "all.backup")
	runs(t, "backup", "--data", data, file)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(raw, 0x53) // S of SQLite
	for name, damaged := range map[string][]byte{
		"flipped in the records": flip(raw, at+5000),
		"flipped in a blob":      flip(raw, strings.Index(string(raw), "# Report 3")),
		"cut":                    raw[:len(raw)*2/3],
		"without its end":        raw[:len(raw)-4096],
		"empty":                  nil,
		"something else":         []byte(strings.Repeat("no backup ", 1000)),
	} {
		t.Run(name, func(t *testing.T) {
			bad, target := filepath.Join(t.TempDir(), "bad"), filepath.Join(t.TempDir(), "target")
			if err := os.WriteFile(bad, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			fails(t, "damaged", "restore", bad, "--data", target)
			if exists(target) {
				t.Error("the folder is there")
			}
		})
	}
}

func flip(raw []byte, at int) []byte {
	raw = slices.Clone(raw)
	raw[at] ^= 0x10
	return raw
}

// TestDamagedBlobIsNamed: the backup is made of all that is sound, and says
// that it is not the whole.
func TestDamagedBlobIsNamed(t *testing.T) {
	data := filled(t)
	blobs, err := filepath.Glob(filepath.Join(data, "blobs", "??", "*"))
	if err != nil || len(blobs) != 48 {
		t.Fatalf("%d blobs, %v", len(blobs), err)
	}
	if err := os.WriteFile(blobs[3], []byte("other content"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, restored := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "restored")
	fails(t, "its content has changed", "backup", "--data", data, file)
	code, out, msg := command(t, "restore", file, "--data", restored)
	if code != exitFailed || !strings.Contains(msg, "was not in the backup: blob ") || !strings.Contains(out, "1 problems\n") || !strings.Contains(out, "is missing") {
		t.Errorf("restore: exit %d\n%s%s", code, out, msg)
	}
}

// TestInterruptedRestore: such a folder is not served, and a second restore
// begins anew.
func TestInterruptedRestore(t *testing.T) {
	data := filled(t)
	file, target := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "target")
	runs(t, "backup", "--data", data, file)
	for _, folder := range []string{filepath.Join(restoreFolder, "blobs"), filepath.Join("blobs", "ab")} {
		if err := os.MkdirAll(filepath.Join(target, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fails(t, "a restore was interrupted here", "serve", "--data", target, "--addr", "127.0.0.1:0")
	fails(t, "a restore was interrupted here", "ingest", "--data", target, "--kb", "x", file)
	runs(t, "restore", file, "--data", target)
	if want, got := answers(t, data), answers(t, target); want != got {
		t.Errorf("answers differ:\n%s\n%s", got, want)
	}
}

// TestBackupOfBusyServer makes backups while documents come and go. What was
// acknowledged before one began is in it, what was deleted before is not, and
// it is whole.
func TestBackupOfBusyServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process; not with -short")
	}
	data := t.TempDir()
	srv := startServer(t, data)
	api := srv.client()
	if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer writers.Wait()
	defer cancel()
	log := newLedger()
	for range 3 {
		writers.Go(func() { log.churn(ctx, api) })
	}
	for round := range 3 {
		log.wait(t, 25*(round+1))
		there, gone := log.now()
		file, restored := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "restored")
		runs(t, "backup", "--data", data, file)
		if out := runs(t, "verify", "--data", data); !strings.HasSuffix(out, ": 0 problems\n") {
			t.Errorf("round %d: verify of the busy server: %s", round, out)
		}
		if out := runs(t, "verify", "--deleted", "--data", data); !strings.Contains(out, "nothing is in the records") {
			t.Errorf("round %d: verify --deleted of the busy server: %s", round, out)
		}
		if out := runs(t, "restore", file, "--data", restored); !strings.HasSuffix(out, ": 0 problems\n") {
			t.Errorf("round %d: %s", round, out)
		}
		list := documents(t, restored)
		for _, id := range there {
			if !list[id] && !log.isGone(id) {
				t.Errorf("round %d: %s was acknowledged before the backup and is not in it", round, id)
			}
		}
		for _, id := range gone {
			if list[id] {
				t.Errorf("round %d: %s was deleted before the backup and is in it", round, id)
			}
		}
	}
	cancel()
	writers.Wait()
	srv.kill()
	runs(t, "verify", "--data", data)
	answersOf(t, data, "kb") // a start, which lets the side files follow
	runs(t, "verify", "--deleted", "--data", data)
}

// documents lists the ids in a data folder that nobody has open.
func documents(t *testing.T, data string) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	e := &env{ctx: t.Context(), stdout: t.Output(), stderr: t.Output()}
	err := withClient(e, reachFlags{dataFlags: dataFlags{Data: data}}, modelFlags{}, true, func(api *client) error {
		return eachDocument(t.Context(), api, "kb", func(d listedDocument) { ids[d.ID] = true })
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
