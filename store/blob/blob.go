// Package blob keeps originals and texts in a folder, each under the SHA-256
// of its content: Dir/ab/cdef.... Equal content is kept once, and what a name
// stands for never changes.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"ragagent/store"
)

// Config says where the blobs are.
type Config struct {
	// Dir is the folder, made if it is not there. Nothing else may be kept in
	// it, and one process uses it at a time (store/datadir).
	Dir string
}

// Dir implements store.Blobs on a folder.
type Dir struct {
	root  *os.Root // no name leads out of it, whatever links are in it
	marks marks
	// adding is held while a name is put into the staging folder. File systems
	// let one do that at a time, and those who wait spin there: 32 at once took
	// four times the processor time of one after the other.
	adding sync.Mutex
}

var _ store.Blobs = (*Dir)(nil)

// staging is the folder within Dir for content that is not kept yet.
const staging = "tmp"

// New opens the folder. What an earlier process staged and did not commit is
// removed; what it committed and left under way, Unsettled lists.
func New(cfg Config) (*Dir, error) {
	if cfg.Dir == "" {
		return nil, store.Invalid("dir", "the blobs need a folder")
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make blob folder: %w", err)
	}
	root, err := os.OpenRoot(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("open blob folder: %w", err)
	}
	d := &Dir{root: root}
	if err := d.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare blob folder: %w", err), root.Close())
	}
	return d, nil
}

// prepare makes every folder a blob can come into, so that Commit has one
// folder to sync and no two of them race to make it. Something else in the place
// of one is damage to its blobs, which must not keep the others from being used:
// see Strays.
func (d *Dir) prepare() error {
	if err := d.clearStaging(); err != nil {
		return err
	}
	for i := range 256 {
		if err := d.root.MkdirAll(fmt.Sprintf("%02x", i), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return d.sync(".")
}

// Close lets go of the folder. Open blobs stay readable.
func (d *Dir) Close() error { return d.root.Close() }

// Open implements store.Blobs.
func (d *Dir) Open(ctx context.Context, sha256 string) (store.Blob, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name, err := place(sha256)
	if err != nil {
		return nil, err
	}
	f, err := d.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open blob %s: %w", sha256, store.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", sha256, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open blob %s: %w", sha256, err), f.Close())
	}
	return &file{File: f, size: info.Size()}, nil
}

// file is an open blob; its content and so its size never change.
type file struct {
	*os.File
	size int64
}

func (f *file) Size() int64 { return f.size }

// Delete implements store.Blobs. The removal is not synced: a blob that comes
// back with a power cut is one that no record refers to.
func (d *Dir) Delete(ctx context.Context, sha256 string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name, err := place(sha256)
	if err != nil {
		return err
	}
	if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete blob %s: %w", sha256, err)
	}
	return nil
}

// List implements store.Blobs. What is no blob is passed over: see Strays.
func (d *Dir) List(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := d.walk(ctx, func(name string) bool {
			hash, ok := hashAt(name)
			return !ok || yield(hash, nil)
		})
		if err != nil {
			yield("", fmt.Errorf("list blobs: %w", err))
		}
	}
}

// Strays yields the path, below the folder, of everything in it that is
// neither a blob nor being staged, in ascending order: a sound folder has none.
func (d *Dir) Strays(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := d.walk(ctx, func(name string) bool {
			_, ok := hashAt(name)
			return ok || yield(name, nil)
		})
		if err != nil {
			yield("", fmt.Errorf("list strays: %w", err))
		}
	}
}

// walk visits the path of every entry outside the staging folder, in ascending
// order, until visit returns false. One folder of 256 is in memory at a time.
func (d *Dir) walk(ctx context.Context, visit func(name string) bool) error {
	shards, err := d.entries(".")
	if err != nil {
		return err
	}
	for _, shard := range shards {
		if shard.Name() == staging {
			continue
		}
		if !shard.IsDir() {
			if !visit(shard.Name()) {
				return nil
			}
			continue
		}
		blobs, err := d.entries(shard.Name())
		if err != nil {
			return err
		}
		for _, blob := range blobs {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !visit(path.Join(shard.Name(), blob.Name())) {
				return nil
			}
		}
	}
	return nil
}

func (d *Dir) entries(name string) ([]fs.DirEntry, error) {
	f, err := d.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.ReadDir(-1)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, err
}
