package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// reserveName is a file that holds nothing but room.
const reserveName = "reserve"

// DefaultReserve is the size of a Reserve of size 0: room to write down the
// deletion of documents with some ten thousand chunks.
const DefaultReserve = 16 << 20

// Reserve is room on the disk of a data folder that is kept for later.
type Reserve struct {
	path string
	size int64
}

// NewReserve returns the reserve of a folder; size 0 means DefaultReserve. It
// is what it was until Refill.
func NewReserve(dir string, size int64) *Reserve {
	if size <= 0 {
		size = DefaultReserve
	}
	return &Reserve{path: filepath.Join(dir, reserveName), size: size}
}

// Release gives the room up.
func (r *Reserve) Release() error {
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("release the reserve: %w", err)
	}
	return nil
}

// Refill takes the room that is not taken yet. An error wraps what kept it from
// all of it; what it could take stays taken, so that nobody else does.
func (r *Reserve) Refill() (err error) {
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("refill the reserve: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() > r.size {
		err = f.Truncate(r.size)
	}
	if err == nil {
		err = r.grow(f, r.size-info.Size())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("refill the reserve: %w", err)
	}
	return nil
}

// grow appends so many bytes, or as many as there is room for.
func (r *Reserve) grow(f *os.File, left int64) (err error) {
	block := make([]byte, 1<<20) // written, because a hole would take no room
	for left > 0 && err == nil {
		var n int
		n, err = f.Write(block[:min(int64(len(block)), left)])
		left -= int64(n)
	}
	return err
}
