package archive

import (
	"bufio"
	"compress/bzip2"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"
)

const (
	methodStore   = 0
	methodDeflate = 8
	methodBzip2   = 12
)

// zip walks a zip file in the order of its directory.
func (w *walker) zip(r io.ReaderAt, size int64, at level) error {
	dir, err := openZip(r, size)
	if errors.Is(err, ErrDamaged) {
		return w.salvage(r, size, at, err)
	}
	if err != nil {
		return err
	}
	if err := w.expect(dir.entries); err != nil {
		return err
	}
	z := &zipReader{w: w, r: r}
	if err := z.findBounds(dir); err != nil {
		return err
	}
	return dir.each(func(h zipHeader) error {
		if err := w.count(); err != nil {
			return err
		}
		if h.mode.IsDir() {
			return nil
		}
		return w.file(z.file(h), at)
	})
}

// zipReader unpacks entries of one zip file.
type zipReader struct {
	w        *walker
	r        io.ReaderAt
	bounds   []int64 // where entries and the directory begin, ascending
	inflater io.ReadCloser
	in       *bufio.Reader
}

// findBounds looks at where entries lie, before the first is unpacked: those
// that lie in one another are how a small file becomes petabytes (Fifield 2019,
// "A better zip bomb"). It stops where the walk will.
func (z *zipReader) findBounds(dir *zipDirectory) error {
	z.bounds = append(z.bounds, dir.start)
	err := dir.each(func(h zipHeader) error {
		if z.w.entries+len(z.bounds) > z.w.limits.Entries+1 {
			return errStopped
		}
		z.bounds = append(z.bounds, h.offset)
		return nil
	})
	slices.Sort(z.bounds)
	if errors.Is(err, errStopped) || errors.Is(err, ErrDamaged) { // the walk meets it in its place
		return nil
	}
	return err
}

// file says what the walk has to know of an entry.
func (z *zipReader) file(h zipHeader) file {
	f := file{name: h.name, size: h.size, packed: max(h.packed, 1), modTime: h.modTime}
	switch {
	case h.mode&fs.ModeSymlink != 0:
		f.refused = fmt.Errorf("%w: a link", ErrSpecial)
	case h.mode&fs.ModeIrregular != 0:
		f.refused = fmt.Errorf("%w: a device or pipe", ErrSpecial)
	case h.flags&(flagEncrypted|flagStrong) != 0:
		f.refused = ErrEncrypted
	case h.method != methodStore && h.method != methodDeflate && h.method != methodBzip2:
		f.refused = fmt.Errorf("%w, this is number %d", ErrMethod, h.method)
	}
	f.open = func() (io.Reader, error) { return z.open(h) }
	return f
}

// open begins to unpack an entry.
func (z *zipReader) open(h zipHeader) (io.Reader, error) {
	local, err := readLocal(z.r, h.offset, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if err := z.checkBounds(h.offset, local.data+h.packed); err != nil {
		return nil, err
	}
	return z.unpack(h, local.data), nil
}

// checkBounds refuses an entry that reaches into the next one.
func (z *zipReader) checkBounds(from, to int64) error {
	at, _ := slices.BinarySearch(z.bounds, from)
	if at+1 >= len(z.bounds) || z.bounds[at] != from {
		return zipDamage("a file lies behind its list of files")
	}
	if next := z.bounds[at+1]; to > next {
		return fmt.Errorf("%w: it overlaps another file", ErrBomb)
	}
	return nil
}

// unpack returns the content of an entry whose data begin at off.
func (z *zipReader) unpack(h zipHeader, off int64) io.Reader {
	section := io.NewSectionReader(z.r, off, h.packed)
	check := &checkReader{src: section, size: h.size, crc: h.crc}
	switch h.method {
	case methodDeflate:
		check.src = z.inflate(section)
	case methodBzip2:
		check.src = bzip2.NewReader(section)
	}
	return check
}

// inflate uses one inflater for all entries: each has 40 kB of tables.
func (z *zipReader) inflate(r io.Reader) io.Reader {
	if z.inflater == nil {
		z.in = bufio.NewReaderSize(r, 16<<10)
		z.inflater = flate.NewReader(z.in)
		return z.inflater
	}
	z.in.Reset(r)
	_ = z.inflater.(flate.Resetter).Reset(z.in, nil) // never fails
	return z.inflater
}

// checkReader holds an entry to the size and the sum that the directory gives.
type checkReader struct {
	src  io.Reader
	size int64
	crc  uint32
	n    int64
	sum  uint32
}

func (c *checkReader) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.n += int64(n)
	c.sum = crc32.Update(c.sum, crc32.IEEETable, p[:n])
	switch {
	case c.n > c.size:
		return n, zipDamage("a file is larger than it says")
	case err == io.EOF && c.n < c.size:
		return n, zipDamage("a file is smaller than it says")
	case err == io.EOF && c.sum != c.crc:
		return n, zipDamage("the checksum of a file is wrong")
	case err != nil && damage(err):
		return n, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return n, err
}

// damage says that a decompressor met bytes that it could not have written.
func damage(err error) bool {
	var corrupt flate.CorruptInputError
	var structural bzip2.StructuralError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) || errors.As(err, &structural)
}
