// Package chunk cuts structured text into the pieces that are indexed, found
// and cited. It goes by the structure first and by sizes second: sections,
// then pages, then paragraphs, then sentences.
package chunk

import (
	"ragagent/ingest/parse"
	"ragagent/store"
)

// DefaultSize is the size of pieces in tokens where the settings say 0. About
// 240 English words: long enough for a paragraph with its context or the rows
// of a small table, short enough that one piece is about one thing and that
// ten of them fit a model's attention.
const DefaultSize = 320

// Bounds of store.Chunking.Size.
const (
	MinSize = 32
	MaxSize = 4096
)

// Piece is one chunk to be: text.Body[Span] is its text, which is not empty,
// neither begins nor ends with white space, and lies on rune boundaries.
type Piece struct {
	// Headings is the path from the outermost heading inwards. A piece that
	// begins inside a table has the table's first row as its last element: there
	// the columns are named.
	Headings  []string
	PageStart int // one-based; 0 where the format has no pages
	PageEnd   int
	Span      store.Span
}

// Split cuts a text. Pieces come in ascending order; every byte of the body
// that is not white space is in one of them, and only what Overlap asks for is
// in two. A piece has at most 5/4 of Size tokens as Tokens counts them, plus
// the overlap, and therefore at most MaxBytes(settings) bytes. It ends earlier
// where a section of substance ends, and for texts with pages where the page
// ends, but for a sentence that runs on. ErrInvalid for settings out of their
// bounds.
func Split(text parse.Text, settings store.Chunking) ([]Piece, error) {
	if err := Check(settings); err != nil {
		return nil, err
	}
	settings = withDefaults(settings)
	s := splitter{text: text, size: settings.Size * one, overlap: settings.Overlap * one, maxBytes: MaxBytes(settings)}
	for _, run := range s.runs(s.atoms()) {
		s.pack(run)
	}
	return s.pieces, nil
}

// MaxBytes is the length no piece passes under the given settings.
func MaxBytes(settings store.Chunking) int {
	size := withDefaults(settings).Size
	return (size + size/4 + settings.Overlap + 1) * bytesPerToken
}

func withDefaults(c store.Chunking) store.Chunking {
	if c.Size == 0 {
		c.Size = DefaultSize
	}
	return c
}

// Check refuses settings out of their bounds with an ErrInvalid that names the
// field and what is allowed.
func Check(c store.Chunking) error {
	size := withDefaults(c).Size
	switch {
	case size < MinSize || size > MaxSize:
		return store.Invalid("chunking.size", "is %d, allowed are %d to %d tokens, or 0 for the default", c.Size, MinSize, MaxSize)
	case c.Overlap < 0 || c.Overlap > size/2:
		return store.Invalid("chunking.overlap", "is %d, allowed are 0 to %d, half of chunking.size", c.Overlap, size/2)
	}
	return nil
}

// splitter cuts one text.
type splitter struct {
	text    parse.Text
	size    int // as weigh counts
	overlap int
	// maxBytes bounds the length of pieces where white space inside them weighs
	// next to nothing.
	maxBytes int
	pieces   []Piece
}

// most is what a piece may weigh: a little more than the size where that
// spares a second, small piece.
func (s *splitter) most() int { return s.size + s.size/4 }

// emit makes a piece of atoms.
func (s *splitter) emit(atoms []atom) {
	if len(atoms) == 0 {
		return
	}
	first, last := atoms[0], atoms[len(atoms)-1]
	s.pieces = append(s.pieces, Piece{
		Headings:  s.path(atoms),
		PageStart: first.page,
		PageEnd:   last.page,
		Span:      store.Span{Start: first.span.Start, End: last.span.End},
	})
}
