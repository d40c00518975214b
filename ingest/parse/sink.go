package parse

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"ragagent/ingest/parse/doc"
	"ragagent/ingest/parse/pdf"
)

// Bounds of the files inside a file.
const (
	maxEmbeddedDepth = 4
	maxEmbedded      = 1000
	maxEmbeddedBytes = 256 << 20 // of all of them
	maxEmbeddedText  = 64 << 20  // of one that is written in characters
)

// sink puts what a reader finds into a reading. Those of files inside the file
// put it into the same.
type sink struct {
	to     *reading
	within *nest
	depth  int // 0 for the file itself
	above  int // level of the heading that a file inside stands under
	level  int // of the latest heading
}

// nest counts the files inside a file, over all depths.
type nest struct {
	files int
	bytes int64
}

func newSink(to *reading) *sink { return &sink{to: to, within: &nest{}} }

// Add implements doc.Sink.
func (s *sink) Add(b doc.Block) {
	switch b.Kind {
	case Heading:
		b.Level = min(max(b.Level, 1)+s.above, 6)
		s.level = b.Level
		b.Text = strings.Join(strings.Fields(b.Text), " ")
	case Paragraph, List, Table, Code, Quote:
		b.Level = 0
	default:
		b.Kind, b.Level = Paragraph, 0
	}
	if s.depth > 0 || b.Page < 0 {
		b.Page = 0
	}
	s.to.body.add(b.Kind, b.Level, min(b.Page, maxPage), b.Text)
}

// Full implements doc.Sink.
func (s *sink) Full() bool { return s.to.body.err != nil }

// Title implements doc.Sink.
func (s *sink) Title(title string) {
	if title = short(title, maxTitle); title != "" && s.depth == 0 {
		s.to.title = title
	}
}

// Property implements doc.Sink.
func (s *sink) Property(name string, value any) {
	if value = property(value); value == nil || s.depth > 0 || len(s.to.meta) == maxProperties {
		return
	}
	s.to.meta[name] = value
}

// Warn implements doc.Sink.
func (s *sink) Warn(text string) { s.to.warn(text) }

// Embedded implements doc.Sink.
func (s *sink) Embedded(name string, r io.ReaderAt, size int64) (err error) {
	s.within.files++
	s.within.bytes += size
	switch {
	case s.depth == maxEmbeddedDepth:
		return fmt.Errorf("%w: files are nested more than %d deep", ErrLimit, maxEmbeddedDepth)
	case s.within.files > maxEmbedded:
		return fmt.Errorf("%w: more than %d files in one", ErrLimit, maxEmbedded)
	case s.within.bytes > maxEmbeddedBytes:
		return fmt.Errorf("%w: the files inside have more than %d MB", ErrLimit, maxEmbeddedBytes>>20)
	case size == 0:
		return nil
	}
	// One attachment must not cost the others.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: its parser failed", ErrDamaged)
		}
	}()
	inner := &sink{to: s.to, within: s.within, depth: s.depth + 1, above: s.level}
	return inner.file(name, io.NewSectionReader(r, 0, size))
}

// file reads a file inside a file.
func (s *sink) file(name string, file *io.SectionReader) error {
	f, err := tell(file)
	switch {
	case err != nil:
		return err
	case f == formatPDF:
		return s.pdf(file)
	case f == "":
		return s.text(name, file)
	}
	err = traits[f].read(file, file.Size(), s)
	if err != nil && f.asText(err) {
		return s.text(name, file)
	}
	return err
}

// pdf reads a PDF whose pages have no numbers of their own here.
func (s *sink) pdf(file *io.SectionReader) error {
	d, err := pdf.Open(file, file.Size())
	if err != nil {
		return pdfError(err)
	}
	var pages []pdf.Page
	for n := 1; n <= d.Info().Pages && !s.Full(); n++ {
		pages = append(pages, d.Page(n))
	}
	found := false
	for _, b := range pdf.Structure(pages) {
		found = true
		s.Add(doc.Block{Kind: pdfKinds[b.Kind], Level: b.Level, Text: b.Text})
	}
	if !found {
		return fmt.Errorf("%w: the pages of the PDF hold no text", ErrNoText)
	}
	return nil
}

// pdfError makes an error of package pdf one of ours.
func pdfError(err error) error {
	switch {
	case errors.Is(err, pdf.ErrEncrypted):
		return ErrEncrypted
	case errors.Is(err, pdf.ErrDamaged):
		_, message, _ := strings.Cut(err.Error(), ": ")
		return fmt.Errorf("%w: %s", ErrDamaged, message)
	}
	return err
}

// text reads a text of any format.
func (s *sink) text(name string, file *io.SectionReader) error {
	if file.Size() > maxEmbeddedText {
		return fmt.Errorf("%w: a text of more than %d MB", ErrLimit, maxEmbeddedText>>20)
	}
	data, err := readFile(file)
	if err != nil {
		return err
	}
	found, err := decode(name, data)
	if err != nil {
		return err
	}
	if read := traits[found.format].read; read != nil {
		if err := read(strings.NewReader(found.text), int64(len(found.text)), s); !found.format.asText(err) {
			return err
		}
		found.format = formatPlain
	}
	r := found.read(s.to.body.maxBytes, s.to.body.maxBlocks)
	for _, b := range r.body.blocks {
		s.Add(doc.Block{Kind: b.Kind, Level: b.Level, Text: r.body.out.String()[b.Span.Start:b.Span.End]})
	}
	return r.body.err
}
