// Package sidefile keeps on the disk what an index in memory was, so that the
// next start need not build it again. A side file is a cache of a cache: it is
// never the truth, may be removed at any time, and is read only if it is, to
// the last bit, what was written.
//
// A file is a header (what it is, of which knowledge base, made by what), the
// body, and a table with the CRC-32C of each block of the body, which with the
// header has a checksum of its own. It is written under a temporary name and
// then renamed. Nothing is synced: what a power cut tears apart is found by its
// checksums and made again, and syncing tens of megabytes would hold up the
// syncs of the records.
package sidefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ragagent/store"
)

// ErrStale says that a side file is sound and was made by something else: other
// settings, or another version of the program.
var ErrStale = errors.New("stale")

// Defaults of Config.
const (
	// DefaultMaxBytes is the default of Config.MaxBytes: 16 GiB.
	DefaultMaxBytes = 16 << 30
	// DefaultKeepFree is the default of Config.KeepFree: 64 MiB.
	DefaultKeepFree = 64 << 20
)

// plenty is the room on a disk that does not tell how much it has.
const plenty = int64(1) << 62

// Config says where side files are.
type Config struct {
	// Dir holds them and nothing else; it is made with the first file.
	Dir string
	// MaxBytes bounds one file's body; 0 means DefaultMaxBytes.
	MaxBytes int64
	// KeepFree is the room on the disk that is left to uploads: a side file that
	// would take of it is not written. 0 means DefaultKeepFree, less than 0 none.
	KeepFree int64
}

// Folder is a folder of side files. All methods may be called concurrently; of
// two writes of one name the later stays.
type Folder struct {
	dir      string
	max      int64
	keepFree int64
}

// New looks at a folder of side files, and removes the unfinished ones that a
// process left which was killed: no other process may be writing. The folder
// need not be there.
func New(cfg Config) (*Folder, error) {
	if cfg.Dir == "" {
		return nil, store.Invalid("dir", "side files need a folder")
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.KeepFree == 0 {
		cfg.KeepFree = DefaultKeepFree
	}
	f := &Folder{dir: cfg.Dir, max: cfg.MaxBytes, keepFree: cfg.KeepFree}
	f.removeUnfinished()
	return f, nil
}

// Name says what a side file is.
type Name struct {
	Kind string // of index: 1..32 letters a-z
	Key  string // of the knowledge base: 1..128 letters, digits and _
}

// Files end with suffix, unfinished ones with unfinished.
const (
	suffix     = ".side"
	unfinished = ".tmp"
)

// check keeps names from leading elsewhere.
func (n Name) check() error {
	if !consists(n.Kind, 32, func(c byte) bool { return 'a' <= c && c <= 'z' }) {
		return store.Invalid("kind", "%q is no kind of side file", n.Kind)
	}
	word := func(c byte) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
	}
	if !consists(n.Key, 128, word) {
		return store.Invalid("key", "%q cannot name a side file", n.Key)
	}
	return nil
}

