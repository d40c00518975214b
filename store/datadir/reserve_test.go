package datadir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ragagent/store/datadir"
)

func TestReserve(t *testing.T) {
	dir := t.TempDir()
	const size = 3<<20 + 5
	r := datadir.NewReserve(dir, size)
	path := filepath.Join(dir, "reserve")
	for range 2 {
		if err := r.Release(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := r.Refill(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != size {
			t.Fatalf("%v, %v, want %d bytes", info, err, size)
		}
	}
	for _, other := range []int64{size / 2, size + 7} { // a part of it, or that of another size
		if err := os.Truncate(path, other); err != nil {
			t.Fatal(err)
		}
		if err := r.Refill(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != size {
			t.Fatalf("from %d bytes: %v, %v, want %d bytes", other, info, err, size)
		}
	}
	if !datadir.IsLock("reserve") {
		t.Error("the reserve is told to be none of the folder's own files")
	}
	if err := r.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Release: %v", err)
	}
	if err := datadir.NewReserve(filepath.Join(dir, "none"), 1).Refill(); err == nil {
		t.Error("refilled in a folder that is not there")
	}
}
