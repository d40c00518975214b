package datadir_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ragagent/store"
	"ragagent/store/datadir"
)

// lockChild names the folder a child process holds until it is killed.
const lockChild = "RAGAGENT_LOCK_CHILD"

// lockStarts makes it start processes all the time.
const lockStarts = "RAGAGENT_LOCK_STARTS"

const childInfo = `{"pid":1,"addr":"127.0.0.1:8080"}`

func TestMain(m *testing.M) {
	if dir := os.Getenv(lockChild); dir != "" {
		if _, err := datadir.Lock(dir, []byte(childInfo)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		fmt.Println("held")
		if os.Getenv(lockStarts) != "" {
			for range 2 {
				go startForEver()
			}
		}
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

// startForEver starts this program again and again, which ends at once.
func startForEver() {
	for {
		other := exec.CommandContext(context.Background(), os.Args[0], "-test.run=^$")
		other.Env = []string{"HOME=/"} // it holds nothing itself
		_ = other.Run()
	}
}

// holder starts a process that holds a folder until it is killed.
func holder(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(append(os.Environ(), lockChild+"="+dir), env...)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
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
	return child
}

// kill is kill -9.
func kill(t *testing.T, child *exec.Cmd) {
	t.Helper()
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed: that is its error
}

func TestAKilledProcessHoldsNothing(t *testing.T) {
	dir := t.TempDir()
	child := holder(t, dir)
	wantHolder(t, dir, childInfo, true)
	if _, err := datadir.Lock(dir, nil); !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), childInfo) {
		t.Errorf("error is %v, want %v with the holder", err, store.ErrInUse)
	}
	kill(t, child)
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

// TestAKilledProcessThatStartsOthers: what it was just starting has its files
// for a moment longer, and the lock with them.
func TestAKilledProcessThatStartsOthers(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		child := holder(t, dir, lockStarts+"=1")
		time.Sleep(time.Duration(i%5) * time.Millisecond) // any moment will do
		kill(t, child)
		if i%2 == 0 {
			wantHolder(t, dir, "", false)
		}
		unlock, err := datadir.Lock(dir, nil)
		if err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
}
