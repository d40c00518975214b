package bm25

import (
	"cmp"
	"slices"
)

// clause is one list of a part as a clause of score: what it gives a chunk is
// a sum of gains of the term's occurrences, or known chunk by chunk.
type clause struct {
	bound float64 // what no chunk gets more of
	list  []posting
	// Of a word: what it gives is text*textGain(c) + surface*surfaceGain(c).
	text, surface float64
	// gain is what another list gives a chunk; nil for words.
	gain func(chunk, tf uint32) float64
	// titles says that the clause is the titles' scores; list is empty.
	titles func(*titleScore) float64
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
// clauses[i:] can give together, for each i and the end.
func order(clauses []clause) (left []float64) {
	slices.SortStableFunc(clauses, func(a, b clause) int { return cmp.Compare(b.bound, a.bound) })
	left = make([]float64, len(clauses)+1)
	for i := len(clauses) - 1; i >= 0; i-- {
		left[i] = left[i+1] + clauses[i].bound
	}
	return left
}

// exactClauses are those of the sum of unstemmed words.
func (m *match) exactClauses(part int) []clause {
	clauses := m.scratch.clauses[:0]
	for i := range m.surface {
		t := &m.surface[i]
		if list := t.postings[part]; len(list) > 0 {
			clauses = append(clauses, clause{bound: t.idf * surfaceGain(t.most[part]), list: list, surface: t.idf})
		}
	}
	return clauses
}

// ownClauses are those of words and unstemmed words together, in the units of
// LexicalHit.
func (m *match) ownClauses(part int) []clause {
	clauses := m.scratch.clauses[:0]
	for i := range m.stems {
		t := &m.stems[i]
		if list := t.postings[part]; len(list) > 0 {
			clauses = append(clauses, clause{bound: t.idf * m.unit * textGain(t.most[part]), list: list, text: t.idf * m.unit})
		}
	}
	stems := clauses
	for i := range m.surface {
		t := &m.surface[i]
		list, weight := t.postings[part], t.idf*m.surfaceUnit
		if len(list) == 0 || weight == 0 {
			continue
		}
		bound := weight * surfaceGain(t.most[part])
		if same := slices.IndexFunc(stems, func(s clause) bool { return &s.list[0] == &list[0] }); same >= 0 {
			stems[same].surface += weight
			stems[same].bound += bound
			continue
		}
		clauses = append(clauses, clause{bound: bound, list: list, surface: weight})
	}
	p := &m.parts[part]
	for i := range m.pairs {
		clauses = m.appendCounted(clauses, m.pairs[i].postings[part], func(chunk, tf uint32) float64 {
			return m.unit * m.pairGain(&m.pairs[i], tf, p.length[chunk])
		})
	}
	for i := range m.singles {
		clauses = m.appendCounted(clauses, m.singles[i].postings[part], func(chunk, tf uint32) float64 {
			return m.unit * m.singleGain(&m.singles[i], tf, p.singleLength[chunk])
		})
	}
	return m.appendTitles(clauses, p)
}

// appendCounted appends a list whose bound is the highest of its gains.
func (m *match) appendCounted(clauses []clause, list []posting, gain func(chunk, tf uint32) float64) []clause {
	if len(list) == 0 {
		return clauses
	}
	s := clause{list: list, gain: gain}
	for _, q := range list {
		s.bound = max(s.bound, gain(q.doc, q.tf))
	}
	return append(clauses, s)
}

func (m *match) appendTitles(clauses []clause, p *part) []clause {
	if len(p.titled) == 0 {
		return clauses
	}
	s := clause{titles: func(t *titleScore) float64 { return m.unit * (titleWeight*t.field + m.titleMatchGain(t)) }}
	for i := range p.titled {
		s.bound = max(s.bound, s.titles(&p.titled[i]))
	}
	return append(clauses, s)
}
