package bm25

import (
	"cmp"
	"slices"
	"sort"
)

// clause is one list of a part as a clause of score.
type clause struct {
	bound float64 // what no chunk gets more of
	list  list
	// Of words and characters: what they give is text*textGain(c) +
	// surface*surfaceGain(c), c being the occurrences normalised by length.
	text, surface float64
	lengths       []uint32
	norms         *norms
	// gain is what a pair gives a chunk; nil for words.
	gain func(q posting) float64
	// titles says that the clause is the titles' scores; the list is empty.
	titles bool
}

// textGain is bm25L, surfaceGain bm25 with the b of text, by c.
func textGain(c float64) float64 {
	c += textDelta
	return (textK1 + 1) * c / (textK1 + c)
}

func surfaceGain(c float64) float64 {
	return (k1 + 1) * c / (k1 + c)
}

// gainOf is what a word gives for its normalised occurrences.
func (c *clause) gainOf(occurrences float64) (gain float64) {
	if c.text > 0 {
		gain = c.text * textGain(occurrences)
	}
	if c.surface > 0 {
		gain += c.surface * surfaceGain(occurrences)
	}
	return gain
}

// order sorts clauses by what they can give, the most first, and returns what
// clauses[i:] can give together, for each i and the end. clauses[dense:] are
// those with dense lists, if they come after the others. Titles, of which the
// best give much and most next to nothing, come after the lists that seed: then
// there is a threshold.
func order(clauses []clause, k int) (left []float64, dense int) {
	slices.SortStableFunc(clauses, func(a, b clause) int { return cmp.Compare(b.bound, a.bound) })
	slices.SortStableFunc(clauses, func(a, b clause) int { return cmp.Compare(a.density(), b.density()) })
	dense = slices.IndexFunc(clauses, func(c clause) bool { return c.list.dense != nil })
	if dense < 0 {
		dense = len(clauses)
	}
	seeds := 0
	for i := 0; i+1 < dense && seeds < k; i++ {
		if clauses[i].titles {
			clauses[i], clauses[i+1] = clauses[i+1], clauses[i]
		}
		seeds += clauses[i].list.len()
	}
	left = make([]float64, len(clauses)+1)
	for i := len(clauses) - 1; i >= 0; i-- {
		left[i] = left[i+1] + clauses[i].bound
	}
	return left, dense
}

// density is 1 for a clause with a dense list, else 0.
func (c *clause) density() int {
	if c.list.dense != nil {
		return 1
	}
	return 0
}

// gainIn is what a posting gives.
func (c *clause) gainIn(q posting) float64 {
	if c.gain != nil {
		return c.gain(q)
	}
	return c.gainOf(float64(q.tf) * c.norms.of(c.lengths[q.doc]))
}

// leastFor returns a number of normalised occurrences below which a word gives
// less than enough.
func (c *clause) leastFor(enough float64) float64 {
	if c.gain != nil || enough <= 0 {
		return 0
	}
	level := sort.Search(len(levels), func(i int) bool { return c.gainOf(levels[i]) >= enough })
	if level == 0 {
		return 0
	}
	return levels[level-1]
}

// word is the clause of a word in a part, without weights.
func (m *match) word(t *termList, part int) clause {
	return clause{list: t.in[part], lengths: m.parts[part].length, norms: &m.scratch.norms}
}

// exactClauses are those of the sum of unstemmed words.
func (m *match) exactClauses(part int) []clause {
	clauses := m.scratch.clauses[:0]
	for i := range m.surface {
		t := &m.surface[i]
		if t.in[part].len() == 0 {
			continue
		}
		c := m.word(t, part)
		c.surface, c.bound = t.idf, t.idf*surfaceGain(t.most[part])
		clauses = append(clauses, c)
	}
	return clauses
}

// ownClauses are those of words and unstemmed words together, in the units of
// LexicalHit.
func (m *match) ownClauses(part int) []clause {
	clauses := m.appendWords(m.scratch.clauses[:0], part)
	p := &m.parts[part]
	for i := range m.pairs {
		t := &m.pairs[i]
		if t.in[part].len() == 0 {
			continue
		}
		c := clause{list: t.in[part], gain: func(q posting) float64 { return m.unit * m.pairGain(t, q.tf, p.length[q.doc]) }}
		for _, q := range c.list.postings {
			c.bound = max(c.bound, c.gain(q))
		}
		clauses = append(clauses, c)
	}
	for i := range m.singles {
		t := &m.singles[i]
		if t.in[part].len() == 0 {
			continue
		}
		weight := singleWeight * t.idf * m.unit
		clauses = append(clauses, clause{
			list: t.in[part], surface: weight, bound: weight * surfaceGain(t.most[part]),
			lengths: p.singleLength, norms: &m.scratch.singleNorms,
		})
	}
	if len(p.titled) > 0 {
		c := clause{titles: true}
		for i := range p.titled {
			gain, cover := m.titleGain(p, &p.titled[i])
			c.bound = max(c.bound, gain+cover)
		}
		clauses = append(clauses, c)
	}
	return clauses
}

// appendWords appends stems and unstemmed words; where the lists are one, so is
// the clause.
func (m *match) appendWords(clauses []clause, part int) []clause {
	for i := range m.stems {
		t := &m.stems[i]
		if t.in[part].len() == 0 {
			continue
		}
		c := m.word(t, part)
		c.text = t.idf * m.unit
		c.bound = c.text * textGain(t.most[part])
		clauses = append(clauses, c)
	}
	stems := len(clauses)
	for i := range m.surface {
		t := &m.surface[i]
		weight := t.idf * m.surfaceUnit
		if t.in[part].len() == 0 || weight == 0 {
			continue
		}
		bound := weight * surfaceGain(t.most[part])
		if same := slices.IndexFunc(clauses[:stems], func(c clause) bool { return c.list.same(&t.in[part]) }); same >= 0 {
			clauses[same].surface += weight
			clauses[same].bound += bound
			continue
		}
		c := m.word(t, part)
		c.surface, c.bound = weight, bound
		clauses = append(clauses, c)
	}
	return clauses
}

// titleGain is what a title gives but for its cover, and what that gives at most.
func (m *match) titleGain(p *part, t *titleScore) (gain, cover float64) {
	return m.unit * (titleWeight*t.field + titleMatchWeight*t.named), m.coverGain(m.mostCover(p, t))
}

func (m *match) coverGain(cover float64) float64 { return m.unit * titleCoverWeight * cover * m.most }
