package bm25

import "math/bits"

// pruning finds the chunks of a part that may be among the k best without
// scoring all of them (MaxScore: Turtle and Flood 1995, list by list).
//
// The clauses are ordered by what they can give, the most first. Those first
// that hold at least k chunks make candidates of these; what the others give
// them completes their scores, and the k-th best is a threshold that the best
// chunks have to reach. Then each of the other clauses can bring in only what
// the threshold leaves a chance to a chunk that none of those before has, until
// the clauses that are left cannot reach it even together. Sums are in another
// order than evaluate's, so they are compared with room for rounding.
type pruning struct {
	m *match
	p *part
	k int
	// handedOn is the share of its score that the best neighbour may add.
	handedOn float64

	seeding    bool // until there are k candidates
	candidates []candidate
	threshold  float64 // the k-th best score is not lower
	highest    float64 // of candidates' scores so far, with what their covers may add
	counts     *[histogram]int32
}

// candidate is a chunk with the part of its score that is known.
type candidate struct {
	score float64
	cover float64 // what the cover of its title may add, which is not known yet
	chunk uint32
}

// rounding is more than sums in different orders differ by.
const rounding = 1e-9

// prune returns the eligible chunks of a part that may be among the k best by the
// clauses, and maybe others. r sets k, handedOn and threshold; what is returned
// is valid until the next call.
func (m *match) prune(part int, clauses []clause, r pruning) []uint32 {
	s := m.scratch
	r.m, r.p, r.candidates, r.counts = m, &m.parts[part], s.candidates[:0], &s.counts
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
	left, dense := order(clauses, r.k) // what clauses[i:] can give together
	if len(clauses)-dense > maxDense {
		dense = len(clauses)
	}
	next := 0
	for r.seeding = r.threshold == 0; next < dense && r.seeding; next++ {
		r.bringIn(&clauses[next], 0)
		r.seeding = len(r.candidates) < r.k
	}
	r.seeding = false
	r.complete(0, clauses, next, left)
	r.raise(left[0])
	for ; next < dense && r.enough(0, left[next]) <= left[next]; next++ {
		from := len(r.candidates)
		r.bringIn(&clauses[next], r.enough(0, left[next])-left[next+1])
		r.complete(from, clauses, next+1, left)
		r.raise(left[0])
	}
	if next == dense && dense < len(clauses) {
		r.bringInDense(clauses, dense, left)
	}
	r.drop(0, r.enough(0, 0))
	for i := range r.candidates {
		r.p.slot[r.candidates[i].chunk] = 0
	}
}

// bringInDense makes candidates of the chunks that clauses[dense:] can lift high
// enough: those that many of them have first, so that the threshold rises
// before the many that few have are looked at.
func (r *pruning) bringInDense(clauses []clause, dense int, left []float64) {
	if r.enough(0, left[dense]) > left[dense] {
		return
	}
	sums := &r.m.scratch.planes
	sums.set(clauses[dense:], left[dense])
	for score := left[dense]; ; score *= denseStep {
		enough := r.enough(0, left[dense])
		if score < clauses[len(clauses)-1].bound {
			score = 0
		}
		from := len(r.candidates)
		r.bringInSums(sums, max(score, enough))
		r.complete(from, clauses, dense, left)
		r.raise(left[0])
		if score <= r.enough(0, left[dense]) || score == 0 {
			return
		}
	}
}

// denseStep is by how much bringInDense lowers its sights.
const denseStep = .75

// bringInSums makes candidates of the eligible chunks that can get a score.
func (r *pruning) bringInSums(sums *planes, score float64) {
	steps := max(uint(max(score, 0)/sums.step), 1)
	for i := range sums.sums {
		word := sums.least(i, steps)
		if r.p.chosen != nil {
			word &= r.p.chosen[i]
		}
		for ; word != 0; word &= word - 1 {
			chunk := uint32(i*64 + bits.TrailingZeros64(word))
			if r.p.slot[chunk] == 0 && r.p.eligible(chunk) {
				r.insert(candidate{chunk: chunk})
			}
		}
	}
}

