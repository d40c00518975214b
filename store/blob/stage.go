package blob

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"

	"ragagent/store"
)

// Stage implements store.Blobs.
func (d *Dir) Stage(ctx context.Context, r io.Reader, maxBytes int64) (store.Staged, error) {
	name := path.Join(staging, rand.Text())
	f, err := d.create(name)
	if err != nil {
		return nil, fmt.Errorf("stage blob: %w", err)
	}
	hash, size, err := fill(ctx, f, r, maxBytes)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("stage blob: %w", err), f.Close(), d.root.Remove(name))
	}
	return &staged{dir: d, name: name, file: f, hash: hash, size: size}, nil
}

// create makes a file in the staging folder.
func (d *Dir) create(name string) (*os.File, error) {
	d.adding.Lock()
	defer d.adding.Unlock()
	return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// fill copies r into w and hashes it on the way. It reads one byte more than
// allowed, to know that there is more.
func fill(ctx context.Context, w io.Writer, r io.Reader, maxBytes int64) (hash string, size int64, err error) {
	h := sha256.New()
	limited := io.LimitReader(store.ContextReader(ctx, r), min(maxBytes, math.MaxInt64-1)+1)
	size, err = io.Copy(io.MultiWriter(w, h), limited)
	if err != nil {
		return "", 0, err
	}
	if size > maxBytes {
		return "", 0, fmt.Errorf("%w: more than %d bytes", store.ErrTooLarge, maxBytes)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// staged is a file in the staging folder. Like the contract says nothing of
// concurrency, one goroutine uses it.
type staged struct {
	dir  *Dir
	name string
	file *os.File // nil after Commit or Discard
	hash string
	size int64

	committed bool
	mark      string // while it is under way; else ""
}

func (s *staged) SHA256() string { return s.hash }
func (s *staged) Size() int64    { return s.size }

// Commit syncs the content, moves it to its place and syncs that folder:
// after a power cut there is the whole blob or none. Content that is there
// already is replaced by its equal, which also heals a damaged file.
func (s *staged) Commit() error {
	if s.committed {
		return nil
	}
	if s.file == nil {
		return errors.New("commit blob: it was discarded")
	}
	if err := s.commit(); err != nil {
		return errors.Join(fmt.Errorf("commit blob %s: %w", s.hash, err), s.Discard())
	}
	s.committed = true
	return nil
}

func (s *staged) commit() error {
	if err := s.file.Sync(); err != nil {
		return err
	}
	name, err := place(s.hash)
	if err != nil {
		return err
	}
	if err := s.dir.makeMark(s.hash, s.name); err != nil {
		return err
	}
	s.mark = mark(s.hash, s.name)
	if err := s.dir.root.Rename(s.name, name); err != nil {
		return err
	}
	if err := s.dir.sync(path.Dir(name)); err != nil {
		s.mark = "" // it stays, because the blob may stay too
		return err
	}
	err = s.file.Close()
	s.file = nil
	return err
}

// Discard implements store.Staged.
func (s *staged) Discard() (err error) {
	if s.mark != "" {
		err = s.dir.removeMark(s.hash, s.mark)
		s.mark = ""
	}
	if s.file == nil {
		return err
	}
	err = errors.Join(err, s.file.Close())
	if removed := s.dir.root.Remove(s.name); !errors.Is(removed, fs.ErrNotExist) { // it may have been moved
		err = errors.Join(err, removed)
	}
	s.file = nil
	return err
}

// sync makes the entries of a folder durable.
func (d *Dir) sync(folder string) error {
	f, err := d.root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
