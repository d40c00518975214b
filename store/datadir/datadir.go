// Package datadir keeps a data folder to one process. The lock is the
// operating system's: it vanishes with the process, however that ends.
//
// On Unix a process that is being started has, between fork and exec, the files
// of the one that starts it, and with them its lock. If that is killed in this
// moment, the lock outlives it until the other has come to exec. The number of
// the process that took the lock stands in the lock file: one that is gone is
// waited for.
package datadir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"ragagent/store"
)

// The lock and what its holder says of itself are two files, because where
// locks are mandatory a locked file cannot be read.
const (
	lockName = "ragagent.lock"
	infoName = "ragagent.lock.json"
)

// Bounds of waiting for a lock whose holder is gone.
const (
	lingers = 5 * time.Second // on a busy machine
	pause   = 2 * time.Millisecond
)

// maxInfo bounds what is read of a holder's info, in bytes.
const maxInfo = 64 << 10

// InUseError says that another process holds the folder.
type InUseError struct {
	Dir  string
	Info []byte // what the holder said of itself; nil while it has not yet
}

func (e *InUseError) Error() string {
	if len(e.Info) == 0 {
		return fmt.Sprintf("data folder %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("data folder %s is in use by another process: %s", e.Dir, bytes.TrimSpace(e.Info))
}

// Unwrap makes errors.Is(err, store.ErrInUse) true.
func (e *InUseError) Unwrap() error { return store.ErrInUse }

// Lock takes the folder for this process, making it if it is not there. It
// does not wait for one that is alive: if another holds it, the error is an
// *InUseError. info, for
// example JSON with the process id and the address it listens on, can be read
// by others with Holder. unlock may be called more than once.
func Lock(dir string, info []byte) (unlock func() error, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if len(info) > maxInfo {
		return nil, store.Invalid("info", "it has %d bytes, at most %d are read", len(info), maxInfo)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	lock := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	held, err := try(dir, lock.TryLock)
	if err != nil {
		return nil, fmt.Errorf("lock data folder %s: %w", dir, err)
	}
	if !held {
		holder, err := readInfo(dir)
		return nil, errors.Join(&InUseError{Dir: dir, Info: holder}, err)
	}
	sign(dir)
	infoPath := filepath.Join(dir, infoName)
	if err := replaceFile(infoPath, info); err != nil {
		return nil, errors.Join(fmt.Errorf("lock data folder %s: %w", dir, err), lock.Close())
	}
	return func() error {
		if !lock.Locked() {
			return nil
		}
		// The info goes first: once the lock is free it may be another's.
		return errors.Join(os.Remove(infoPath), lock.Close())
	}, nil
}

// Holder returns what the process that holds the folder said of itself when
// it took it. held is false, and info nil, if nobody holds it, even if a
// killed process left its info behind.
func Holder(dir string) (info []byte, held bool, err error) {
	lockPath := filepath.Join(dir, lockName)
	if _, err := os.Stat(lockPath); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil // do not leave a lock file in a folder that is none of ours
	}
	lock := flock.New(lockPath, flock.SetFlag(os.O_RDONLY))
	free, err := try(dir, lock.TryRLock)
	if err != nil {
		return nil, false, fmt.Errorf("look at the lock of %s: %w", dir, err)
	}
	if free {
		return nil, false, lock.Close()
	}
	info, err = readInfo(dir)
	return info, true, err
}

// try takes a lock, as soon as it is free if its holder is gone.
func try(dir string, take func() (bool, error)) (bool, error) {
	for end := time.Now().Add(lingers); ; time.Sleep(pause) {
		taken, err := take()
		if taken || err != nil || !forsaken(dir) || time.Now().After(end) {
			return taken, err
		}
	}
}

// signature is how the number of a process stands in the lock file: of one
// length, so that it is replaced by one write.
func signature() []byte { return fmt.Appendf(nil, "%-20d\n", os.Getpid()) }

// sign says in the lock file who has the lock. Without it (on a full disk,
// where locks are mandatory) nobody is waited for, or not to any effect.
func sign(dir string) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	_, _ = f.WriteAt(signature(), 0)
	_ = f.Close()
}

// forsaken says that the process that last took the lock is gone.
func forsaken(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return false
	}
	defer f.Close()
	raw := make([]byte, len(signature()))
	n, _ := f.Read(raw) // less is no number of anybody
	pid, err := strconv.Atoi(string(bytes.TrimSpace(raw[:n])))
	return err == nil && pid > 0 && gone(pid)
}

func readInfo(dir string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, infoName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the holder is about to write it
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxInfo))
}

// replaceFile writes the content in one step for every reader.
func replaceFile(path string, content []byte) error {
	next := path + ".new"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// IsLock says whether a name in a data folder is that of a file of this package:
// it holds nothing that could get lost.
func IsLock(name string) bool {
	return name == lockName || name == infoName || name == infoName+".new" || name == reserveName
}

// Remove removes a folder that holds nothing but an unused lock.
func Remove(dir string) error {
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Remove(dir)
}
