package archive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"
)

// walker is the state of one walk over an archive and those nested in it.
type walker struct {
	ctx    context.Context
	limits Limits
	yield  func(Entry, error) bool
	seen   map[pathKey]struct{}

	entries  int
	unpacked int64 // bytes of entries
	streamed int64 // bytes of compressed tar files, with what is skipped
	fatal    error // ends the whole walk
	buffers  []*bufio.Reader
}

// pathKey stands for a path, so that 100,000 long ones take little memory.
type pathKey [16]byte

// file is an entry as an archive's directory describes it.
type file struct {
	name    string // decoded, not yet clean
	size    int64
	packed  int64 // compressed bytes; 0 where they cannot be told apart
	modTime time.Time
	refused error // by its kind: a link, encrypted, ...
	open    func() (io.Reader, error)
}

// count counts an entry of any kind.
func (w *walker) count() error {
	w.entries++
	if w.entries > w.limits.Entries {
		return tooMany(w.limits.Entries)
	}
	return w.ctx.Err()
}

func tooMany(limit int) error { return fmt.Errorf("%w: more than %d entries", ErrLimit, limit) }

// expect refuses an archive that says of itself that it has too many entries,
// before the first is told.
func (w *walker) expect(entries uint64) error {
	if entries > uint64(w.limits.Entries-w.entries) {
		return tooMany(w.limits.Entries)
	}
	return nil
}

// file tells one file, or walks it if it is an archive itself. An error ends
// the walk of this archive.
func (w *walker) file(f file, at level) error {
	path, err := cleanPath(f.name)
	e := Entry{Path: at.prefix + path, Size: f.size, ModTime: f.modTime}
	if err == nil {
		err = w.admit(path, e, f)
	}
	if err != nil {
		return w.refuse(e, err)
	}
	src, err := f.open()
	if err != nil {
		if w.ends(err) {
			return err
		}
		return w.refuse(e, err)
	}
	unpacked := w.buffer(at.depth, &entryReader{w: w, src: src, packed: f.packed})
	head, _ := unpacked.Peek(headBytes) // its error comes again with the last byte
	if _, ok := Detect(head); ok {
		err = w.nested(e, unpacked, at)
	} else {
		err = w.show(e, unpacked)
	}
	if w.fatal != nil {
		return w.fatal
	}
	return err
}

// buffer returns the one buffer of a depth: one entry of each is open at a time.
func (w *walker) buffer(depth int, r io.Reader) *bufio.Reader {
	for len(w.buffers) <= depth {
		w.buffers = append(w.buffers, bufio.NewReaderSize(nil, headBytes))
	}
	w.buffers[depth].Reset(r)
	return w.buffers[depth]
}

// admit decides whether an entry with a clean path is read.
func (w *walker) admit(path string, e Entry, f file) error {
	switch depth := elements(path); {
	case isJunk(path):
		return ErrJunk
	case f.refused != nil:
		return f.refused
	case len(e.Path) > w.limits.PathBytes:
		return fmt.Errorf("%w: longer than %d bytes", ErrPath, w.limits.PathBytes)
	case depth > w.limits.PathDepth:
		return fmt.Errorf("%w: deeper than %d folders", ErrPath, w.limits.PathDepth)
	case f.size > w.limits.EntryBytes:
		return tooLarge(w.limits.EntryBytes)
	}
	sum := sha256.Sum256([]byte(e.Path))
	key := pathKey(sum[:16])
	if _, twice := w.seen[key]; twice {
		return ErrDuplicate
	}
	w.seen[key] = struct{}{}
	return nil
}

func tooLarge(limit int64) error {
	return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
}

// refuse tells an entry that is not read.
func (w *walker) refuse(e Entry, why error) error {
	e.Refused = why
	if len(e.Path) > w.limits.PathBytes {
		e.Path = cut(e.Path, w.limits.PathBytes)
	}
	return w.tell(e)
}

func (w *walker) tell(e Entry) error {
	if !w.yield(e, nil) {
		return errStopped
	}
	return nil
}

// show tells an entry with its content.
func (w *walker) show(e Entry, content io.Reader) error {
	b := &body{w: w, r: content}
	defer b.close()
	e.Body = b
	return w.tell(e)
}

// body is what a caller reads an entry from, while it is its turn.
type body struct {
	w *walker
	r io.Reader
}

var errGone = errors.New("archive: an entry is read after its turn")

func (b *body) close() { b.r = nil }

func (b *body) Read(p []byte) (int, error) {
	if b.r == nil {
		return 0, errGone
	}
	if err := b.w.ctx.Err(); err != nil {
		return 0, err
	}
	return b.r.Read(p)
}

// ends tells errors that end the whole walk from those that concern an entry or
// one nested archive.
func (w *walker) ends(err error) bool {
	for _, local := range []error{ErrDamaged, ErrBomb, ErrTooLarge, ErrMethod, ErrEncrypted, ErrUnknown} {
		if errors.Is(err, local) {
			return false
		}
	}
	return err != nil
}

// entryReader bounds the content of one entry while it is unpacked.
type entryReader struct {
	w      *walker
	src    io.Reader
	packed int64
	out    int64
	err    error
}

func (r *entryReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.src.Read(p)
	r.out += int64(n)
	r.w.unpacked += int64(n)
	limits := r.w.limits
	switch {
	case r.w.unpacked > limits.TotalBytes:
		err = fmt.Errorf("%w: unpacks to more than %d bytes", ErrLimit, limits.TotalBytes)
	case r.out > limits.EntryBytes:
		err = tooLarge(limits.EntryBytes)
	case r.packed > 0 && bloated(r.out, r.packed, limits.Ratio):
		err = ErrBomb
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
		if r.w.ends(err) {
			r.w.fatal = err
		}
	}
	return n, err
}

// bloated says that out bytes are more than in bytes may unpack to.
func bloated(out, in, ratio int64) bool {
	return out > ratioSlack && (out-ratioSlack)/ratio >= in
}
