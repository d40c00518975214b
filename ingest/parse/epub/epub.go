// Package epub reads books in the EPUB 2 and 3 formats: XHTML files in a zip
// file, the order of which a package file tells.
package epub

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"ragagent/ingest/parse/container"
	"ragagent/ingest/parse/doc"
)

// Bounds of the files of one book, in bytes.
const (
	maxPackage = 16 << 20 // package file and navigation
	maxChapter = 64 << 20
)

// Read reads the texts of a book in their order. Where a text has no heading,
// the navigation's name for it is its heading. ErrEncrypted for books whose
// texts are protected, ErrDamaged if none can be found.
func Read(r io.ReaderAt, size int64, out doc.Sink) error {
	c, err := container.Open(r, size)
	if err != nil {
		return err
	}
	b := book{Container: c, out: out}
	p, err := b.packageFile()
	if err != nil {
		out.Warn("the book's table of contents is damaged; its texts are in the order of the file")
		p = b.withoutPackage()
	}
	p.describe(out)
	if b.locked(p) {
		return fmt.Errorf("%w (the book has copy protection)", doc.ErrEncrypted)
	}
	return b.read(p)
}

// book is an open file.
type book struct {
	*container.Container
	out doc.Sink
}

// withoutPackage takes every text of the file, in its order.
func (b *book) withoutPackage() *packageFile {
	p := &packageFile{}
	for _, name := range b.Names() {
		if isText("", name) {
			p.texts = append(p.texts, name)
		}
	}
	return p
}

// read reads the texts.
func (b *book) read(p *packageFile) error {
	if len(p.texts) == 0 {
		return fmt.Errorf("%w: the book has no texts", doc.ErrDamaged)
	}
	titles := b.navigation(p)
	missing, failed, found := 0, 0, 0
	var last error
	for _, name := range p.texts {
		if b.out.Full() {
			return nil
		}
		data, err := b.ReadAll(name, maxChapter)
		if err != nil {
			if errors.Is(err, doc.ErrLimit) {
				return err
			}
			missing++
			continue
		}
		if title, ok := titles[name]; ok && !hasHeading(data) {
			data = title.into(data)
		}
		switch err := b.out.Embedded(htmlName(name), bytes.NewReader(data), int64(len(data))); {
		case err == nil:
			found++
		case errors.Is(err, doc.ErrNoText): // a cover or a picture
		default:
			failed, last = failed+1, err
		}
	}
	switch {
	case found > 0:
	case last != nil:
		return last
	case missing > 0:
		return fmt.Errorf("%w: none of the book's texts can be read", doc.ErrDamaged)
	}
	if missing+failed > 0 {
		b.out.Warn(fmt.Sprintf("%d of the book's %d texts could not be read", missing+failed, len(p.texts)))
	}
	return nil
}

// htmlName is the name under which a text is read: books have texts that are
// named .xml.
func htmlName(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base)) + ".xhtml"
}

// hasHeading says that a text has a heading of its own.
func hasHeading(data []byte) bool {
	for rest := data; ; {
		i := bytes.IndexByte(rest, '<')
		if i < 0 || len(rest) < i+3 {
			return false
		}
		rest = rest[i+1:]
		if rest[0]|0x20 == 'h' && rest[1] >= '1' && rest[1] <= '6' {
			return true
		}
	}
}

// isText says that an entry is a text by its media type or, where that is not
// told, by its name.
func isText(mediaType, name string) bool {
	switch strings.ToLower(mediaType) {
	case "application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/html+xml":
		return true
	case "", "application/xml", "text/xml":
	default:
		return false
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".xhtml", ".html", ".htm", ".xht":
		return true
	}
	return false
}
