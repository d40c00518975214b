package ingest

import (
	"syscall"
	"testing"
)

// TestGiveWay: a worker's thread has the lower priority, and nobody gets that
// thread, or its priority, afterwards.
func TestGiveWay(t *testing.T) {
	before := niceOf(t)
	during := make(chan int)
	go func() {
		giveWay()
		during <- niceOf(t)
	}()
	if got := <-during; got != max(before, workerNice) {
		t.Errorf("nice %d, want %d", got, workerNice)
	}
	for range 100 {
		go func() { during <- niceOf(t) }()
		if got := <-during; got != before {
			t.Fatalf("nice %d of another goroutine, want %d", got, before)
		}
	}
}

// niceOf is the priority of the thread that runs this.
func niceOf(t *testing.T) int {
	raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
	if err != nil {
		t.Error(err)
	}
	return 20 - raw // the system call returns 1 to 40
}
