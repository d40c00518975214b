package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ledongthuc/pdf"
)

// source is a file as the library wants to see it: with a header it knows, and
// possibly with a new table of objects at its end.
type source struct {
	file io.ReaderAt
	base int64 // of the header; what stands before is skipped
	size int64 // without base, up to the last end-of-file mark
	tail []byte
	open bool // there is no end-of-file mark: the file is cut off
}

// header is what the library accepts; versions differ in nothing that matters
// to text.
const header = "%PDF-1.7\n"

// newSource finds where the PDF begins and ends in a file.
func newSource(file io.ReaderAt, size int64) *source {
	s := &source{file: file, size: size}
	head := make([]byte, min(size, 1024))
	n, _ := file.ReadAt(head, 0)
	if i := bytes.Index(head[:n], []byte("%PDF-")); i > 0 {
		s.base, s.size = int64(i), size-int64(i)
	}
	end := make([]byte, min(s.size, 4096))
	n, _ = s.ReadAt(end, s.size-int64(len(end)))
	if i := bytes.LastIndex(end[:n], []byte("%%EOF")); i >= 0 {
		s.size += int64(i + len("%%EOF") - len(end))
	} else {
		s.open = true
	}
	if s.size < 100 { // the library reads the last 100 bytes
		s.tail = bytes.Repeat([]byte(" "), int(100-s.size))
	}
	return s
}

