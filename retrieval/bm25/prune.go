package bm25

// pruning finds the chunks of a part that may be among the k best without
// scoring all of them (MaxScore: Turtle and Flood 1995, list by list).
//
// The lists are taken in descending order of what they can give. While a chunk
// that is in none of those taken could still be among the best, every chunk of
// a list becomes a candidate. From then on a list only adds to candidates, and
// those that what is left cannot lift high enough are dropped. Sums are in
// another order than evaluate's and so are only bounds, with room for rounding.
type pruning struct {
	p     *part
	norms *norms
	k     int
	// handedOn is the share of its score that the best neighbour may add.
	handedOn float64

	candidates []candidate
	threshold  float64 // the k-th best score is not lower
	highest    float64 // of candidates' scores so far
	left       float64 // what the lists not taken can give together
	unseen     float64 // what a chunk that is no candidate has at most
	counts     *[histogram]int32
}

// candidate is a chunk with the part of its score that is known.
type candidate struct {
	chunk uint32
	score float64
}

// rounding is more than sums in different orders differ by.
const rounding = 1e-9

// prune returns the chunks of a part that may be among the k best by the
// clauses, and maybe others. r sets k, handedOn and threshold; what is returned
// is valid until the next call.
func (m *match) prune(part int, clauses []clause, r pruning) []uint32 {
	s := m.scratch
	r.p, r.norms, r.candidates, r.counts = &m.parts[part], &s.norms, s.candidates[:0], &s.counts
	r.run(clauses)
	s.candidates, s.clauses = r.candidates, clauses[:0]
	s.chunks = s.chunks[:0]
	for _, c := range r.candidates {
		s.chunks = append(s.chunks, c.chunk)
	}
	return s.chunks
}

// run collects the candidates. The part's slots are 0 before and after.
func (r *pruning) run(clauses []clause) {
	byBound(clauses)
	for i := range clauses {
		r.left += clauses[i].bound
	}
	scale := r.left
	open := true
	for i := range clauses {
		if open && r.enough() > 0 {
			open = false
			r.unseen = r.left
		}
		if !open {
			r.drop()
		}
		r.take(&clauses[i], open)
		r.left -= clauses[i].bound
		r.raise(scale)
	}
	r.left = 0
	r.drop()
	for i := range r.candidates {
		r.p.slot[r.candidates[i].chunk] = 0
	}
}

// enough is what the known part of a chunk's score has to be for it to be among
// the best.
func (r *pruning) enough() float64 {
	neighbour := max(r.highest+r.left, r.unseen)
	return r.threshold*(1-rounding) - r.left - r.handedOn*neighbour
}

// drop forgets the candidates that cannot be among the best.
func (r *pruning) drop() {
	if r.threshold == 0 {
		return
	}
	enough := r.enough()
	kept := r.candidates[:0]
	for _, c := range r.candidates {
		if c.score < enough {
			r.unseen = max(r.unseen, c.score+r.left)
			r.p.slot[c.chunk] = 0
			continue
		}
		kept = append(kept, c)
		r.p.slot[c.chunk] = uint32(len(kept))
	}
	r.candidates = kept
}

// take adds what a clause gives. If open, chunks become candidates.
func (r *pruning) take(s *clause, open bool) {
	switch {
	case s.titles != nil:
		r.takeTitles(s, open)
	case !open && len(s.list) > scanShare*len(r.candidates):
		r.lookUp(s)
	default:
		r.scan(s, open)
	}
}

// scan goes through the whole list.
func (r *pruning) scan(s *clause, open bool) {
	slot, dead := r.p.slot, r.p.dead
	for _, q := range s.list {
		i := slot[q.doc]
		if i == 0 {
			if !open || dead != nil && dead.has(q.doc) {
				continue
			}
			r.candidates = append(r.candidates, candidate{chunk: q.doc})
			i = uint32(len(r.candidates))
			slot[q.doc] = i
		}
		r.add(&r.candidates[i-1], r.gain(s, q))
	}
}

// lookUp searches a long list for the candidates. They are not in order, so
// every search begins anew.
func (r *pruning) lookUp(s *clause) {
	for i := range r.candidates {
		c := &r.candidates[i]
		if n := gallop(s.list, c.chunk); n < len(s.list) && s.list[n].doc == c.chunk {
			r.add(c, r.gain(s, s.list[n]))
		}
	}
}

func (r *pruning) takeTitles(s *clause, open bool) {
	if !open {
		for i := range r.candidates {
			if t := r.p.titleScore(r.candidates[i].chunk); t != nil {
				r.add(&r.candidates[i], s.titles(t))
			}
		}
		return
	}
	for i := range r.p.titled {
		gain := s.titles(&r.p.titled[i])
		for _, chunk := range r.p.titles.under(r.p.titled[i].title) {
			if r.p.slot[chunk] == 0 {
				if !r.p.alive(chunk) {
					continue
				}
				r.candidates = append(r.candidates, candidate{chunk: chunk})
				r.p.slot[chunk] = uint32(len(r.candidates))
			}
			r.add(&r.candidates[r.p.slot[chunk]-1], gain)
		}
	}
}

// gain is what a posting gives.
func (r *pruning) gain(s *clause, q posting) float64 {
	if s.gain != nil {
		return s.gain(q.doc, q.tf)
	}
	c := float64(q.tf) * r.norms.of(r.p.length[q.doc])
	gain := 0.
	if s.text > 0 {
		gain = s.text * textGain(c)
	}
	if s.surface > 0 {
		gain += s.surface * surfaceGain(c)
	}
	return gain
}

func (r *pruning) add(c *candidate, gain float64) {
	c.score += gain
	r.highest = max(r.highest, c.score)
}

// histogram is how many steps of score raise tells apart.
const histogram = 1024

// raise lifts the threshold to the step in which the k-th best candidate is.
// scale is more than any score.
func (r *pruning) raise(scale float64) {
	if len(r.candidates) < r.k || scale == 0 {
		return
	}
	clear(r.counts[:])
	steps := (histogram - 1) / scale
	for i := range r.candidates {
		r.counts[min(int(r.candidates[i].score*steps), histogram-1)]++
	}
	better := int32(0)
	for step := histogram - 1; step > 0; step-- {
		better += r.counts[step]
		if int(better) >= r.k {
			r.threshold = max(r.threshold, float64(step)/steps)
			return
		}
	}
}