// complete adds to the candidates from the given one on what the clauses from
// next on give them, and drops those that cannot be among the best.
func (r *pruning) complete(from int, clauses []clause, next int, left []float64) {
	unseen := left[next]
	for ; next < len(clauses) && from < len(r.candidates); next++ {
		if from == 0 {
			r.raise(left[0])
		}
		r.drop(from, r.enough(left[next], unseen)-left[next])
		r.give(&clauses[next], from)
	}
	r.drop(from, r.enough(0, unseen))
	for i := range r.candidates[from:] {
		if c := &r.candidates[from+i]; c.cover > 0 {
			c.cover = 0
			r.add(c, r.m.coverGain(r.m.cover(r.p, r.p.titleScore(c.chunk))))
		}
	}
}

// enough is what the score of a chunk without its neighbour's share has to be.
// Candidates may get as much more as missing; a chunk that is none has at most
// unseen, or less than the threshold.
func (r *pruning) enough(missing, unseen float64) float64 {
	neighbour := max(r.highest+missing, unseen, r.threshold)
	return r.threshold*(1-rounding) - r.handedOn*neighbour
}

// drop forgets those candidates from the given one on that have less than
// enough.
func (r *pruning) drop(from int, enough float64) {
	if enough <= 0 {
		return
	}
	kept := r.candidates[:from]
	for _, c := range r.candidates[from:] {
		if c.score+c.cover < enough {
			r.p.slot[c.chunk] = 0
			continue
		}
		kept = append(kept, c)
		r.p.slot[c.chunk] = uint32(len(kept))
	}
	r.candidates = kept
}

// bringIn makes candidates of the eligible chunks of a clause that get enough of it
// and are none yet, and, while seeding, adds to those that are what it gives
// them.
func (r *pruning) bringIn(c *clause, enough float64) {
	if c.titles {
		r.bringInTitles(enough)
		return
	}
	least := c.leastFor(enough)
	for q := range c.list.all() {
		if i := r.p.slot[q.doc]; i != 0 {
			if r.seeding {
				r.add(&r.candidates[i-1], c.gainIn(q))
			}
			continue
		}
		if r.p.chosen != nil && !r.p.chosen.has(q.doc) {
			continue
		}
		if least > 0 && float64(q.tf)*c.norms.of(c.lengths[q.doc]) < least {
			continue
		}
		if gain := c.gainIn(q); gain >= enough && r.p.eligible(q.doc) {
			r.insert(candidate{chunk: q.doc, score: gain})
		}
	}
}

func (r *pruning) bringInTitles(enough float64) {
	for i := range r.p.titled {
		gain, cover := r.m.titleGain(r.p, &r.p.titled[i])
		if gain+cover < enough {
			continue
		}
		for _, chunk := range r.p.titles.under(r.p.titled[i].title) {
			if i := r.p.slot[chunk]; i != 0 {
				if r.seeding {
					r.candidates[i-1].cover = cover
					r.add(&r.candidates[i-1], gain)
				}
			} else if r.p.eligible(chunk) {
				r.insert(candidate{chunk: chunk, score: gain, cover: cover})
			}
		}
	}
}

func (r *pruning) insert(c candidate) {
	r.candidates = append(r.candidates, c)
	r.p.slot[c.chunk] = uint32(len(r.candidates))
	r.highest = max(r.highest, c.score+c.cover)
}

func (r *pruning) add(c *candidate, gain float64) {
	c.score += gain
	r.highest = max(r.highest, c.score+c.cover)
}

// searchShare is how many times longer than the number of chunks a list has to
// be for it to pay to search it for each of them.
const searchShare = 40

// give adds what a clause gives to the candidates from the given one on.
func (r *pruning) give(c *clause, from int) {
	candidates := r.candidates[from:]
	switch {
	case c.titles:
		for i := range candidates {
			if t := r.p.titleScore(candidates[i].chunk); t != nil {
				gain := 0.
				gain, candidates[i].cover = r.m.titleGain(r.p, t)
				r.add(&candidates[i], gain)
			}
		}
	case c.list.dense != nil, c.list.len() > searchShare*len(candidates):
		for i := range candidates {
			chunk := candidates[i].chunk
			if tf := c.list.tf(chunk); tf > 0 {
				r.add(&candidates[i], c.gainIn(posting{chunk, tf}))
			}
		}
	default:
		slot := r.p.slot
		for _, q := range c.list.postings {
			if i := int(slot[q.doc]); i > from {
				r.add(&r.candidates[i-1], c.gainIn(q))
			}
		}
	}
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
