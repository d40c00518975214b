package datadir_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ragagent/store"
	"ragagent/store/datadir"
)

// lockChild names the folder a child process holds until it is killed.
const lockChild = "RAGAGENT_LOCK_CHILD"

const childInfo = `{"pid":1,"addr":"127.0.0.1:8080"}`

func TestMain(m *testing.M) {
	if dir := os.Getenv(lockChild); dir != "" {
		if _, err := datadir.Lock(dir, []byte(childInfo)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		fmt.Println("held")
		_, _ = io.ReadAll(os.Stdin) // until it is killed, or its parent is gone
		os.Exit(4)
	}
	os.Exit(m.Run())
}

func wantHolder(t *testing.T, dir, wantInfo string, wantHeld bool) {
	t.Helper()
	info, held, err := datadir.Holder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if string(info) != wantInfo || held != wantHeld {
		t.Errorf("holder is %q, %t, want %q, %t", info, held, wantInfo, wantHeld)
	}
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	wantHolder(t, dir, "", false)
	unlock, err := datadir.Lock(dir, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	wantHolder(t, dir, "first", true)
	_, err = datadir.Lock(dir, []byte("second"))
	if !errors.Is(err, store.ErrInUse) {
		t.Fatalf("error is %v, want %v", err, store.ErrInUse)
	}
	if want := "data folder " + dir + " is in use by another process: first"; err.Error() != want {
		t.Errorf("message is %q, want %q", err, want)
	}
	var inUse *datadir.InUseError
	if !errors.As(err, &inUse) || inUse.Dir != dir || string(inUse.Info) != "first" {
		t.Errorf("error is %#v", err)
	}
	wantHolder(t, dir, "first", true)
	for range 2 {
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
	wantHolder(t, dir, "", false)
	again, err := datadir.Lock(dir, []byte("third"))
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil { // no longer its own
		t.Fatal(err)
	}
	wantHolder(t, dir, "third", true)
	if err := again(); err != nil {
		t.Fatal(err)
	}
}

func TestOneOfManyGetsTheLock(t *testing.T) {
	dir := t.TempDir()
	const n = 16
	var mu sync.Mutex
	got := 0
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			_, err := datadir.Lock(dir, nil)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				got++
			} else if !errors.Is(err, store.ErrInUse) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got != 1 {
		t.Errorf("%d got the lock, want 1", got)
	}
}

func TestAKilledProcessHoldsNothing(t *testing.T) {
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), lockChild+"="+dir)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	wantHolder(t, dir, childInfo, true)
	if _, err := datadir.Lock(dir, nil); !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), childInfo) {
		t.Errorf("error is %v, want %v with the holder", err, store.ErrInUse)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed: that is its error
	wantHolder(t, dir, "", false)
	unlock, err := datadir.Lock(dir, []byte("next"))
	if err != nil {
		t.Fatal(err)
	}
	wantHolder(t, dir, "next", true)
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}
