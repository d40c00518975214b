package chromem

import (
	"syscall"
	"unsafe"
)

// largePage is the usual size of a large page.
const largePage = 2 << 20

// largePages asks the system for large pages under a slice that takes much
// memory and is read here and there: most of what a search waits for is the
// translation of addresses. It is advice only; neighbours of the slice may get
// a large page with it.
func largePages[T any](s []T) {
	n := uintptr(len(s)) * unsafe.Sizeof(*new(T))
	if n < largePage/64 {
		return
	}
	from := uintptr(unsafe.Pointer(&s[0])) &^ (largePage - 1)
	to := (uintptr(unsafe.Pointer(&s[0])) + n + largePage - 1) &^ (largePage - 1)
	// Without them it is only slower.
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_HUGEPAGE)
}
