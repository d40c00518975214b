package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"ragagent/store"
)

// A blob that was committed and that nothing may refer to yet has a mark in the
// staging folder: a second name of the file, or an empty one, made of the hash
// and of what the content was staged as. Marks are not synced. A killed process
// leaves them; after a power cut one may be missing, and its blob is then one
// that verify reports.

const markSeparator = "."

func mark(hash, stagedAs string) string {
	return path.Join(staging, hash+markSeparator+path.Base(stagedAs))
}

// markedHash is the inverse of mark.
func markedHash(name string) (hash string, ok bool) {
	hash, _, ok = strings.Cut(name, markSeparator)
	return hash, ok && store.IsSHA256(hash)
}

// marks are those that are there, by hash.
type marks struct {
	mu  sync.Mutex
	all map[string][]string
}

func (m *marks) add(hash, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[string][]string{}
	}
	m.all[hash] = append(m.all[hash], name)
}

func (m *marks) drop(hash, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := slices.DeleteFunc(m.all[hash], func(other string) bool { return other == name })
	if m.all[hash] = left; len(left) == 0 {
		delete(m.all, hash)
	}
}

func (m *marks) of(hash string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all[hash])
}

func (m *marks) hashes() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.all))
}

// makeMark marks a blob that lies in the staging folder as stagedAs.
func (d *Dir) makeMark(hash, stagedAs string) error {
	name := mark(hash, stagedAs)
	if err := d.link(stagedAs, name); err != nil { // not every file system can
		f, err := d.create(name)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	d.marks.add(hash, name)
	return nil
}

// link gives a staged file a second name: that is cheaper than a second file.
func (d *Dir) link(stagedAs, name string) error {
	d.adding.Lock()
	defer d.adding.Unlock()
	return d.root.Link(stagedAs, name)
}

// removeMark is no error if somebody else has removed it.
func (d *Dir) removeMark(hash, name string) error {
	if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.marks.drop(hash, name)
	return nil
}

// clearStaging removes all but marks from the staging folder, or makes it.
func (d *Dir) clearStaging() error {
	err := d.root.Mkdir(staging, 0o700)
	if err == nil {
		return nil
	}
	if info, failed := d.root.Lstat(staging); failed != nil || !info.IsDir() {
		return errors.Join(err, failed)
	}
	entries, err := d.entries(staging)
	for _, e := range entries {
		name := path.Join(staging, e.Name())
		if hash, ok := markedHash(e.Name()); ok && e.Type().IsRegular() {
			d.marks.add(hash, name)
		} else {
			err = errors.Join(err, d.root.RemoveAll(name))
		}
	}
	return err
}

// Unsettled lists, ascending, the blobs that are under way: right after New,
// those that the process before this one left so. They may be referred to, and
// need not be there.
func (d *Dir) Unsettled(ctx context.Context) (hashes []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("list unsettled blobs: %w", err)
	}
	return d.marks.hashes(), nil
}

// Settle says that a blob is under way no longer, whoever began it.
func (d *Dir) Settle(ctx context.Context, sha256 string) error {
	if !store.IsSHA256(sha256) {
		return store.Invalid("sha256", "%.80q is not 64 lower-case hex digits", sha256)
	}
	err := ctx.Err()
	for _, name := range d.marks.of(sha256) {
		err = errors.Join(err, d.removeMark(sha256, name))
	}
	if err != nil {
		return fmt.Errorf("settle blob %s: %w", sha256, err)
	}
	return nil
}
