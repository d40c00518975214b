// Package chunk cuts structured text into the pieces that are indexed, found
// and cited. Unless a knowledge base asks otherwise it goes by the structure
// first and by sizes second: sections, then pages, paragraphs, sentences.
package chunk

import (
	"ragagent/ingest/parse"
	"ragagent/store"
)

// Piece is one chunk to be: text.Body[Span] is its text, which is not empty,
// neither begins nor ends with white space, and lies on rune boundaries.
type Piece struct {
	// Headings is the path from the outermost heading inwards that all of the
	// piece stands under. Pieces share it: it must not be changed.
	Headings  []string
	PageStart int // one-based; 0 where the format has no pages
	PageEnd   int
	Span      store.Span
	// Context is the caption and the header row of the table that the piece
	// begins in, a line each, as far as they are not in the piece itself.
	Context string
	// Parent is the section the piece was cut from, if the settings ask for
	// sections and it is longer than the piece; it holds Span.
	Parent store.Section
}

// Split cuts a text; the pieces are those of Each.
func Split(text parse.Text, settings store.Chunking) ([]Piece, error) {
	var pieces []Piece
	err := Each(text, settings, func(p Piece) { pieces = append(pieces, p) })
	return pieces, err
}

// Each cuts a text and calls do with every piece. The pieces are a function of
// the text and the settings. They come in ascending order; every byte of the
// body that is not white space is in one of them, and only what Overlap asks
// for is in two. A piece has at most 5/4 of Size tokens as Tokens counts them,
// plus the overlap, and therefore at most MaxBytes(settings) bytes; it cuts a
// sentence only if that is longer than Size.
//
// With store.ChunkingStructure a piece ends earlier where a section of substance
// ends, and for texts with pages where the page ends, but for a sentence that
// runs on; what overlaps are sentences or rows of a block that had to be cut.
// The other strategies take one unit after the other, whatever the structure,
// up to Size tokens, and repeat the overlap at every cut.
//
// Beside the text, Each needs memory for some 64 times Size tokens, however
// long the text is, and takes time in proportion to its length. ErrInvalid for
// settings out of their bounds.
func Each(text parse.Text, settings store.Chunking, do func(Piece)) error {
	if err := Check(settings); err != nil {
		return err
	}
	settings = withDefaults(settings)
	c := &cutter{text: text, do: do}
	inner := &splitter{
		text: text, size: settings.Size * one, overlap: settings.Overlap * one,
		maxBytes: maxBytes(settings.Size, settings.Overlap), emit: c.piece,
	}
	outermost := inner
	if settings.Parent.Size > 0 {
		outermost = &splitter{
			text: text, size: settings.Parent.Size * one, maxBytes: maxBytes(settings.Parent.Size, 0), acrossPages: true,
			emit: func(atoms []atom) {
				c.parent = section(atoms)
				inner.split(settings.Strategy, &feed{next: each(atoms)})
			},
		}
	}
	outermost.split(settings.Strategy, &feed{next: newReader(text).next})
	return nil
}

// cutter hands over the pieces of one text.
type cutter struct {
	text   parse.Text
	do     func(Piece)
	parent store.Section
}

// piece hands over a piece made of atoms.
func (c *cutter) piece(atoms []atom) {
	s := section(atoms)
	p := Piece{
		Headings:  path(atoms),
		PageStart: s.PageStart,
		PageEnd:   s.PageEnd,
		Span:      s.Span,
		Context:   atoms[0].context(),
	}
	if c.parent.Span != s.Span {
		p.Parent = c.parent
	}
	c.do(p)
}

// section is the part of the text from the first to the last of some atoms.
func section(atoms []atom) store.Section {
	first, last := atoms[0], atoms[len(atoms)-1]
	return store.Section{
		Span:      store.Span{Start: first.span.Start, End: last.span.End},
		PageStart: first.page,
		PageEnd:   last.page,
	}
}

// splitter makes groups of atoms: pieces, or the sections they are cut from.
type splitter struct {
	text    parse.Text
	size    int // as weigh counts
	overlap int
	// maxBytes bounds the length of groups where white space inside them weighs
	// next to nothing.
	maxBytes    int
	acrossPages bool
	// emit takes a group; the slice is the splitter's own and changes later.
	emit func([]atom)
}

// split cuts what a feed gives.
func (s *splitter) split(strategy store.ChunkingStrategy, f *feed) {
	switch strategy {
	case store.ChunkingSentence:
		s.window(f, s.units)
	case store.ChunkingFixed:
		s.window(f, s.words)
	default:
		s.runs(f, s.pack)
	}
}

// most is what a group may weigh: a little more than the size where that
// spares a second, small one.
func (s *splitter) most() int { return s.size + s.size/4 }
