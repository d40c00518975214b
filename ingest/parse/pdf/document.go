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
	reader *pdf.Reader
	info   Info
	pages  []pageNode
	fonts  map[string]*font
	glyphs []glyph // of the page before, to be written over
}

// maxPages bounds the pages that are read of one file.
const maxPages = 50_000

// Open reads the structure of a file: cross references, pages, properties.
// Errors wrap ErrEncrypted or ErrDamaged.
func Open(file io.ReaderAt, size int64) (doc *Document, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	reader, err := pdf.NewReader(file, size)
	if err != nil {
		return nil, openError(err)
	}
	doc = &Document{reader: reader, fonts: map[string]*font{}}
	doc.pages = pageTree(reader.Trailer().Key("Root").Key("Pages"))
	doc.info = readInfo(reader.Trailer().Key("Info"))
	doc.info.Pages = len(doc.pages)
	return doc, nil
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

// streamData reads the decoded bytes of a stream, at most limit; what comes
// before a fault in it is returned.
func streamData(v pdf.Value, limit int64) (data []byte) {
	if v.Kind() != pdf.Stream {
		return nil
	}
	var buf limited
	buf.limit = limit
	defer func() {
		_ = recover() // the library panics on filters it cannot read
		data = buf.data
	}()
	rd := v.Reader()
	defer rd.Close()
	_, _ = io.Copy(&buf, rd) // a fault ends the copy
	return buf.data
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