// ReadAt implements io.ReaderAt over header, file and tail.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.size+int64(len(s.tail)) {
		return 0, io.EOF
	}
	n := 0
	if off < s.size {
		m, err := s.file.ReadAt(p[:min(int64(len(p)), s.size-off)], s.base+off)
		if err != nil && !errors.Is(err, io.EOF) {
			return m, err
		}
		if off < int64(len(header)) {
			copy(p[:m], header[off:])
		}
		n = m
	}
	if n < len(p) && off+int64(n) >= s.size {
		n += copy(p[n:], s.tail[off+int64(n)-s.size:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// length is that of all that ReadAt gives.
func (s *source) length() int64 { return s.size + int64(len(s.tail)) }

// entry is where an object is.
type entry struct {
	offset     int64  // of an object of its own
	generation uint16 // of that
	stream     uint32 // else the object stream that holds it
}

// Bounds of a rebuilt table.
const (
	maxObjectID = 2_000_000
	maxObjects  = 500_000
)

// rebuilt makes a source with a new table, from the objects found by reading
// the whole file.
func (s *source) rebuilt() (*source, error) {
	entries := s.scan()
	if len(entries) == 0 {
		return nil, fmt.Errorf("%w: it holds no objects", ErrDamaged)
	}
	trailer := s.trailerEntries()
	all := s.withTable(entries, trailer, objectList(entries))
	streams, err := objectStreams(all)
	if err != nil {
		return nil, err
	}
	for _, held := range streams {
		for _, id := range held.ids {
			if _, ok := entries[id]; !ok && id <= maxObjectID && len(entries) < maxObjects {
				entries[id] = entry{stream: held.stream}
			}
		}
	}
	all = s.withTable(entries, trailer, objectList(entries))
	roots, err := findRoots(all)
	if err != nil {
		return nil, err
	}
	return s.withTable(entries, trailer, roots), nil
}

var objectStart = regexp.MustCompile(`(?:^|[\s>])(\d{1,10})[ \t]+(\d{1,5})[ \t\r\n]+obj\b`)

// scan finds the objects that stand in the file by themselves; of several with
// one number the last counts.
func (s *source) scan() map[uint32]entry {
	entries := map[uint32]entry{}
	const window, overlap = 1 << 20, 64
	buf := make([]byte, window)
	for at := int64(0); at < s.size; at += window - overlap {
		n, _ := s.ReadAt(buf[:min(window, s.size-at)], at)
		for _, m := range objectStart.FindAllSubmatchIndex(buf[:n], -1) {
			id, err := strconv.ParseUint(string(buf[m[2]:m[3]]), 10, 32)
			if err != nil || id == 0 || id > maxObjectID || len(entries) >= maxObjects {
				continue
			}
			generation, err := strconv.ParseUint(string(buf[m[4]:m[5]]), 10, 16)
			if err != nil {
				continue
			}
			entries[uint32(id)] = entry{offset: at + int64(m[2]), generation: uint16(generation)}
		}
	}
	return entries
}

var trailerStart = regexp.MustCompile(`trailer\s*<<`)

// trailerEntries returns what the last trailer says about root, properties and
// encryption, as it stands in the file.
func (s *source) trailerEntries() string {
	buf := make([]byte, min(s.size, 1<<20))
	n, _ := s.ReadAt(buf, s.size-int64(len(buf)))
	starts := trailerStart.FindAllIndex(buf[:n], -1)
	for i := len(starts) - 1; i >= 0; i-- {
		text := buf[starts[i][1]:n]
		if end := bytes.Index(text, []byte("startxref")); end >= 0 {
			text = text[:end]
		}
		if kept := keptEntries(text); kept != "" {
			return kept
		}
	}
	return ""
}

var keptEntry = regexp.MustCompile(`/(Root|Info|Encrypt)\s*\d+\s+\d+\s+R|/ID\s*\[[^\]]*\]`)

func keptEntries(text []byte) string {
	return string(bytes.Join(keptEntry.FindAll(text, -1), []byte(" ")))
}

func sortedIDs(entries map[uint32]entry) []uint32 {
	return slices.Sorted(maps.Keys(entries))
}

// objectList names all objects in an entry of the trailer, where the library
// lets us look at each.
func objectList(entries map[uint32]entry) string {
	var out bytes.Buffer
	out.WriteString("/RagagentObjects [")
	for _, id := range sortedIDs(entries) {
		fmt.Fprintf(&out, "%d %d R ", id, entries[id].generation)
	}
	out.WriteString("]")
	return out.String()
}

// withTable returns the source with a cross-reference stream behind it.
func (s *source) withTable(entries map[uint32]entry, trailer, more string) *source {
	ids := sortedIDs(entries)
	size := ids[len(ids)-1] + 2
	var data bytes.Buffer
	for id := uint32(0); id < size; id++ {
		e, ok := entries[id]
		switch {
		case !ok:
			data.Write(make([]byte, 8))
		case e.stream > 0:
			data.Write([]byte{2, 0, byte(e.stream >> 24), byte(e.stream >> 16), byte(e.stream >> 8), byte(e.stream), 0, 0})
		default:
			o := e.offset
			data.Write([]byte{1, byte(o >> 32), byte(o >> 24), byte(o >> 16), byte(o >> 8), byte(o), byte(e.generation >> 8), byte(e.generation)})
		}
	}
	var tail bytes.Buffer
	tail.WriteString("\n")
	fmt.Fprintf(&tail, "%d 0 obj\n<</Type /XRef /W [1 5 2] /Size %d /Length %d %s %s>>\nstream\n", size-1, size, data.Len(), trailer, more)
	tail.Write(data.Bytes())
	fmt.Fprintf(&tail, "\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n", s.size+1)
	return &source{file: s.file, base: s.base, size: s.size, tail: tail.Bytes()}
}

// heldObjects are the objects in one object stream.
type heldObjects struct {
	stream uint32
	ids    []uint32
}

// eachObject opens a source made by withTable and calls do for each object it
// lists; one that cannot be read is left out.
func eachObject(s *source, do func(ref string, v pdf.Value)) error {
	reader, err := pdf.NewReader(s, s.length())
	if err != nil {
		return openError(err)
	}
	list := reader.Trailer().Key("RagagentObjects")
	refs := references(list)
	for i, ref := range refs {
		func() {
			defer func() { _ = recover() }() // so that one bad object does not cost the others
			do(ref, list.Index(i))
		}()
	}
	return nil
}

// objectStreams reads which objects lie in object streams.
func objectStreams(s *source) ([]heldObjects, error) {
	var out []heldObjects
	err := eachObject(s, func(ref string, v pdf.Value) {
		if v.Kind() != pdf.Stream || v.Key("Type").Name() != "ObjStm" {
			return
		}
		id, _ := strconv.ParseUint(strings.Fields(ref)[0], 10, 32)
		held := heldObjects{stream: uint32(id)}
		data, _ := streamData(v, maxPageBytes)
		l := lexer{data: data}
		for n := v.Key("N").Int64(); n > 0 && len(held.ids) < maxObjects; n-- {
			object, offset := l.next(), l.next()
			if object.kind != kindNumber || offset.kind != kindNumber {
				break
			}
			held.ids = append(held.ids, uint32(object.num))
		}
		out = append(out, held)
	})
	return out, err
}

// findRoots returns the entries of a trailer that name the catalog, or, where
// it is lost, a page tree made of the pages that are left.
func findRoots(s *source) (string, error) {
	catalog := ""
	var pages bytes.Buffer
	err := eachObject(s, func(ref string, v pdf.Value) {
		switch v.Key("Type").Name() {
		case "Catalog":
			if v.Key("Pages").Kind() == pdf.Dict {
				catalog = ref
			}
		case "Page":
			fmt.Fprintf(&pages, "%s R ", ref)
		}
	})
	switch {
	case err != nil:
		return "", err
	case catalog != "":
		return "/Root " + catalog + " R", nil
	case pages.Len() > 0:
		return "/Root <</Type /Catalog /Pages <</Type /Pages /Kids [" + pages.String() + "]>>>>", nil
	}
	return "", fmt.Errorf("%w: it holds no pages", ErrDamaged)
}
