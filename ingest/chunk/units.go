package chunk

import (
	"ragagent/ingest/parse"
	"ragagent/store"
)

// units takes an atom apart: paragraphs into sentences, others into lines, and
// what is still too large into sentences or at blanks. It hands over one part
// at a time: there may be millions.
func (s *splitter) units(a atom, do func(atom)) {
	give := s.giver(a, do)
	switch a.kind {
	case parse.Table, parse.Code, parse.List:
		s.lines(a, func(line store.Span) {
			if part := s.inner(a, line); part.weight <= s.size {
				give(part)
			} else {
				s.sentences(part, give)
			}
		})
	default:
		s.sentences(a, give)
	}
}

// lines calls do with the span of every line. The rows that name the columns of
// a table come as one with the first row below: alone they say nothing.
func (s *splitter) lines(a atom, do func(store.Span)) {
	start, head := a.span.Start, a.span.Start
	if a.table != nil && a.span.Start == a.table.at {
		head = a.table.headerEnd
	}
	eachLine(s.text.Body, a.span, func(line store.Span) {
		if line.Start < head && line.End < a.span.End {
			return
		}
		together := store.Span{Start: start, End: line.End}
		start = line.End
		if together == line || weigh(s.text.Body[together.Start:together.End]) <= s.size {
			do(together)
		} else {
			eachLine(s.text.Body, together, do)
		}
	})
}

// giver hands on parts of an atom that hold anything, and tells those behind
// the first that they are inside.
func (s *splitter) giver(a atom, do func(atom)) func(atom) {
	inside := a.inside
	return func(part atom) {
		if part.span.Len() == 0 {
			return
		}
		part.inside = inside
		inside = true
		do(part)
	}
}

// sentences hands over the sentences of an atom.
func (s *splitter) sentences(a atom, give func(atom)) {
	eachSentence(s.text.Body, a.span, func(span store.Span) {
		s.pieces(s.inner(a, span), give)
	})
}

// pieces hands over an atom, cut into about equal parts if it is too large: a
// rest of two words helps nobody.
func (s *splitter) pieces(a atom, give func(atom)) {
	part := a
	for part.weight > s.size {
		n := ceil(part.weight, s.size)
		at := part.span.Start + prefix(s.text.Body[part.span.Start:part.span.End], part.weight/n)
		give(s.inner(a, store.Span{Start: part.span.Start, End: at}))
		part.weight -= part.weight / n
		part = s.rest(a, part, at)
	}
	give(part)
}

// rest returns what of a part stands behind at. Only what may be the last rest
// is weighed anew; before, the weight that is left is known well enough.
func (s *splitter) rest(of, part atom, at int) atom {
	span := store.Span{Start: at, End: part.span.End}
	if part.weight <= s.most() {
		return s.inner(of, span)
	}
	part.span = trim(s.text.Body, span)
	return part
}

// words hands over the words of an atom with the marks at them; of scripts
// without blanks, the characters.
func (s *splitter) words(a atom, do func(atom)) {
	give := s.giver(a, do)
	eachWord(s.text.Body, a.span, func(span store.Span) { s.pieces(s.inner(a, span), give) })
}
