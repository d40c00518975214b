package chunk

import "ragagent/ingest/parse"

// pack makes pieces of a run. If it does not fit one piece, it is cut into
// pieces of about equal size, between blocks where possible.
func (s *splitter) pack(run []atom) {
	total := 0
	for _, a := range run {
		total += a.weight
	}
	if total <= s.most() && run[len(run)-1].span.End-run[0].span.Start <= s.maxBytes {
		s.emit(run)
		return
	}
	p := packer{splitter: s, left: total}
	p.aim()
	for _, a := range run {
		p.add(a)
	}
	p.end(len(p.cur))
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
	p.target = max(ceil(p.left, n), p.size/2)
}

// add takes the next atom. One that does not fit is cut if it is larger than a
// piece, or if the piece would stay less than half full without it.
func (p *packer) add(a atom) {
	switch {
	case p.fits(a):
		p.take(a)
	case a.weight > p.most() || cuttable(a.kind) && 2*p.weight < p.target && a.weight > p.size/2:
		p.units(a, func(part atom) {
			if !p.fits(part) {
				p.next(part, part.inside)
			}
			p.take(part)
		})
	default:
		p.next(a, a.inside) // a section may have been cut from inside a block
		p.take(a)
	}
}

// next ends the piece being filled to make room for a. Headings that there is
// no room for beside a become a piece of their own.
func (p *packer) next(a atom, cut bool) {
	p.flush(a, cut)
	if p.weight > 0 && p.weight+a.weight > p.most() || len(p.cur) > 0 && a.span.End-p.cur[0].span.Start > p.maxBytes {
		p.end(len(p.cur))
	}
}

// fits says that a belongs to the piece being filled: it does not pass the
// size, and brings the piece closer to its target.
func (p *packer) fits(a atom) bool {
	if len(p.cur) == 0 {
		return a.weight <= p.most()
	}
	if a.span.End-p.cur[0].span.Start > p.maxBytes {
		return false
	}
	after := p.weight + a.weight
	if after >= p.left || onlyHeadings(p.cur) { // the last of the run, or the first of its text
		return after <= p.most()
	}
	return after <= p.size && after-p.target <= p.target-p.weight
}

func (p *packer) take(a atom) {
	p.cur = append(p.cur, a)
	p.weight += a.weight
}

// flush ends the piece being filled before next. Headings at its end go to the
// next piece, and so does the caption of a table. cut says that next goes on
// with the block this piece ends in; the overlap is then repeated.
func (p *packer) flush(next atom, cut bool) {
	n := len(p.cur)
	for n > 0 && p.cur[n-1].leads(next) && !cut {
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
	if n == 0 {
		return
	}
	done, kept := p.cur[:n], p.cur[n:]
	p.emit(done)
	for _, a := range done[min(n, p.again):] {
		p.left -= a.weight
		p.weight -= a.weight
	}
	p.again = 0
	p.cur = append(p.cur[:0], kept...) // in place: no piece holds atoms
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

func onlyHeadings(atoms []atom) bool {
	for _, a := range atoms {
		if a.kind != parse.Heading {
			return false
		}
	}
	return true
}

// cuttable says that a block may be cut although it would fit a piece of its
// own.
func cuttable(k parse.Kind) bool {
	return k == parse.Paragraph || k == parse.Quote || k == parse.List
}
