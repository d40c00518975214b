package chunk

import (
	"ragagent/ingest/parse"
	"ragagent/store"
)

// atom is a part of the text that is not cut unless it is too large itself: a
// block, a sentence, a row.
type atom struct {
	kind     parse.Kind
	span     store.Span
	weight   int // hundredths of a token
	page     int
	headings []string // path it stands under, itself included if a heading
	inside   bool     // it goes on within the block of the atom before it
	header   string   // of a row inside a table: the table's first row
}

// atoms returns one atom a block, with its headings.
func (s *splitter) atoms() []atom {
	out := make([]atom, 0, len(s.text.Blocks))
	var path []string
	var levels []int
	for _, b := range s.text.Blocks {
		a := s.atom(b.Kind, b.Span)
		if a.span.Len() == 0 {
			continue
		}
		a.page = b.Page
		if b.Kind == parse.Heading {
			n := len(levels)
			for n > 0 && levels[n-1] >= b.Level {
				n--
			}
			// A new slice: atoms before share the old one.
			path = append(append([]string(nil), path[:n]...), headingText(s.text.Body[a.span.Start:a.span.End]))
			levels = append(levels[:n], b.Level)
		}
		a.headings = path
		out = append(out, a)
	}
	return out
}

// atom makes an atom of a span, without the white space around it.
func (s *splitter) atom(kind parse.Kind, span store.Span) atom {
	span = trim(s.text.Body, span)
	return atom{kind: kind, span: span, weight: weigh(s.text.Body[span.Start:span.End])}
}

// inner makes an atom of a part of an atom.
func (s *splitter) inner(of atom, span store.Span) atom {
	a := s.atom(of.kind, span)
	a.page, a.headings = of.page, of.headings
	return a
}

// path returns the headings that all content of a piece stands under, and the
// header of the table it begins in.
func (s *splitter) path(atoms []atom) []string {
	path := atoms[0].headings
	started := false
	for _, a := range atoms {
		switch {
		case a.kind == parse.Heading && !a.inside:
		case !started:
			path, started = a.headings, true
		default:
			path = path[:common(path, a.headings)]
		}
	}
	path = append([]string(nil), path...)
	if header := atoms[0].header; header != "" {
		path = append(path, header)
	}
	return path
}

// common returns how many headings two paths share.
func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
