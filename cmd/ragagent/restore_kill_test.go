package main

import (
	"database/sql"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ragagent/store/backup"
	"ragagent/store/blob"
)

// killedAfter runs ragagent as a process and kills it after a while; ended says
// that it was faster.
func killedAfter(t *testing.T, wait time.Duration, args ...string) (ended bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("%s: %v", strings.Join(args, " "), err)
		}
		return true
	case <-time.After(wait):
		_ = cmd.Process.Kill() // it may have ended
		<-done
		return false
	}
}

// TestKillsOfBackupAndRestore kills either of them again and again. A backup has
// its name when it is whole; a restored folder is whole, or is not served and
// can be restored to.
func TestKillsOfBackupAndRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes; not with -short")
	}
	random, data, dir := seeded(t), filled(t), t.TempDir()
	want := answers(t, data)
	file, target := filepath.Join(dir, "b"), filepath.Join(dir, "target")
	took := func(args ...string) time.Duration {
		began := time.Now()
		if !killedAfter(t, time.Minute, args...) {
			t.Fatalf("%s: not within a minute", strings.Join(args, " "))
		}
		return time.Since(began)
	}
	backing := took("backup", "--data", data, file)
	restoring := took("restore", file, "--data", target)
	backups, restores, interrupted := 0, 0, 0
	for range setting(t, "RAGAGENT_KILLS", 20) {
		next := filepath.Join(dir, "next")
		killedAfter(t, time.Duration(random.Int64N(int64(backing))), "backup", "--data", data, next)
		if exists(next) {
			backups++
			runs(t, "restore", next, "--data", filepath.Join(t.TempDir(), "restored"))
			if err := os.Remove(next); err != nil {
				t.Fatal(err)
			}
		}
		if exists(filepath.Join(target, recordsFile)) { // anew
			if err := os.RemoveAll(target); err != nil {
				t.Fatal(err)
			}
		}
		killedAfter(t, time.Duration(random.Int64N(int64(restoring))), "restore", file, "--data", target)
		switch {
		case exists(filepath.Join(target, recordsFile)):
			restores++
			runs(t, "verify", "--data", target)
		case exists(filepath.Join(target, restoreFolder)):
			interrupted++
			fails(t, "a restore was interrupted here", "serve", "--data", target, "--addr", "127.0.0.1:0")
		}
	}
	runs(t, "verify", "--data", data)
	if !exists(filepath.Join(target, recordsFile)) {
		runs(t, "restore", file, "--data", target)
	}
	if got := answers(t, target); got != want {
		t.Errorf("the restored folder answers\n%s\nnot\n%s", got, want)
	}
	t.Logf("backups that were whole: %d; restores that were: %d, that had begun: %d", backups, restores, interrupted)
}

// TestRestoreOfOtherSchemas: records of an older program are brought up to date,
// and those of a newer one refused before anything is put in place.
func TestRestoreOfOtherSchemas(t *testing.T) {
	for _, c := range []struct{ name, change, refused string }{
		// Migration 80 can be made again.
		{"older", `DELETE FROM goose_db_version WHERE version_id = 80`, ""},
		{"newer", `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`, "a newer ragagent wrote it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := filled(t)
			db, err := sql.Open("sqlite", filepath.Join(data, recordsFile))
			if err != nil {
				t.Fatal(err)
			}
			for _, statement := range strings.Split(c.change, "; ") {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			file, target := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "target")
			backUpAsIs(t, data, file)
			if c.refused != "" {
				fails(t, c.refused, "restore", file, "--data", target)
				if exists(target) {
					t.Error("something was put in place")
				}
				return
			}
			if out := runs(t, "restore", file, "--data", target); !strings.HasSuffix(out, ": 0 problems\n") {
				t.Error(out)
			}
		})
	}
}

// backUpAsIs backs the files of a data folder up as they are.
func backUpAsIs(t *testing.T, data, file string) {
	t.Helper()
	blobs, err := blob.New(blob.Config{Dir: filepath.Join(data, blobsFolder)})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, blobs)
	records, err := os.Open(filepath.Join(data, recordsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, records)
	info, err := records.Stat()
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, out)
	if _, err := backup.Write(t.Context(), out, backup.Source{
		Records: records, RecordsBytes: info.Size(), Blobs: blobs.List(t.Context()), Open: blobs.Open, Program: "test",
	}); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
