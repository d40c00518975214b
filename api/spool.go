package api

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ragagent/store"
)

// spoolName is the pattern of the files uploads wait in.
const spoolName = "upload-*"

// spoolMemory is the size up to which a file waits in memory, in bytes.
const spoolMemory = 64 << 10

// spooled is one uploaded file, read to its end. Files wait here until their
// whole request was read: metadata may stand after them, and a request that
// breaks off adds nothing.
type spooled struct {
	name, mime string
	size       int64
	sum        [sha256.Size]byte
	small      []byte // the content, if path is ""
	path       string
}

// prepareSpool makes the folder and removes what a killed process left in it.
// The system's own temporary folder ("") is left alone: it has other users.
func prepareSpool(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the upload folder: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, spoolName))
	if err != nil {
		return fmt.Errorf("look for old uploads: %w", err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove an old upload: %w", err)
		}
	}
	return nil
}

// spool reads r to its end, at most limit bytes (store.ErrTooLarge beyond).
// After an error nothing is left behind.
func spool(dir string, r io.Reader, limit int64) (spooled, error) {
	var head bytes.Buffer
	hash := sha256.New()
	in := io.TeeReader(io.LimitReader(r, limit+1), hash)
	_, err := io.CopyN(&head, in, min(spoolMemory, limit+1))
	if err != nil && !errors.Is(err, io.EOF) {
		return spooled{}, err
	}
	s := spooled{size: int64(head.Len()), small: head.Bytes()}
	if err == nil && s.size <= limit {
		if s, err = spoolFile(dir, io.MultiReader(&head, in)); err != nil {
			return spooled{}, err
		}
	}
	if s.size > limit {
		s.remove()
		return spooled{}, store.ErrTooLarge
	}
	hash.Sum(s.sum[:0])
	return s, nil
}

func spoolFile(dir string, r io.Reader) (s spooled, err error) {
	f, err := os.CreateTemp(dir, spoolName)
	if err != nil {
		return s, fmt.Errorf("keep the upload: %w", err)
	}
	s.path = f.Name()
	s.size, err = io.Copy(f, r)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		s.remove()
	}
	return s, err
}

// spooledFile is an open one.
type spooledFile interface {
	io.ReadCloser
	io.ReaderAt
}

func (s spooled) open() (spooledFile, error) {
	if s.path == "" {
		return smallFile{bytes.NewReader(s.small)}, nil
	}
	return os.Open(s.path)
}

type smallFile struct{ *bytes.Reader }

func (smallFile) Close() error { return nil }

func (s spooled) remove() {
	if s.path != "" {
		_ = os.Remove(s.path) // prepareSpool removes what stays
	}
}
