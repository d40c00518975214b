package chunk

import (
	"slices"

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
	table    *table   // of a table and its rows
}

// newAtom makes an atom of a span, without the white space around it.
func newAtom(text string, kind parse.Kind, span store.Span) atom {
	span = trim(text, span)
	return atom{kind: kind, span: span, weight: weigh(text[span.Start:span.End])}
}

// inner makes an atom of a part of an atom.
func (s *splitter) inner(of atom, span store.Span) atom {
	a := newAtom(s.text.Body, of.kind, span)
	a.page, a.headings, a.table = of.page, of.headings, of.table
	return a
}

// reader makes one atom of each block of a text, in order.
type reader struct {
	text   parse.Text
	at     int // the next block
	path   []string
	levels []int
	before [captionBlocks]atom // the latest atom last
}

func newReader(text parse.Text) *reader { return &reader{text: text} }

// next returns the next atom; ok is false behind the last.
func (r *reader) next() (a atom, ok bool) {
	for r.at < len(r.text.Blocks) {
		b := r.text.Blocks[r.at]
		r.at++
		a := newAtom(r.text.Body, b.Kind, b.Span)
		if a.span.Len() == 0 {
			continue
		}
		a.page = b.Page
		switch b.Kind {
		case parse.Heading:
			r.enter(b.Level, headingText(r.text.Body[a.span.Start:a.span.End]))
		case parse.Table:
			a.table = r.table(a)
		}
		a.headings = r.path
		copy(r.before[:], r.before[1:])
		r.before[len(r.before)-1] = a
		return a, true
	}
	return atom{}, false
}

// enter goes to the section below a heading.
func (r *reader) enter(level int, heading string) {
	n := len(r.levels)
	for n > 0 && r.levels[n-1] >= level {
		n--
	}
	// A new slice: atoms before share the old one.
	r.path = append(slices.Clone(r.path[:n]), heading)
	r.levels = append(r.levels[:n], level)
}

// feed gives atoms one after the other, and lets look ahead.
type feed struct {
	next  func() (atom, bool)
	ahead []atom
}

func (f *feed) pop() (atom, bool) {
	if len(f.ahead) == 0 {
		return f.next()
	}
	a := f.ahead[0]
	f.ahead = f.ahead[1:]
	return a, true
}

// peek returns the i-th atom that pop has yet to return.
func (f *feed) peek(i int) (atom, bool) {
	for len(f.ahead) <= i {
		a, ok := f.next()
		if !ok {
			return a, false
		}
		f.ahead = append(f.ahead, a)
	}
	return f.ahead[i], true
}

// each gives the atoms of a slice.
func each(atoms []atom) func() (atom, bool) {
	return func() (a atom, ok bool) {
		if len(atoms) == 0 {
			return a, false
		}
		a, atoms = atoms[0], atoms[1:]
		return a, true
	}
}

// path returns the headings that all content of a piece stands under.
func path(atoms []atom) []string {
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
	return slices.Clip(path) // whoever appends to it makes his own
}

// common returns how many headings two paths share.
func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
