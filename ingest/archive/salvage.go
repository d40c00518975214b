package archive

import (
	"bufio"
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
)

// localHeader stands before an entry's data.
type localHeader struct {
	zipHeader
	data int64 // where the data begin
}

// readLocal reads the header before an entry's data; both lie before end.
func readLocal(r io.ReaderAt, off, end int64) (localHeader, error) {
	var fixed [localBytes]byte
	if off > end-localBytes {
		return localHeader{}, zipDamage("it is cut off")
	}
	if err := readFull(r, fixed[:], off); err != nil {
		return localHeader{}, err
	}
	if string(fixed[:4]) != localSignature {
		return localHeader{}, zipDamage("a file is not where it should be")
	}
	names, extras := int64(le16(fixed[26:])), int64(le16(fixed[28:]))
	h := localHeader{data: off + localBytes + names + extras}
	if h.data > end {
		return h, zipDamage("it is cut off")
	}
	variable := make([]byte, names+extras)
	if err := readFull(r, variable, off+localBytes); err != nil {
		return h, err
	}
	// The same fields as in the directory, in the same order, two bytes earlier.
	var entry [directoryBytes]byte
	copy(entry[6:], fixed[4:localBytes])
	dir := zipDirectory{end: end}
	var err error
	h.zipHeader, err = dir.header(entry[:], string(variable[:names]), variable[names:])
	h.offset = off
	return h, err
}

// readFull reads all of p at off, or ErrDamaged where the file ends before.
func readFull(r io.ReaderAt, p []byte, off int64) error {
	switch n, err := r.ReadAt(p, off); {
	case n == len(p):
		return nil
	case errors.Is(err, io.EOF):
		return zipDamage("it is cut off")
	default:
		return err
	}
}

// salvage reads a zip file whose end is missing, entry by entry from its start,
// and ends with why.
func (w *walker) salvage(r io.ReaderAt, size int64, at level, why error) error {
	z := &zipReader{w: w, r: r}
	for off := int64(0); ; {
		h, err := readLocal(r, off, size)
		if errors.Is(err, ErrDamaged) {
			return why
		}
		if err != nil {
			return err
		}
		if err := w.count(); err != nil {
			return err
		}
		if h.flags&flagDescriptor != 0 && h.packed == 0 {
			if err := z.measure(&h, size); err != nil {
				if w.ends(err) {
					return err
				}
				return why
			}
		}
		f := z.file(h.zipHeader)
		f.open = func() (io.Reader, error) { return z.unpack(h.zipHeader, h.data), nil }
		if !h.mode.IsDir() {
			if err := w.file(f, at); err != nil {
				return err
			}
		}
		off = h.next(r)
	}
}

// measure finds the sizes of an entry that was written without knowing them, by
// unpacking it.
func (z *zipReader) measure(h *localHeader, size int64) error {
	if h.method != methodDeflate || h.flags&flagEncrypted != 0 {
		return zipDamage("the size of a file is missing")
	}
	in := &countingReader{r: io.NewSectionReader(z.r, h.data, size-h.data)}
	packed := bufio.NewReaderSize(in, 16<<10)
	sum := crc32.NewIEEE()
	body := &entryReader{w: z.w, src: flate.NewReader(packed), packed: size - h.data}
	n, err := io.Copy(sum, body)
	if err != nil {
		if damage(err) {
			return zipDamage("a file is cut off")
		}
		return err
	}
	h.packed, h.size, h.crc = in.n-int64(packed.Buffered()), n, sum.Sum32()
	return nil
}

// next returns where the next local header should be.
func (h localHeader) next(r io.ReaderAt) int64 {
	end := h.data + h.packed
	if h.flags&flagDescriptor == 0 {
		return end
	}
	// A descriptor: a signature that may be missing, sum, two sizes of 4 or 8.
	var descriptor [28]byte
	n, _ := r.ReadAt(descriptor[:], end)
	for _, length := range []int{16, 12, 24, 20} {
		if n >= length+4 && string(descriptor[length:length+4]) == localSignature {
			return end + int64(length)
		}
	}
	return end
}
