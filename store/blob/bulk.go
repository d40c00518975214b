package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"sync"

	"ragagent/store"
)

// syncers is how many files of a Bulk are being synced at a time: they share
// the waits for the disk.
const syncers = 16

// Bulk puts many blobs into a Dir that nothing refers to before all are there.
// Folders are synced once, at the end, and contents while the next are written.
// One goroutine uses it.
type Bulk struct {
	dir     *Dir
	free    chan struct{}
	syncing sync.WaitGroup
	shards  map[string]bool

	mu  sync.Mutex
	err error // the first of a sync
}

// Bulk begins one. Close has to be called.
func (d *Dir) Bulk() *Bulk {
	return &Bulk{dir: d, free: make(chan struct{}, syncers), shards: map[string]bool{}}
}

// Put writes a blob. store.ErrDamaged if the content does not have the hash:
// then it is not kept. Before Close has returned nil, a power cut may take it.
func (b *Bulk) Put(ctx context.Context, sha256 string, r io.Reader) (err error) {
	name, err := place(sha256)
	if err != nil {
		return err
	}
	s, err := b.dir.Stage(ctx, r, math.MaxInt64)
	if err != nil {
		return err
	}
	if s.SHA256() != sha256 {
		return errors.Join(fmt.Errorf("blob %s: %w: it hashes to %s", sha256, store.ErrDamaged, s.SHA256()), s.Discard())
	}
	one := s.(*staged)
	if err := b.dir.root.Rename(one.name, name); err != nil {
		return errors.Join(fmt.Errorf("put blob %s: %w", sha256, err), s.Discard())
	}
	b.shards[path.Dir(name)] = true
	b.sync(one.file)
	return b.failed()
}

// sync makes the content of a file durable, in the background, and closes it.
func (b *Bulk) sync(f *os.File) {
	b.free <- struct{}{}
	b.syncing.Go(func() {
		err := errors.Join(f.Sync(), f.Close())
		<-b.free
		if err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.err == nil {
				b.err = fmt.Errorf("put blobs: %w", err)
			}
		}
	})
}

func (b *Bulk) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Close makes all that was put durable, or says that it may not be.
func (b *Bulk) Close() error {
	b.syncing.Wait()
	err := b.failed()
	for shard := range b.shards {
		err = errors.Join(err, b.dir.sync(shard))
	}
	return err
}
