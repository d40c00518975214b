package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ragagent/store"
	"ragagent/store/sqlite"
)

// killed returns the three files of a database as a kill would leave them, after
// some transactions, and the offsets in the log where each of them ended.
func killed(t *testing.T) (files map[string][]byte, ends []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records.db")
	db := open(t, path)
	if err := db.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{ID: crashKB, Name: "crash"}); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if _, err := db.AddDocument(t.Context(), crashDoc(n), crashJob(n)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(info.Size()))
	}
	files = map[string][]byte{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		raw, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		files[suffix] = raw
	}
	return files, ends
}

// reopen writes the files and opens them; it returns the number of documents.
func reopen(t *testing.T, files map[string][]byte, log []byte, shm bool) (documents int, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records.db")
	put := map[string][]byte{"": files[""], "-wal": log}
	if shm {
		put["-shm"] = files["-shm"]
	}
	for suffix, raw := range put {
		if raw == nil {
			continue
		}
		if err := os.WriteFile(path+suffix, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		return 0, err
	}
	defer closing(t, db)
	all, err := db.Documents(t.Context(), crashKB, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	return len(all), nil
}

func TestLogOfAKilledProcess(t *testing.T) {
	files, ends := killed(t)
	log := files["-wal"]
	for _, shm := range []bool{false, true} {
		if n, err := reopen(t, files, log, shm); err != nil || n != 5 {
			t.Errorf("as it was (-shm %t): %d documents, %v", shm, n, err)
		}
	}
	// A transaction that was being written is left out, however far it came.
	next := append(bytes.Clone(log), log[ends[3]:ends[4]]...) // wrong checksums, right salts
	for _, size := range []int{len(log) + 10, len(log) + 5000, len(next)} {
		if n, err := reopen(t, files, next[:size], true); err != nil || n != 5 {
			t.Errorf("%d bytes of another transaction: %d documents, %v", size-len(log), n, err)
		}
	}
}

// TestDamagedLog flips bits in what was committed: the last transaction is
// guarded by the shared index, those before also by what follows them.
func TestDamagedLog(t *testing.T) {
	files, ends := killed(t)
	log := files["-wal"]
	for at := 5; at < len(log); at += len(log)/60 + 1 {
		damaged := bytes.Clone(log)
		damaged[at] ^= 0x20
		for _, shm := range []bool{false, true} {
			if !shm && at >= ends[3] {
				continue // nothing tells it from a transaction that was cut off
			}
			if n, err := reopen(t, files, damaged, shm); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("byte %d of %d (-shm %t): %d documents, %v", at, len(log), shm, n, err)
			}
		}
	}
	for name, cut := range map[string][]byte{
		"removed": nil, "empty": {}, "header only": log[:32],
		"one transaction less": log[:ends[3]], "half": log[:len(log)/2], fmt.Sprint("byte ", len(log)-1): log[:len(log)-1],
	} {
		if n, err := reopen(t, files, cut, true); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %d documents, %v", name, n, err)
		}
	}
}
