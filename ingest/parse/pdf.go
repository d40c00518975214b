package parse

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ragagent/ingest/parse/pdf"
	"ragagent/store"
)

// parsePDF reads a PDF in child processes. A page that kills its child is left
// out, with a warning, and another child goes on behind it.
func (p *Parser) parsePDF(ctx context.Context, file store.Blob, tell func(done, total int)) (text Text, err error) {
	err = p.sandbox.with(ctx, file, func(ctx context.Context, s *session) error {
		read := pdfRead{maxText: p.cfg.MaxText, maxLines: p.cfg.MaxBlocks}
		take := func(f frame) error {
			err := read.take(f)
			if err == nil && read.info != nil {
				tell(len(read.pages), read.info.Pages)
			}
			return err
		}
		for {
			err := s.run(ctx, task{Format: formatPDF, First: read.next()}, take)
			if err == nil {
				text, err = p.pdfText(&read)
				return err
			}
			if !read.skip(err) {
				return err
			}
		}
	})
	return text, err
}

// maxSkipped bounds the pages that may kill a child before the file is given up.
const maxSkipped = 5

// pdfRead collects what children say about one file.
type pdfRead struct {
	info    *pdf.Info
	pages   []pdf.Page
	skipped []int
	bytes   int // of the lines
	lines   int

	maxText, maxLines int
}

// next returns the page to go on with, from 1.
func (r *pdfRead) next() int { return len(r.pages) + 1 }

// take takes a frame. Pages come in order; anything else is a broken child.
func (r *pdfRead) take(f frame) error {
	switch {
	case f.Info != nil:
		r.info = f.Info
		return nil
	case f.Page == nil || f.Page.Number != r.next():
		return errBadFrame
	}
	// A line takes ten times its text where that is short: both are bounded,
	// before anything is made of them.
	if r.lines += f.Page.Count; r.lines > r.maxLines {
		return fmt.Errorf("%w: more than %d lines of text", ErrLimit, r.maxLines)
	}
	page, err := f.page()
	if err != nil {
		return err
	}
	for _, line := range page.Lines {
		r.bytes += len(line.Text)
	}
	if r.bytes > r.maxText {
		return fmt.Errorf("%w: more than %d MB of text", ErrLimit, r.maxText>>20)
	}
	r.pages = append(r.pages, page)
	return nil
}

// skip leaves out the page that a child died of; false if err is no such
// death, or there were too many.
func (r *pdfRead) skip(err error) bool {
	var dead *crash
	if !errors.As(err, &dead) || !dead.started || r.info == nil || len(r.skipped) == maxSkipped || r.next() > r.info.Pages {
		return false
	}
	r.skipped = append(r.skipped, r.next())
	r.pages = append(r.pages, pdf.Page{Number: r.next(), Problem: dead.Error()})
	return true
}

// pdfText makes the Text of a file that was read to its end.
func (p *Parser) pdfText(r *pdfRead) (Text, error) {
	if r.info == nil {
		return Text{}, fmt.Errorf("%w: nothing could be read of it", ErrDamaged)
	}
	out := reading{format: formatPDF, body: body{maxBytes: p.cfg.MaxText, maxBlocks: p.cfg.MaxBlocks}, title: r.info.Title, meta: pdfProperties(*r.info)}
	for _, b := range pdf.Structure(r.pages) {
		out.body.add(pdfKinds[b.Kind], b.Level, b.Page, b.Text)
	}
	if out.body.err == nil && len(out.body.blocks) == 0 {
		return Text{}, pdfNoText(r)
	}
	out.warnings = pdfWarnings(r)
	text, err := p.finish(&out)
	text.Pages = r.info.Pages
	return text, err
}

var pdfKinds = map[pdf.Kind]Kind{
	pdf.Paragraph: Paragraph, pdf.Heading: Heading, pdf.List: List, pdf.Table: Table, pdf.Code: Code,
}

func pdfProperties(info pdf.Info) store.Metadata {
	meta := store.Metadata{}
	for key, value := range map[string]string{"author": info.Author, "subject": info.Subject, "created": info.Created} {
		if value != "" {
			meta[key] = value
		}
	}
	if list := splitList(info.Keywords); len(list) > 0 {
		meta["keywords"] = list
	}
	return meta
}

// pdfNoText says why a PDF has no text, and what to do.
func pdfNoText(r *pdfRead) error {
	images, unmapped, damaged := 0, 0, 0
	for _, page := range r.pages {
		if page.Problem != "" {
			damaged++
		}
		images += page.Images
		unmapped += page.Unmapped
	}
	switch {
	case len(r.info.Warnings) > 0: // it was repaired
		return fmt.Errorf("%w: no text could be found in what is left of it", ErrDamaged)
	case len(r.pages) == 0:
		return fmt.Errorf("%w: the PDF has no pages", ErrNoText)
	case len(r.skipped) > 0:
		return fmt.Errorf("%w: no page could be read: %s", ErrDamaged, r.pages[r.skipped[0]-1].Problem)
	case damaged > 0:
		return fmt.Errorf("%w: the content of its pages cannot be unpacked", ErrDamaged)
	case unmapped > 0:
		return fmt.Errorf("%w: the PDF does not say which characters its glyphs stand for; print it to a new PDF or run OCR on it", ErrNoText)
	case images > 0:
		return fmt.Errorf("%w: the PDF holds only images, it is probably a scan; run OCR on it, for example with ocrmypdf", ErrNoText)
	}
	return fmt.Errorf("%w: the pages of the PDF are blank", ErrNoText)
}

// littleText is the number of glyphs that a page of text has at least.
const littleText = 30

// pdfWarnings says what of a PDF could not be read well.
func pdfWarnings(r *pdfRead) []string {
	var damaged, unmapped, scanned []int
	little := 0 // pages of an image with next to no text, as a stamp on a scan
	for _, page := range r.pages {
		if page.Images > 0 && page.Glyphs < littleText {
			little++
		}
	}
	scan := 2*little > len(r.pages)
	for _, page := range r.pages {
		switch {
		case page.Problem != "":
			damaged = append(damaged, page.Number)
		case page.Unmapped > 20 && page.Unmapped*10 > page.Glyphs:
			unmapped = append(unmapped, page.Number)
		case page.Images > 0 && (page.Glyphs == 0 || scan && page.Glyphs < littleText):
			scanned = append(scanned, page.Number)
		}
	}
	var out []string
	add := func(pages []int, what string) {
		if len(pages) > 0 {
			out = append(out, pageList(pages)+": "+what)
		}
	}
	out = append(out, r.info.Warnings...)
	add(damaged, "could not be read completely")
	add(unmapped, "many glyphs stand for no known character")
	add(scanned, "only images, or next to no text with them; run OCR on the file to search them")
	return out
}

// pageList names pages: "page 3", "pages 1, 2, 3 and 17 more".
func pageList(pages []int) string {
	const shown = 10
	var names []string
	for _, n := range pages[:min(len(pages), shown)] {
		names = append(names, fmt.Sprint(n))
	}
	switch {
	case len(pages) == 1:
		return "page " + names[0]
	case len(pages) > shown:
		return fmt.Sprintf("pages %s and %d more", strings.Join(names, ", "), len(pages)-shown)
	}
	return "pages " + strings.Join(names, ", ")
}
