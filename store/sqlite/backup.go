package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ragagent/store"
)

// Backup writes a copy of the records, as of one moment, to a new file; writes
// go on meanwhile. When it returns nil the copy is synced to the disk and can
// be opened by Open. ErrConflict if there is such a file already. Blobs are
// not in it: who copies them afterwards has every one the copy refers to, but
// for those deleted since.
func (db *DB) Backup(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("back up to %s: %w: the file is there", path, store.ErrConflict), err)
	}
	partial := path + ".partial"
	err := os.Remove(partial) // of a backup that was killed
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = db.copyTo(ctx, partial)
	}
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err == nil {
		err = syncPath(filepath.Dir(path))
	}
	if err != nil {
		_ = os.Remove(partial) // the first error tells more
		return fmt.Errorf("back up to %s: %w", path, translate(err))
	}
	return nil
}

// copyTo needs a connection of its own: readers may not write, even elsewhere,
// and the writer would keep other writes waiting.
func (db *DB) copyTo(ctx context.Context, path string) error {
	source, err := pool(db.path, 1, []string{"busy_timeout(10000)"})
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it has read only
	if _, err := source.ExecContext(ctx, `VACUUM INTO ?`, path); err != nil {
		return err
	}
	return syncPath(path)
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