func consists(s string, most int, of func(byte) bool) bool {
	for i := range len(s) {
		if !of(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= most
}

// File is the name of the file in the folder.
func (n Name) File() string { return n.Kind + "-" + n.Key + suffix }

// nameOf is the inverse of Name.File.
func nameOf(file string) (Name, bool) {
	base, ok := strings.CutSuffix(file, suffix)
	kind, key, cut := strings.Cut(base, "-")
	n := Name{kind, key}
	return n, ok && cut && n.check() == nil
}

// List returns the names of all side files, and what else lies in the folder.
// No folder is an empty one.
func (f *Folder) List() (names []Name, strays []string, err error) {
	entries, err := f.entries()
	for _, e := range entries {
		name, ok := nameOf(e.Name())
		switch {
		case ok && e.Type().IsRegular():
			names = append(names, name)
		case strings.HasSuffix(e.Name(), unfinished) && e.Type().IsRegular():
		default:
			strays = append(strays, e.Name())
		}
	}
	return names, strays, err
}

func (f *Folder) entries() ([]fs.DirEntry, error) {
	switch err := f.real(); {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, fmt.Errorf("list side files: %w", err)
	}
	return entries, nil
}

// real is ErrNotFound if the folder is not there, and ErrDamaged if something
// else is: what lies behind a symbolic link is not ours to write to.
func (f *Folder) real() error {
	info, err := os.Lstat(f.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("side files: %w", store.ErrNotFound)
	case err != nil:
		return fmt.Errorf("side files: %w", err)
	case !info.IsDir():
		return fmt.Errorf("side files: %w: %s is no folder", store.ErrDamaged, f.dir)
	}
	return nil
}

// removeUnfinished removes what it can. What is wrong with the folder, Read and
// Write say: it must not keep anybody from starting.
func (f *Folder) removeUnfinished() {
	entries, _ := f.entries()
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), unfinished) && e.Type().IsRegular() {
			_ = remove(filepath.Join(f.dir, e.Name()))
		}
	}
}

// Remove removes a side file, or what has taken its place; none is no error.
func (f *Folder) Remove(kind, key string) error {
	name := Name{kind, key}
	if err := name.check(); err != nil {
		return err
	}
	if err := f.real(); err != nil {
		return ignoring(err, store.ErrNotFound)
	}
	return remove(filepath.Join(f.dir, name.File()))
}

// Clear removes every side file for which keep is false; nil keeps none. What
// is no side file stays.
func (f *Folder) Clear(keep func(Name) bool) error {
	names, _, err := f.List()
	for _, n := range names {
		if keep == nil || !keep(n) {
			err = errors.Join(err, remove(filepath.Join(f.dir, n.File())))
		}
	}
	return err
}

func remove(path string) error { return ignoring(os.Remove(path), fs.ErrNotExist) }

func ignoring(err, ignored error) error {
	if errors.Is(err, ignored) {
		return nil
	}
	return err
}

// Write makes a side file of what write writes, in the place of an older one.
// After an error the older one is still there and nothing else. store.ErrFull
// if the disk has no room, store.ErrTooLarge beyond the ceiling.
func (f *Folder) Write(ctx context.Context, kind, key, stamp string, write func(io.Writer) error) (err error) {
	name := Name{kind, key}
	if err := name.check(); err != nil {
		return err
	}
	head, err := header(name, stamp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write side file %s: %w", name.File(), err)
			if store.IsFull(err) && !errors.Is(err, store.ErrFull) {
				err = fmt.Errorf("%w: %w", store.ErrFull, err)
			}
		}
	}()
	if err := os.Mkdir(f.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := f.real(); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(f.dir, name.File()+".*"+unfinished) // 0600
	if err != nil {
		return err
	}
	err = errors.Join(f.fill(ctx, tmp, head, write), tmp.Close())
	if err == nil {
		err = f.place(tmp.Name(), filepath.Join(f.dir, name.File()))
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// fill writes a whole file.
func (f *Folder) fill(ctx context.Context, tmp *os.File, head []byte, write func(io.Writer) error) error {
	if _, err := tmp.Write(head); err != nil {
		return err
	}
	body := &blockWriter{ctx: ctx, to: tmp, max: f.max, room: f.room}
	if err := write(body); err != nil {
		return err
	}
	if err := body.flush(); err != nil {
		return err
	}
	_, err := tmp.Write(trailer(head, body.sums, body.written))
	return err
}

// room is ErrFull if the next block would take of what is left to uploads.
func (f *Folder) room() error {
	if left := Free(f.dir); left-block < f.keepFree {
		return fmt.Errorf("%w: %d bytes are free, and %d are kept for uploads", store.ErrFull, left, f.keepFree)
	}
	return nil
}

// place renames a finished file. A link or an empty folder that has taken its
// place gives way.
func (f *Folder) place(from, to string) error {
	if info, err := os.Lstat(to); err == nil && info.IsDir() {
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	return os.Rename(from, to)
}
