package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"ragagent/store"
)

// A blob that was committed and that nothing may refer to yet has a mark: an
// empty file in the staging folder, named by the hash and what the content was
// staged as. Marks are not synced. A killed process leaves them; after a power
// cut one may be missing, and its blob is then one that verify reports.

const markSeparator = "."

func mark(hash, stagedAs string) string {
	return path.Join(staging, hash+markSeparator+path.Base(stagedAs))
}

// markedHash is the inverse of mark.
func markedHash(name string) (hash string, ok bool) {
	hash, _, ok = strings.Cut(name, markSeparator)
	return hash, ok && store.IsSHA256(hash)
}

func (d *Dir) makeMark(name string) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
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
		if _, ok := markedHash(e.Name()); !ok || !e.Type().IsRegular() {
			err = errors.Join(err, d.root.RemoveAll(path.Join(staging, e.Name())))
		}
	}
	return err
}

// Unsettled lists, ascending, the blobs that are under way: right after New,
// those that the process before this one left so. They may be referred to, and
// need not be there.
func (d *Dir) Unsettled(ctx context.Context) (hashes []string, err error) {
	entries, err := d.entries(staging)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, fmt.Errorf("list unsettled blobs: %w", err)
	}
	for _, e := range entries {
		if hash, ok := markedHash(e.Name()); ok {
			hashes = append(hashes, hash)
		}
	}
	return slices.Compact(hashes), nil
}

// Settle says that a blob is under way no longer, whoever began it.
func (d *Dir) Settle(ctx context.Context, sha256 string) error {
	if !store.IsSHA256(sha256) {
		return store.Invalid("sha256", "%.80q is not 64 lower-case hex digits", sha256)
	}
	entries, err := d.entries(staging)
	err = errors.Join(err, ctx.Err())
	for _, e := range entries {
		if hash, ok := markedHash(e.Name()); ok && hash == sha256 {
			if failed := d.root.Remove(path.Join(staging, e.Name())); !errors.Is(failed, fs.ErrNotExist) {
				err = errors.Join(err, failed)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("settle blob %s: %w", sha256, err)
	}
	return nil
}
