package office

import (
	"fmt"
	"io"

	"ragagent/ingest/parse/doc"
)

// ReadODT reads a text document of OpenDocument, as ReadDOCX does one of Word.
func ReadODT(r io.ReaderAt, size int64, out doc.Sink) error {
	return readODF(r, size, out, textDocument)
}

// ReadODS reads a spreadsheet of OpenDocument, as ReadXLSX does one of Excel.
func ReadODS(r io.ReaderAt, size int64, out doc.Sink) error {
	return readODF(r, size, out, spreadsheet)
}

// ReadODP reads a presentation of OpenDocument, as ReadPPTX does one of
// PowerPoint.
func ReadODP(r io.ReaderAt, size int64, out doc.Sink) error {
	return readODF(r, size, out, presentation)
}

type odfKind int

const (
	textDocument odfKind = iota
	spreadsheet
	presentation
)

func readODF(r io.ReaderAt, size int64, out doc.Sink, kind odfKind) error {
	p, err := openPack(r, size, out)
	if err != nil {
		return err
	}
	err = p.walk("META-INF/manifest.xml", func(_ *scanner, t token) error {
		if t.kind == start && t.name == "encryption-data" {
			return doc.ErrEncrypted
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !p.Has("content.xml") {
		return fmt.Errorf("%w: the part with its text is missing", doc.ErrDamaged)
	}
	if err := p.describe("meta.xml"); err != nil {
		return err
	}
	d := odf{pack: p, kind: kind, numbered: map[listMark]bool{}}
	if err := p.walk("styles.xml", d.listStyle); err != nil {
		return err
	}
	if kind == textDocument {
		if d.page, err = p.softPages(); err != nil {
			return err
		}
	}
	if err := p.walk("content.xml", d.token); err != nil {
		return err
	}
	d.end()
	return p.finish()
}

// softPages returns 1 if the document says where its pages break, else 0.
func (p *pack) softPages() (int, error) {
	first := 0
	err := p.walk("content.xml", func(_ *scanner, t token) error {
		if t.kind == start && t.name == "soft-page-break" {
			first = 1
			return errStop
		}
		return nil
	})
	return first, err
}
