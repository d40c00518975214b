package archive

import (
	"archive/tar"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// tar walks a tar file, compressed or not.
func (w *walker) tar(r io.ReaderAt, size int64, kind Kind, at level) error {
	stream, err := w.tarStream(r, size, kind)
	if err != nil {
		return err
	}
	entries := tar.NewReader(stream)
	for {
		h, err := entries.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return w.tarError(err)
		}
		if err := w.count(); err != nil {
			return err
		}
		f, ok := tarFile(h)
		if !ok {
			continue
		}
		f.open = func() (io.Reader, error) { return tarBody{w, entries}, nil }
		if err := w.file(f, at); err != nil {
			return err
		}
	}
}

// tarFile says what the walk has to know of an entry; ok is false for folders
// and headers that are about others.
func tarFile(h *tar.Header) (f file, ok bool) {
	f = file{name: decodeTar(h.Name), size: h.Size, modTime: tarTime(h.ModTime)}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont:
		if isSparse(h) {
			f.refused = errSparse
		}
	case tar.TypeGNUSparse:
		f.refused = errSparse
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return file{}, false
	case tar.TypeLink, tar.TypeSymlink:
		f.refused = fmt.Errorf("%w: a link", ErrSpecial)
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		f.refused = fmt.Errorf("%w: a device or pipe", ErrSpecial)
	default:
		f.refused = fmt.Errorf("%w: of type %q", ErrSpecial, string(rune(h.Typeflag)))
	}
	return f, true
}

// errSparse is about files with holes: a kilobyte of tar is a terabyte of zeros,
// and no document has any.
var errSparse = fmt.Errorf("%w: a sparse file", ErrSpecial)

func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// tarTime takes the zero of the format for what it is.
func tarTime(t time.Time) time.Time {
	if t.Unix() == 0 {
		return time.Time{}
	}
	return t.UTC()
}

// tarStream unpacks the compression around a tar file.
func (w *walker) tarStream(r io.ReaderAt, size int64, kind Kind) (io.Reader, error) {
	file := io.NewSectionReader(r, 0, size)
	if kind == Tar {
		return file, nil
	}
	in := &countingReader{r: file}
	packed := bufio.NewReaderSize(in, 32<<10)
	out := &streamReader{w: w, in: in, src: bzip2.NewReader(packed)}
	if kind == TarGzip {
		unzip, err := gzip.NewReader(packed)
		if err != nil {
			return nil, w.tarError(err)
		}
		out.src = unzip
	}
	return out, nil
}

// tarBody is the content of the current entry.
type tarBody struct {
	w *walker
	r io.Reader
}

func (b tarBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.w.tarError(err)
	}
	return n, err
}

// tarError tells what the file's bytes are to blame for from the rest.
func (w *walker) tarError(err error) error {
	var corrupt bzip2.StructuralError
	switch {
	case damage(err), errors.Is(err, tar.ErrHeader), errors.Is(err, tar.ErrFieldTooLong),
		errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// countingReader counts the compressed bytes.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// streamReader bounds what comes out of a compressed tar file, whether it is
// read or skipped.
type streamReader struct {
	w   *walker
	in  *countingReader
	src io.Reader
	out int64
}

func (s *streamReader) Read(p []byte) (int, error) {
	n, err := s.src.Read(p)
	s.out += int64(n)
	s.w.streamed += int64(n)
	switch limits := s.w.limits; {
	case bloated(s.out, s.in.n, limits.Ratio):
		return n, ErrBomb
	case s.w.streamed > limits.TotalBytes:
		return n, fmt.Errorf("%w: unpacks to more than %d bytes", ErrLimit, limits.TotalBytes)
	}
	return n, err
}
