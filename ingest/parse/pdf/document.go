package pdf

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ledongthuc/pdf"
)

// Document is an open file. It is not safe for concurrent use.
type Document struct {
	info   Info
	pages  []pageNode
	fonts  map[string]*font
	glyphs []glyph // of the page before, to be written over
}

// maxPages bounds the pages that are read of one file.
const maxPages = 50_000

// Open reads the structure of a file: cross references, pages, properties.
// Where that fails, it looks for the objects themselves. Errors wrap
// ErrEncrypted or ErrDamaged.
func Open(file io.ReaderAt, size int64) (*Document, error) {
	s := newSource(file, size)
	doc, err := open(s)
	if errors.Is(err, ErrEncrypted) || err == nil && doc.lost() == 0 && len(doc.pages) > 0 {
		return doc, err
	}
	repaired, repairErr := s.repaired()
	switch {
	case repairErr == nil && (err != nil || len(repaired.pages) > len(doc.pages) || repaired.lost() < doc.lost()):
		return repaired, nil
	case errors.Is(repairErr, ErrEncrypted):
		return nil, repairErr
	case err != nil && s.open:
		return nil, fmt.Errorf("%w: it is cut off, and nothing in it can be read", ErrDamaged)
	}
	return doc, err
}

// open reads a source as it is.
func open(s *source) (doc *Document, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	reader, err := pdf.NewReader(s, s.length())
	if err != nil {
		return nil, openError(err)
	}
	doc = &Document{fonts: map[string]*font{}}
	doc.pages = pageTree(reader.Trailer().Key("Root").Key("Pages"))
	doc.info = readInfo(reader.Trailer().Key("Info"))
	doc.info.Pages = len(doc.pages)
	return doc, nil
}

// repaired reads a source by a table of objects made anew.
func (s *source) repaired() (doc *Document, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	again, err := s.rebuilt()
	if err != nil {
		return nil, err
	}
	doc, err = open(again)
	if err != nil {
		return nil, err
	}
	warning := "the file is damaged; what could be found in it was read"
	if s.open {
		warning = "the file is cut off; pages at its end may be missing"
	}
	doc.info.Warnings = append(doc.info.Warnings, warning)
	return doc, nil
}

// lost counts the pages that cannot be read.
func (d *Document) lost() int {
	n := 0
	for _, p := range d.pages {
		if p.page.Kind() != pdf.Dict {
			n++
		}
	}
	return n
}

func openError(err error) error {
	if errors.Is(err, pdf.ErrInvalidPassword) || strings.Contains(err.Error(), "encrypt") {
		return fmt.Errorf("%w: %w", ErrEncrypted, err)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// Info returns what the file says about itself.
func (d *Document) Info() Info { return d.info }

// readInfo reads the information dictionary, or nothing if it is broken.
func readInfo(v pdf.Value) (info Info) {
	defer func() { _ = recover() }() // properties are not worth a file
	info.Title = property(v, "Title")
	info.Author = property(v, "Author")
	info.Subject = property(v, "Subject")
	info.Keywords = property(v, "Keywords")
	info.Created = date(property(v, "CreationDate"))
	return info
}

const maxProperty = 2000

func property(v pdf.Value, key string) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(v.Key(key).Text(), "")), " ")
	if len(text) > maxProperty {
		return ""
	}
	return text
}

// date turns "D:20230801120000+02'00'" into "2023-08-01"; "" if it is none.
func date(s string) string {
	s = strings.TrimPrefix(s, "D:")
	if len(s) < 8 {
		return ""
	}
	t, err := time.Parse("20060102", s[:8])
	if err != nil || t.Year() < 1900 {
		return ""
	}
	return t.Format(time.DateOnly)
}

// streamData reads the decoded bytes of a stream, at most limit. Of a stream
// with a fault it returns what comes before it, and that it is not whole. What
// is no stream has no bytes.
func streamData(v pdf.Value, limit int64) (data []byte, whole bool) {
	if v.Kind() != pdf.Stream {
		return nil, true
	}
	buf := limited{limit: limit}
	defer func() {
		if recover() != nil { // the library panics on filters it cannot read
			data, whole = buf.data, false
		}
	}()
	rd := v.Reader()
	defer rd.Close()
	_, err := io.Copy(&buf, rd)
	return buf.data, err == nil
}

// limited collects bytes up to a limit.
type limited struct {
	data  []byte
	limit int64
}

var errFull = errors.New("full")

func (l *limited) Write(p []byte) (int, error) {
	room := l.limit - int64(len(l.data))
	if int64(len(p)) > room {
		l.data = append(l.data, p[:room]...)
		return int(room), errFull
	}
	l.data = append(l.data, p...)
	return len(p), nil
}
