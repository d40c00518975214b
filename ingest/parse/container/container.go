// Package container opens zip files that hold one document, as those of Word,
// OpenDocument and EPUB do. What an entry says about itself is not believed:
// entries, their bytes and the ratio they unpack with are bounded, and no name
// is ever used as a path of the system.
package container

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"ragagent/ingest/parse/doc"
)

// Bounds of one container.
const (
	MaxEntries   = 50_000
	MaxUnpacked  = 4 << 30  // bytes of all entries together
	maxDirectory = 16 << 20 // bytes of the list of entries
	// XML of spreadsheets unpacks to a hundred times its size at times; what
	// goes beyond this ratio, after its first freeBytes, is no document.
	maxRatio  = 400
	freeBytes = 32 << 20
)

// Container is an open file. It is not safe for concurrent use.
type Container struct {
	names   []string
	entries map[string]*zip.File // by name as key makes it
	left    int64                // bytes that may still be unpacked
}

// Open reads the list of entries. ErrDamaged if it cannot be read, ErrLimit if
// it is too long.
func Open(r io.ReaderAt, size int64) (*Container, error) {
	// The library reads on as long as there are entries, whatever their number
	// is said to be: what it may read is bounded meanwhile.
	bounded := &gauge{r: r, left: maxDirectory}
	z, err := zip.NewReader(bounded, size)
	switch {
	case bounded.left < 0 || err == nil && len(z.File) > MaxEntries:
		return nil, errEntries
	case err != nil && !errors.Is(err, zip.ErrInsecurePath):
		return nil, fmt.Errorf("%w: its list of contents cannot be read; the file may be cut off", doc.ErrDamaged)
	}
	bounded.left = math.MaxInt64
	c := &Container{entries: make(map[string]*zip.File, len(z.File)), left: MaxUnpacked}
	for _, f := range z.File {
		name := key(f.Name)
		if _, ok := c.entries[name]; ok || strings.HasSuffix(f.Name, "/") {
			continue // of two with one name the first counts
		}
		c.entries[name] = f
		c.names = append(c.names, strings.TrimPrefix(f.Name, "/"))
	}
	return c, nil
}

var errEntries = fmt.Errorf("%w: it holds more than %d files", doc.ErrLimit, MaxEntries)

// key makes names comparable: those of office files differ in case at times,
// and some programs write backslashes.
func key(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

// Names returns the names of the entries in the order of the file.
func (c *Container) Names() []string { return c.names }

// Has says whether there is an entry of that name, in whatever case.
func (c *Container) Has(name string) bool {
	_, ok := c.entries[key(name)]
	return ok
}

// ErrMissing says that there is no entry of the name asked for.
var ErrMissing = fmt.Errorf("%w: a part of it is missing", doc.ErrDamaged)

// Open opens the entry of that name. Reading it ends with ErrLimit when the
// bounds of the container are passed, and with ErrDamaged where it cannot be
// unpacked. ErrMissing if there is none, ErrEncrypted if it has a password.
func (c *Container) Open(name string) (io.ReadCloser, error) {
	f, ok := c.entries[key(name)]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w (%s)", ErrMissing, shown(name))
	case f.Flags&1 != 0:
		return nil, doc.ErrEncrypted
	}
	unpacked, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: its part %s cannot be unpacked", doc.ErrDamaged, shown(name))
	}
	return &entry{c: c, unpacked: unpacked, packed: int64(min(f.CompressedSize64, MaxUnpacked)), name: name}, nil
}

// ReadAll returns the bytes of an entry, ErrLimit if they are more than limit.
func (c *Container) ReadAll(name string, limit int64) ([]byte, error) {
	r, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%w: its part %s has more than %d bytes", doc.ErrLimit, shown(name), limit)
	}
	return data, err
}

// shown bounds a name that is told to the user.
func shown(name string) string { return strings.ToValidUTF8(name[:min(len(name), 100)], "") }

// entry reads one entry within the bounds.
type entry struct {
	c        *Container
	unpacked io.ReadCloser
	packed   int64
	read     int64
	name     string
}

func (e *entry) Read(p []byte) (int, error) {
	n, err := e.unpacked.Read(p)
	e.read += int64(n)
	e.c.left -= int64(n)
	switch {
	case e.c.left < 0:
		return 0, fmt.Errorf("%w: it unpacks to more than %d GB", doc.ErrLimit, int64(MaxUnpacked)>>30)
	case e.read > freeBytes && e.read/maxRatio > e.packed:
		return 0, fmt.Errorf("%w: its part %s unpacks to more than %d times its size", doc.ErrLimit, shown(e.name), maxRatio)
	case errors.Is(err, zip.ErrChecksum):
		return n, io.EOF // it was unpacked to its end: what is wrong shows in it
	case err != nil && !errors.Is(err, io.EOF):
		return n, fmt.Errorf("%w: its part %s cannot be unpacked", doc.ErrDamaged, shown(e.name))
	}
	return n, err
}

func (e *entry) Close() error { return e.unpacked.Close() }

// gauge passes reads on until their budget is used up.
type gauge struct {
	r    io.ReaderAt
	left int64 // negative when it was not enough
}

func (g *gauge) ReadAt(p []byte, off int64) (int, error) {
	if g.left -= int64(len(p)); g.left < 0 {
		return 0, errEntries
	}
	return g.r.ReadAt(p, off)
}
