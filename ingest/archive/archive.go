// Package archive walks the files in a zip, tar, tar.gz or tar.bz2 that nobody
// trusts: nothing is written but a temporary copy of one nested archive at a
// time, no path leads out, and every number is bounded.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// Why an entry is not read, or a walk ends. Their texts are written for users;
// what an Entry or a walk tells wraps one of them.
var (
	// ErrJunk is about files nobody means to add: folders of version control,
	// leavings of file managers.
	ErrJunk = errors.New("left out: housekeeping of another program")
	// ErrPath is about a name that leads out of the archive, or is none.
	ErrPath = errors.New("refused: the path is not a plain one inside the archive")
	// ErrSpecial is about links, devices, pipes and sockets.
	ErrSpecial = errors.New("refused: not a regular file")
	// ErrEncrypted is about an entry that needs a password.
	ErrEncrypted = errors.New("protected by a password: remove the password and upload it again")
	// ErrDuplicate is about a path that came before: the first one counts.
	ErrDuplicate = errors.New("left out: the archive has this path twice")
	// ErrMethod is about a way of compressing that we do not know.
	ErrMethod = errors.New("the compression method is not supported: use deflate")
	// ErrTooLarge is about an entry that passes Limits.EntryBytes.
	ErrTooLarge = errors.New("refused: too large")
	// ErrNesting is about archives in archives in archives.
	ErrNesting = errors.New("refused: archives are nested too deep")
	// ErrBomb is about data made to grow without end when it is unpacked.
	ErrBomb = errors.New("refused: unpacks to far more than its size")
	// ErrDamaged says that the archive or the entry is not what it claims.
	ErrDamaged = errors.New("the archive is damaged")
	// ErrLimit ends a walk: the archive has more entries, or unpacks to more
	// bytes in all, than Limits allow.
	ErrLimit = errors.New("the archive passes the limits")
	// ErrUnknown says that the file is no archive that we walk.
	ErrUnknown = errors.New("not an archive")
)

// Limits bound a walk. Zero values stand for the defaults.
type Limits struct {
	Entries    int   // entries of any kind, in nested archives too; 100,000
	EntryBytes int64 // one entry, unpacked; 512 MiB
	// TotalBytes bounds everything unpacked, in nested archives again; 4 GiB.
	TotalBytes int64
	// Ratio of unpacked to packed bytes; 200. What unpacks to less than 10 MiB
	// is not held to it: there, a high ratio is common and harmless.
	Ratio     int64
	PathBytes int // of a path, with those of the archives around it; 1,024
	PathDepth int // elements of a path; 32
	// Nesting is how many archives may lie one in the other below the first;
	// 2. Negative: nested archives are refused.
	Nesting int
	// TempDir takes the copy of a nested archive, at most EntryBytes per level
	// of nesting; "" is the system's.
	TempDir string
}

// ratioSlack is how much may be unpacked before Limits.Ratio counts.
const ratioSlack = 10 << 20

func (l Limits) withDefaults() Limits {
	l.Entries = orDefault(l.Entries, 100_000)
	l.EntryBytes = orDefault(l.EntryBytes, 512<<20)
	l.TotalBytes = orDefault(l.TotalBytes, 4<<30)
	l.Ratio = orDefault(l.Ratio, 200)
	l.PathBytes = orDefault(l.PathBytes, 1024)
	l.PathDepth = orDefault(l.PathDepth, 32)
	if l.Nesting == 0 {
		l.Nesting = 2
	}
	return l
}

func orDefault[T int | int64](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Entry is one file of an archive.
type Entry struct {
	// Path is relative, slash-separated, valid UTF-8 in NFC, without control
	// characters, "." or ".." elements. In a nested archive it begins with
	// that archive's path: "reports/2024.zip/q1/summary.md". For an entry that
	// is refused for its path, it is what can be shown of the name.
	Path    string
	Size    int64     // as the archive claims, in bytes unpacked; Body may end otherwise
	ModTime time.Time // zero where the archive has none
	// Body is the content, nil where Refused is set. It can be read once, until
	// the walk goes on, and need not be read. It ends with an error that wraps
	// one of this package's where the content turns out to be damaged or to
	// pass a limit: that entry is lost, and unless the walk itself then ends
	// with an error, only that one.
	Body io.Reader
	// Refused says why the entry is not read; it wraps one of this package's
	// errors.
	Refused error
}

// Walk goes through the files of the archive r of size bytes, in the archive's
// order, those of nested archives in the place of the archive. Folders are not
// told; what is skipped or refused is, with its reason. Documents that are zip
// files by construction (DOCX, EPUB, JAR...) are files, not archives.
//
// An error is told last, with a zero Entry: ErrUnknown, ErrDamaged after what
// could be read, ErrBomb, ErrLimit, ctx's error, or one of r or of the
// temporary folder. A nested archive that ends in one of the first three is a
// refused entry under its path instead.
//
// Memory is bounded by the limits: some 50 bytes per entry and 1 MiB. r is read
// by one goroutine at a time and not after the walk.
func Walk(ctx context.Context, r io.ReaderAt, size int64, limits Limits) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := &walker{ctx: ctx, limits: limits.withDefaults(), yield: yield, seen: map[pathKey]struct{}{}}
		kind, ok := IsArchive(r, size)
		if !ok {
			yield(Entry{}, ErrUnknown)
			return
		}
		err := w.archive(r, size, kind, level{})
		if err == nil {
			err = w.fatal
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Entry{}, err)
		}
	}
}

// errStopped unwinds a walk whose caller has had enough.
var errStopped = errors.New("stopped")

// level is a place in the nesting of archives.
type level struct {
	prefix string // path of the archive and a slash; "" for the first
	depth  int    // archives around this one
}

// archive walks one archive.
func (w *walker) archive(r io.ReaderAt, size int64, kind Kind, at level) error {
	r = contextReader{w.ctx, r}
	switch kind {
	case Zip:
		return w.zip(r, size, at)
	case Tar, TarGzip, TarBzip2:
		return w.tar(r, size, kind, at)
	}
	return fmt.Errorf("%w: %q", ErrUnknown, kind)
}

// contextReader ends a walk whose caller has gone away, however little the
// archive yields.
type contextReader struct {
	ctx context.Context
	r   io.ReaderAt
}

func (c contextReader) ReadAt(p []byte, off int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.ReadAt(p, off)
}
