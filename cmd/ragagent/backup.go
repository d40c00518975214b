package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ragagent/store"
	"ragagent/store/backup"
	"ragagent/store/sqlite"
)

type backupCmd struct {
	reachFlags
	File string `arg:"" help:"The backup to write; it must not be there yet."`
}

// Run writes a backup. It comes from the server that has the data folder open,
// or from the folder itself if nobody has. The file gets its name when it is
// whole, synced and has been read back.
func (c *backupCmd) Run(e *env) error {
	if err := c.acceptable(); err != nil {
		return err
	}
	partial := c.File + ".partial"
	manifest, err := c.write(e, partial)
	if err == nil {
		err = publish(partial, c.File)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(partial))
	}
	fmt.Fprintf(e.stdout, "backed up the records and %d blobs, %d bytes, to %s\n", manifest.Blobs(), manifest.Bytes(), c.File)
	for _, m := range manifest.Missing {
		fmt.Fprintf(e.stderr, "not in the backup: blob %s: %s\n", m.SHA256, m.Reason)
	}
	if len(manifest.Missing) > 0 {
		fmt.Fprintln(e.stderr, "ragagent: the backup holds everything else; 'ragagent verify' says which documents are affected")
		return errSilent
	}
	return nil
}

// acceptable refuses places where a backup must not be.
func (c *backupCmd) acceptable() error {
	if _, err := os.Lstat(c.File); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s is there already: a backup overwrites nothing", c.File), err)
	}
	file, err := filepath.Abs(c.File)
	if err != nil {
		return err
	}
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(data, file); err == nil && c.Server == "" && filepath.IsLocal(rel) {
		return fmt.Errorf("%s is in the data folder: what happens to the folder would happen to the backup too", c.File)
	}
	return nil
}

// write fills the file, syncs it and reads it back.
func (c *backupCmd) write(e *env, path string) (m backup.Manifest, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	if err := c.fill(e, out); err != nil {
		return m, err
	}
	if err := errors.Join(out.Flush(), f.Sync()); err != nil {
		return m, err
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return m, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return m, err
	}
	return backup.Read(e.ctx, bufio.NewReaderSize(f, 1<<20), size, backup.Discard)
}

func (c *backupCmd) fill(e *env, w io.Writer) error {
	if c.Server != "" {
		return fetchBackup(e.ctx, &client{http: http.DefaultClient, base: strings.TrimRight(c.Server, "/")}, w)
	}
	if !exists(filepath.Join(c.Data, recordsFile)) && !holdsBlobs(c.Data) {
		return fmt.Errorf("%s holds no data: say where it is with --data", c.Data)
	}
	a := &app{data: c.Data}
	err := a.openStores(e.ctx, appConfig{data: c.Data, log: warnings(e.stderr)})
	if err == nil {
		err = a.writeBackup(e.ctx, w)
	}
	err = errors.Join(err, a.Close())
	if !errors.Is(err, store.ErrInUse) {
		return err
	}
	info := holderOf(c.Data)
	if info.Addr == "" {
		return err
	}
	fmt.Fprintf(e.stderr, "using the server on http://%s, which has %s open\n", info.Addr, c.Data)
	return fetchBackup(e.ctx, &client{http: http.DefaultClient, base: "http://" + info.Addr}, w)
}

// fetchBackup streams a backup from a server.
func fetchBackup(ctx context.Context, api *client, w io.Writer) error {
	resp, err := api.send(ctx, http.MethodPost, "/api/v1/backup", nil, "", "application/x-tar")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // read to its end or given up
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("the backup broke off; the server's log says why: %w", err)
	}
	return nil
}

// snapshotFile is the copy of the records that a running backup reads.
const snapshotFile = "backup-snapshot.db"

// writeBackup writes a backup of everything as of one moment, while the server
// goes on: blobs that are deleted meanwhile are kept until it is written.
func (a *app) writeBackup(ctx context.Context, w io.Writer) (err error) {
	if !a.backups.TryLock() {
		return fmt.Errorf("another backup is being written: %w", store.ErrInUse)
	}
	defer a.backups.Unlock()
	if a.service != nil { // else nothing runs that could delete
		// Before the copy: whatever the copy refers to is then kept.
		defer a.service.HoldBlobs()()
	}
	path := filepath.Join(a.data, snapshotFile)
	if err := removeSnapshot(a.data); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeSnapshot(a.data)) }()
	if err := a.records.Backup(ctx, path); err != nil {
		return err
	}
	hashes, err := referencedBlobs(ctx, path)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was read only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = backup.Write(ctx, w, backup.Source{
		Records: f, RecordsBytes: info.Size(),
		Blobs: func(yield func(string, error) bool) {
			for _, hash := range hashes {
				if !yield(hash, nil) {
					return
				}
			}
		},
		Open:    a.blobs.Open,
		Program: version,
	})
	return err
}

// referencedBlobs opens a copy of the records, which brings it into its final
// form, and lists the blobs it refers to.
func referencedBlobs(ctx context.Context, path string) (hashes []string, err error) {
	db, err := sqlite.Open(ctx, sqlite.Config{Path: path, Readers: 1})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for hash, err := range db.ReferencedBlobs(ctx) {
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, hash)
	}
	return hashes, nil
}

// removeSnapshot removes what a backup, or one that was killed, left behind.
func removeSnapshot(data string) error {
	left, err := filepath.Glob(filepath.Join(data, snapshotFile+"*"))
	for _, path := range slices.Sorted(slices.Values(left)) {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// publish gives a synced file its name, unless that is taken meanwhile, and
// syncs the folder.
func publish(partial, path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s appeared meanwhile: a backup overwrites nothing", path), err)
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
