package archive

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

// The directory is read here and not with the standard library, which takes it
// into memory as a whole before the first entry can be looked at: a million
// entries are then hundreds of megabytes, whatever the limits say.
//
// Source: APPNOTE.TXT 6.3.10, PKWARE; sections 4.3 and 4.5.

const (
	localSignature     = "PK\x03\x04"
	directorySignature = "PK\x01\x02"
	endSignature       = "PK\x05\x06"
	end64Signature     = "PK\x06\x06"
	locatorSignature   = "PK\x06\x07"

	localBytes     = 30
	directoryBytes = 46
	endBytes       = 22
	end64Bytes     = 56
	locatorBytes   = 20
)

// zipDirectory is the list of entries at the end of a zip file.
type zipDirectory struct {
	r          io.ReaderAt
	start, end int64  // of the list in the file
	base       int64  // what the offsets in it count from
	entries    uint64 // as the end record says, modulo 65,536 if !zip64
	zip64      bool
}

// zipHeader is an entry as the directory has it.
type zipHeader struct {
	name         string // decoded
	flags        uint16
	method       uint16
	crc          uint32
	packed, size int64
	offset       int64 // of the local header, in the file
	modTime      time.Time
	mode         fs.FileMode
}

func zipDamage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// openZip finds the directory. ErrDamaged where there is none.
func openZip(r io.ReaderAt, size int64) (*zipDirectory, error) {
	tail := make([]byte, min(size, endBytes+0xffff))
	if err := readFull(r, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	at := findEnd(tail)
	if at < 0 {
		return nil, zipDamage("its list of files is missing")
	}
	record := tail[at:]
	d := &zipDirectory{r: r, end: size - int64(len(tail)-at), entries: uint64(le16(record[10:]))}
	length, offset := uint64(le32(record[12:])), uint64(le32(record[16:]))
	if d.entries == 0xffff || length == 0xffffffff || offset == 0xffffffff {
		if err := d.readEnd64(&length, &offset); err != nil {
			return nil, err
		}
	}
	if length > uint64(d.end) || offset > uint64(d.end) {
		return nil, zipDamage("its list of files lies outside it")
	}
	d.start = d.end - int64(length)
	d.base = d.start - int64(offset)
	if d.base != 0 && d.signedAt(int64(offset)) { // something stands between list and end
		d.start, d.base = int64(offset), 0
	}
	if d.base < 0 || d.entries > 0 && !d.signedAt(d.start) {
		return nil, zipDamage("its list of files is not where it should be")
	}
	return d, nil
}

// findEnd returns the place of the end record, -1 if there is none.
func findEnd(tail []byte) int {
	for at := len(tail) - endBytes; at >= 0; at-- {
		if string(tail[at:at+4]) == endSignature && at+endBytes+int(le16(tail[at+20:])) <= len(tail) {
			return at
		}
	}
	return -1
}

// readEnd64 reads the end record of large archives, if there is one.
func (d *zipDirectory) readEnd64(length, offset *uint64) error {
	var locator [locatorBytes]byte
	if d.end < locatorBytes+end64Bytes {
		return nil
	}
	if err := readFull(d.r, locator[:], d.end-locatorBytes); err != nil {
		return err
	}
	if string(locator[:4]) != locatorSignature {
		return nil
	}
	at := int64(le64(locator[8:]))
	var record [end64Bytes]byte
	if at < 0 || at > d.end-locatorBytes-end64Bytes {
		return zipDamage("its list of files lies outside it")
	}
	if err := readFull(d.r, record[:], at); err != nil {
		return err
	}
	if string(record[:4]) != end64Signature {
		return zipDamage("its list of files is not where it should be")
	}
	d.zip64, d.end = true, at
	d.entries, *length, *offset = le64(record[32:]), le64(record[40:]), le64(record[48:])
	return nil
}

func (d *zipDirectory) signedAt(off int64) bool {
	var sign [4]byte
	return readFull(d.r, sign[:], off) == nil && string(sign[:]) == directorySignature
}

// each reads the directory from its start. It ends with fn's error, or with
// ErrDamaged where the directory does.
func (d *zipDirectory) each(fn func(zipHeader) error) error {
	in := bufio.NewReaderSize(io.NewSectionReader(d.r, d.start, d.end-d.start), 32<<10)
	var fixed [directoryBytes]byte
	variable := make([]byte, 0, 256)
	n := uint64(0)
	for ; ; n++ {
		sign, err := in.Peek(4)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if string(sign) != directorySignature {
			break
		}
		if _, err := io.ReadFull(in, fixed[:]); err != nil {
			return zipDamage("its list of files is cut off")
		}
		names := int(le16(fixed[28:]))
		extra, comment := int(le16(fixed[30:])), int(le16(fixed[32:]))
		variable = append(variable[:0], make([]byte, names+extra)...)
		if _, err := io.ReadFull(in, variable); err != nil {
			return zipDamage("its list of files is cut off")
		}
		if _, err := in.Discard(comment); err != nil {
			return zipDamage("its list of files is cut off")
		}
		h, err := d.header(fixed[:], string(variable[:names]), variable[names:])
		if err != nil {
			return err
		}
		if err := fn(h); err != nil {
			return err
		}
	}
	if n != d.entries && (d.zip64 || n&0xffff != d.entries) {
		return zipDamage("it lists %d files and has %d", d.entries, n)
	}
	return nil
}

// header decodes one entry of the directory.
func (d *zipDirectory) header(fixed []byte, name string, extra []byte) (zipHeader, error) {
	h := zipHeader{
		flags:   le16(fixed[8:]),
		method:  le16(fixed[10:]),
		crc:     le32(fixed[16:]),
		modTime: dosTime(le16(fixed[14:]), le16(fixed[12:])),
		mode:    externalMode(fixed[5], le32(fixed[38:])),
	}
	packed, size, offset := uint64(le32(fixed[20:])), uint64(le32(fixed[24:])), uint64(le32(fixed[42:]))
	eachExtra(extra, func(id uint16, data []byte) {
		switch id {
		case 0x0001: // the fields that did not fit, in this order
			for _, v := range []*uint64{&size, &packed, &offset} {
				if *v == 0xffffffff && len(data) >= 8 {
					*v, data = le64(data), data[8:]
				}
			}
		case 0x5455: // modification time of Unix
			if len(data) >= 5 && data[0]&1 != 0 {
				h.modTime = time.Unix(int64(int32(le32(data[1:]))), 0).UTC()
			}
		case 0x7075: // the name in UTF-8, beside one in a code page
			if len(data) > 5 && data[0] == 1 {
				name = string(data[5:])
			}
		}
	})
	h.name = decodeZip(name, h.flags&flagUTF8 != 0)
	if strings.HasSuffix(h.name, "/") || strings.HasSuffix(h.name, `\`) && size == 0 {
		h.mode |= fs.ModeDir
	}
	if most := uint64(d.end); packed > most || offset > most || size > 1<<62 {
		return h, zipDamage("a file lies outside it")
	}
	h.packed, h.size, h.offset = int64(packed), int64(size), int64(offset)+d.base
	return h, nil
}

const (
	flagEncrypted  = 1 << 0
	flagDescriptor = 1 << 3 // sizes and sum follow the data
	flagStrong     = 1 << 6
	flagUTF8       = 1 << 11
)

// eachExtra goes through the extra fields of a header.
func eachExtra(extra []byte, fn func(id uint16, data []byte)) {
	for len(extra) >= 4 {
		id, n := le16(extra), int(le16(extra[2:]))
		extra = extra[4:]
		if n > len(extra) {
			return
		}
		fn(id, extra[:n])
		extra = extra[n:]
	}
}

// externalMode says what kind of file an entry is, as its maker's system has it.
func externalMode(maker byte, attributes uint32) fs.FileMode {
	const unix, darwin, folder = 3, 19, 0x10
	if maker != unix && maker != darwin {
		if attributes&folder != 0 {
			return fs.ModeDir
		}
		return 0
	}
	switch attributes >> 16 & 0xf000 {
	case 0x4000:
		return fs.ModeDir
	case 0xa000:
		return fs.ModeSymlink
	case 0x1000, 0x2000, 0x6000, 0xc000:
		return fs.ModeIrregular
	}
	return 0
}

// dosTime reads the two fields of a file's time, of no known zone: UTC here.
func dosTime(date, clock uint16) time.Time {
	if date == 0 {
		return time.Time{}
	}
	return time.Date(int(date>>9)+1980, time.Month(date>>5&15), int(date&31),
		int(clock>>11), int(clock>>5&63), int(clock&31)*2, 0, time.UTC)
}

// beginsWith says that an entry's content is stored and begins with want.
func (d *zipDirectory) beginsWith(h zipHeader, want string) bool {
	local, err := readLocal(d.r, h.offset, d.end)
	if err != nil || h.method != methodStore || h.packed < int64(len(want)) {
		return false
	}
	got := make([]byte, len(want))
	return readFull(d.r, got, local.data) == nil && string(got) == want
}

func le16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
