package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ragagent/store/backup"
	"ragagent/store/blob"
	"ragagent/store/datadir"
	"ragagent/store/sqlite"
)

// restoreFolder is where a restore collects, within the data folder, what is
// put in place when all of it is there and checked. It lies in the folder
// itself so that a mounted volume can be restored to.
const restoreFolder = "restore.partial"

type restoreCmd struct {
	dataFlags
	modelFlags
	File string `arg:"" help:"The backup to restore." type:"existingfile"`
}

// Run restores a backup into an empty folder and verifies it. Before everything
// in the backup has been checked nothing is put in place.
func (c *restoreCmd) Run(e *env) error {
	manifest, err := c.restore(e.ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "restored the backup of %s: the records and %d blobs, %d bytes, in %s\n",
		manifest.CreatedAt.Format("2006-01-02 15:04:05 MST"), manifest.Blobs(), manifest.Bytes(), c.Data)
	for _, m := range manifest.Missing {
		fmt.Fprintf(e.stderr, "was not in the backup: blob %s: %s\n", m.SHA256, m.Reason)
	}
	verify := verifyCmd{dataFlags: c.dataFlags, modelFlags: c.modelFlags}
	return verify.Run(e)
}

func (c *restoreCmd) restore(ctx context.Context) (m backup.Manifest, err error) {
	f, err := os.Open(c.File)
	if err != nil {
		return m, err
	}
	defer func() { _ = f.Close() }() // it was read only
	info, err := f.Stat()
	if err != nil {
		return m, err
	}
	made := !exists(c.Data)
	if err := restorable(c.Data); err != nil {
		return m, err
	}
	unlock, err := datadir.Lock(c.Data, nil)
	if err != nil {
		return m, err
	}
	// Once more under the lock: nobody else can put something there now.
	if err := restorable(c.Data); err != nil {
		return m, errors.Join(err, unlock())
	}
	r := restoring{data: c.Data, stage: filepath.Join(c.Data, restoreFolder)}
	m, err = r.collect(ctx, f, info.Size())
	if err == nil {
		err = r.putInPlace()
	}
	if err == nil {
		return m, unlock()
	}
	err = errors.Join(err, os.RemoveAll(r.stage), unlock())
	if made {
		err = errors.Join(err, datadir.Remove(c.Data))
	}
	return m, err
}

// recordsSums is what the records keep beside them.
const recordsSums = recordsFile + ".sums"

// restorable says whether a restore may write to a folder: it is not there, or
// holds nothing, or what an earlier restore left that was interrupted.
func restorable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	interrupted := exists(filepath.Join(dir, restoreFolder)) && !exists(filepath.Join(dir, recordsFile))
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == restoreFolder, name == "lost+found", datadir.IsLock(name):
		case (name == blobsFolder || name == recordsSums) && interrupted:
			// They come before the records: it ended between the two.
		default:
			return fmt.Errorf("%s is not empty (it holds %s): a restore overwrites nothing, give a new folder with --data", dir, name)
		}
	}
	return nil
}

// restoring is a backup.Sink that collects in a folder.
type restoring struct {
	data, stage string
	blobs       *blob.Bulk
}

// collect reads the backup into the stage, checks all of it, and brings its
// records to the schema of this program. What a newer program wrote is refused.
func (r *restoring) collect(ctx context.Context, f io.Reader, size int64) (m backup.Manifest, err error) {
	if err := os.RemoveAll(r.stage); err != nil {
		return m, err
	}
	dir, err := blob.New(blob.Config{Dir: filepath.Join(r.stage, blobsFolder)})
	if err != nil {
		return m, err
	}
	r.blobs = dir.Bulk()
	m, err = backup.Read(ctx, bufio.NewReaderSize(f, 1<<20), size, r)
	if err = errors.Join(err, r.blobs.Close(), dir.Close()); err != nil {
		return m, err
	}
	return m, r.migrate(ctx)
}

// migrate leaves one file that holds all of the records, and its checksums.
func (r *restoring) migrate(ctx context.Context) error {
	path := filepath.Join(r.stage, recordsFile)
	db, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err == nil {
		err = db.Close()
	}
	if err == nil && exists(path+"-wal") {
		err = errors.New("the write-ahead log could not be emptied")
	}
	if err != nil {
		return fmt.Errorf("the records in the backup cannot be used: %w", err)
	}
	return nil
}

// Records implements backup.Sink.
func (r *restoring) Records(body io.Reader) error {
	f, err := os.OpenFile(filepath.Join(r.stage, recordsFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Sync(), f.Close())
}

// Blob implements backup.Sink: what does not have the hash is not kept.
func (r *restoring) Blob(ctx context.Context, hash string, body io.Reader) error {
	return r.blobs.Put(ctx, hash, body)
}

// putInPlace moves the blobs and then the records: a folder without records
// that has a stage is one where a restore was interrupted, and is not served.
func (r *restoring) putInPlace() error {
	if err := syncFolder(r.stage); err != nil {
		return err
	}
	for _, name := range []string{blobsFolder, recordsSums, recordsFile} {
		if err := os.RemoveAll(filepath.Join(r.data, name)); err != nil { // of an interrupted restore
			return err
		}
		if name == recordsSums && !exists(filepath.Join(r.stage, name)) {
			continue // the disk was too full for them
		}
		if err := os.Rename(filepath.Join(r.stage, name), filepath.Join(r.data, name)); err != nil {
			return err
		}
		if err := syncFolder(r.data); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(r.stage), syncFolder(r.data))
}

// finished refuses a data folder in which a restore was interrupted, and clears
// away what one left that was interrupted after its last step.
func finished(data string) error {
	stage := filepath.Join(data, restoreFolder)
	if !exists(stage) {
		return nil
	}
	if !exists(filepath.Join(data, recordsFile)) {
		return fmt.Errorf("%s: a restore was interrupted here: run it again", data)
	}
	return os.RemoveAll(stage)
}

// strays lists what is in the data folder and is none of ours.
func strays(data string) (names []string, err error) {
	ours := []string{recordsFile, recordsSums, recordsFile + "-wal", recordsFile + "-shm", blobsFolder, indexesFolder, spoolFolder, "lost+found"}
	entries, err := os.ReadDir(data)
	for _, entry := range entries {
		if name := entry.Name(); !slices.Contains(ours, name) && !datadir.IsLock(name) {
			names = append(names, name)
		}
	}
	return names, err
}
