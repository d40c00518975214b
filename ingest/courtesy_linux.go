package ingest

import (
	"runtime"
	"syscall"
)

// workerNice is the priority of workers: a tenth of the processor time of what
// runs at 0, when there is not enough for both.
const workerNice = 10

// giveWay lowers the priority of the calling goroutine for the rest of its
// life, so that the system lets questions run first. It has a thread of its own
// from here on, which ends with it; child processes that it starts inherit the
// priority. Where it is not allowed to, nothing changes.
func giveWay() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), workerNice)
}
