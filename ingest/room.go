package ingest

import (
	"errors"
	"syscall"

	"ragagent/store"
)

// isFull tells a disk without room, in whichever way it shows itself: full, a
// quota, or a limit of the size of files.
func isFull(err error) bool {
	return errors.Is(err, store.ErrFull) || errors.Is(err, syscall.ENOSPC) ||
		errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
