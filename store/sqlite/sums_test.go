package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"ragagent/store/sqlite"
)

// TestEveryFlipIsFound turns one bit at many places of a closed file, free space
// included: the next Open knows, and the one after it still does.
func TestEveryFlipIsFound(t *testing.T) {
	path := populate(t)
	closing(t, open(t, path)) // whatever the first closing left
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checksums, err := os.ReadFile(path + ".sums")
	if err != nil {
		t.Fatal(err)
	}
	put := func(content []byte) {
		t.Helper()
		for _, extra := range []string{"-wal", "-shm"} {
			if err := os.Remove(path + extra); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.WriteFile(path, content, 0o600), os.WriteFile(path+".sums", checksums, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for at := 97; at < len(sound); at += len(sound)/40 + 1 {
		damaged := bytes.Clone(sound)
		damaged[at] ^= 4
		put(damaged)
		for round := range 2 {
			db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
			if err != nil {
				break // found too: there is no way to open it
			}
			if d := db.Damage(); len(d) != 1 || !strings.HasPrefix(d[0], "the database file has changed since it was closed, between byte 0 and 1048576") {
				t.Errorf("byte %d, open %d: %q", at, round, d)
			}
			closing(t, db)
		}
	}
	put(sound[:len(sound)-8192])
	if db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); err == nil {
		if d := db.Damage(); len(d) == 0 {
			t.Error("a page less was not found")
		}
		closing(t, db)
	}
	put(sound)
	checksums[len(checksums)/2] ^= 1
	if err := os.WriteFile(path+".sums", checksums, 0o600); err != nil {
		t.Fatal(err)
	}
	if problems := check(t, path); len(problems) != 1 || !strings.Contains(problems[0], "checksums") {
		t.Errorf("damaged checksums: %q", problems)
	}
}

// TestSumsFollowTheFile: writing, reading only and being killed all leave a
// file that the next Open finds sound.
func TestSumsFollowTheFile(t *testing.T) {
	path := populate(t)
	for range 2 { // nothing is written
		db := open(t, path)
		if _, err := os.Stat(path + ".sums"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("while it is open there are checksums: %v", err)
		}
		if d := db.Damage(); d != nil {
			t.Errorf("damage: %q", d)
		}
		closing(t, db)
	}
	db := open(t, path)
	if _, err := db.DeleteDocument(t.Context(), crashKB, crashDoc(4).ID); err != nil {
		t.Fatal(err)
	}
	closing(t, db)
	db = open(t, path)
	if d := db.Damage(); d != nil {
		t.Errorf("after a change: %q", d)
	}
	closing(t, db)
}

func TestAcceptForgetsDamage(t *testing.T) {
	path := populate(t)
	if err := os.WriteFile(path+".sums", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	if len(db.Damage()) != 1 {
		t.Fatalf("damage: %q", db.Damage())
	}
	if err := db.Accept(); err != nil {
		t.Fatal(err)
	}
	closing(t, db)
	if problems := check(t, path); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
}

// TestSumsAfterReadsWereCutOff closes the database right after reads whose
// context ended: their connections end on their own, and are waited for.
func TestSumsAfterReadsWereCutOff(t *testing.T) {
	path := populate(t)
	for range 50 {
		db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.ForgetDropped(t.Context(), 1); err != nil { // so that there is a log
			t.Fatal(err)
		}
		var readers sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 4 {
			readers.Go(func() {
				for range db.VisibleChunks(ctx, crashKB, "") {
					cancel()
				}
			})
		}
		readers.Wait()
		closing(t, db)
		for name, want := range map[string]bool{".sums": true, "-wal": false} {
			if _, err := os.Stat(path + name); (err == nil) != want {
				t.Fatalf("%s is there: %t, want %t", name, !want, want)
			}
		}
	}
}

// TestUnfinishedSums: what a kill leaves of the checksums goes with the next Open.
func TestUnfinishedSums(t *testing.T) {
	path := populate(t)
	if err := os.WriteFile(path+".sums.new", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	if _, err := os.Stat(path + ".sums.new"); !errors.Is(err, fs.ErrNotExist) || len(db.Damage()) > 0 {
		t.Errorf("%v; damage: %q", err, db.Damage())
	}
}
