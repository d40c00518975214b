package chunk

import (
	"strings"

	"ragagent/ingest/parse"
	"ragagent/store"
)

// pack makes pieces of a run. If it does not fit one piece, it is cut into
// pieces of about equal size, between blocks where possible.
func (s *splitter) pack(run []atom) {
	total := 0
	for _, a := range run {
		total += a.weight
	}
	if total <= s.most() {
		s.emit(run)
		return
	}
	p := packer{splitter: s, left: total}
	p.aim()
	for _, a := range run {
		p.add(a)
	}
	p.flush(false)
}

// packer fills pieces one after the other.
type packer struct {
	*splitter
	cur    []atom
	again  int // atoms at the beginning of cur that the piece before has too
	weight int // of cur, those not counted
	left   int // of the run, cur included
	target int // of the piece being filled
}

// aim sets the target so that what is left comes out in equal pieces.
func (p *packer) aim() {
	n := max(1, ceil(p.left, p.size))
	p.target = ceil(p.left, n)
}

// add takes the next atom. One that does not fit is cut if it is larger than a
// piece, or if the piece would stay less than half full without it.
func (p *packer) add(a atom) {
	switch {
	case p.fits(a):
		p.take(a)
	case a.weight > p.most() || cuttable(a.kind) && 2*p.weight < p.target && a.weight > p.size/2:
		parts := p.cut(a)
		for _, part := range parts {
			p.left += part.weight // without the blanks between them, which a has
		}
		p.left -= a.weight
		for _, part := range parts {
			if !p.fits(part) {
				p.next(part, part.inside)
			}
			p.take(part)
		}
	default:
		p.next(a, false)
		p.take(a)
	}
}

// next ends the piece being filled to make room for a. Headings that there is
// no room for beside a become a piece of their own.
func (p *packer) next(a atom, cut bool) {
	p.flush(cut)
	if p.weight > 0 && p.weight+a.weight > p.most() {
		p.end(len(p.cur))
	}
}

// fits says that a belongs to the piece being filled: it does not pass the
// size, and brings the piece closer to its target.
func (p *packer) fits(a atom) bool {
	if len(p.cur) == 0 {
		return a.weight <= p.most()
	}
	after := p.weight + a.weight
	if after == p.left { // the last of the run
		return after <= p.most()
	}
	if onlyHeadings(p.cur) {
		return after <= p.most()
	}
	return after <= p.size && after-p.target <= p.target-p.weight
}

func (p *packer) take(a atom) {
	p.cur = append(p.cur, a)
	p.weight += a.weight
}

// flush ends the piece being filled. Headings at its end go to the next piece.
// cut says that the next atom goes on with the block this piece ends in; the
// overlap is then repeated.
func (p *packer) flush(cut bool) {
	n := len(p.cur)
	for n > 0 && p.cur[n-1].kind == parse.Heading && !cut {
		n--
	}
	if n == 0 {
		n = len(p.cur)
	}
	var again []atom
	if cut {
		again = p.repeated(p.cur)
	}
	p.end(n)
	p.cur = append(p.cur, again...)
	p.again = len(again)
}

// end makes a piece of the first n atoms and keeps the others.
func (p *packer) end(n int) {
	done, kept := p.cur[:n], p.cur[n:]
	p.emit(done)
	for _, a := range done[min(n, p.again):] {
		p.left -= a.weight
		p.weight -= a.weight
	}
	p.again = 0
	p.cur = append([]atom(nil), kept...)
	p.aim()
}

// repeated returns the last sentences of a piece, as many as the overlap holds.
func (p *packer) repeated(done []atom) []atom {
	n, weight := len(done), 0
	for n > 1 && done[n-1].inside && weight+done[n-1].weight <= p.overlap {
		n--
		weight += done[n].weight
	}
	return append([]atom(nil), done[n:]...)
}

// cuttable says that a block may be cut although it would fit a piece of its
// own.
func cuttable(k parse.Kind) bool {
	return k == parse.Paragraph || k == parse.Quote || k == parse.List
}

// cut takes an atom apart: paragraphs into sentences, others into lines, and
// what is still too large at blanks, at last between runes.
func (p *packer) cut(a atom) []atom {
	var parts []atom
	first, _, _ := strings.Cut(p.text.Body[a.span.Start:a.span.End], "\n")
	header := headingText(first)
	add := func(span store.Span) {
		part := p.inner(a, span)
		if part.span.Len() == 0 {
			return
		}
		for _, small := range p.shatter(part) {
			small.inside = len(parts) > 0
			if small.inside && a.kind == parse.Table {
				small.header = header
			}
			parts = append(parts, small)
		}
	}
	switch a.kind {
	case parse.Table, parse.Code, parse.List:
		eachLine(p.text.Body, a.span, add)
	default:
		eachSentence(p.text.Body, a.span, add)
	}
	return parts
}

// shatter cuts what has no sentences or lines of bearable length.
func (p *packer) shatter(a atom) []atom {
	if a.weight <= p.size {
		return []atom{a}
	}
	if a.kind != parse.Paragraph {
		var out []atom
		n := 0
		eachSentence(p.text.Body, a.span, func(store.Span) { n++ })
		if n > 1 {
			eachSentence(p.text.Body, a.span, func(span store.Span) {
				part := p.inner(a, span)
				part.kind = parse.Paragraph
				for _, small := range p.shatter(part) {
					small.kind = a.kind
					out = append(out, small)
				}
			})
			return out
		}
	}
	return p.halve(a)
}

// halve cuts an atom near its middle until the parts are small.
func (p *packer) halve(a atom) []atom {
	if a.weight <= p.size || a.span.Len() < 2 {
		return []atom{a}
	}
	at := middle(p.text.Body, a.span)
	if at <= a.span.Start || at >= a.span.End {
		return []atom{a}
	}
	left := p.inner(a, store.Span{Start: a.span.Start, End: at})
	right := p.inner(a, store.Span{Start: at, End: a.span.End})
	return append(p.halve(left), p.halve(right)...)
}

// middle finds a place to cut: the blank nearest to the middle within its
// middle half, else the rune boundary at the middle.
func middle(text string, span store.Span) int {
	mid := span.Start + span.Len()/2
	for d := range span.Len() / 4 {
		for _, i := range []int{mid - d, mid + d} {
			if i > span.Start && i < span.End && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t') {
				return i
			}
		}
	}
	if at := runeStart(text, mid); at > span.Start {
		return at
	}
	for mid < span.End && text[mid]&0xc0 == 0x80 {
		mid++
	}
	return mid
}
