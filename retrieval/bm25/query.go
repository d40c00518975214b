package bm25

import (
	"slices"

	"ragagent/retrieval/analysis"
)

// queryWord is one word of the query, in the order they were written.
type queryWord struct {
	term string // analysed
	word string // before stemming
	cjk  bool
	stem int // index into match.stems
}

// analyse cuts the query into words, and repairs the spelling of those that no
// chunk has.
func (m *match) analyse(a *analysis.Analyzer, text string) {
	tokens := a.Analyze(text)
	m.words = make([]queryWord, len(tokens))
	for i, t := range tokens {
		m.words[i] = queryWord{term: t.Term, word: t.Word, cjk: t.CJK, stem: m.stem(t.Term)}
	}
	m.weighStems()
	m.text = m.repairWords(text, tokens)
	m.weighStems()
	m.dropUnused()
}

// dropUnused forgets the terms of words that were replaced.
func (m *match) dropUnused() {
	kept := make([]termList, 0, len(m.stems))
	for old := range m.stems {
		used := false
		for i := range m.words {
			if m.words[i].stem == old {
				m.words[i].stem = len(kept)
				used = true
			}
		}
		if used {
			kept = append(kept, m.stems[old])
		}
	}
	m.stems = kept
}

// stem returns the index of a term in m.stems, to which it adds a new one.
func (m *match) stem(term string) int {
	if i := slices.IndexFunc(m.stems, func(l termList) bool { return l.term == term }); i >= 0 {
		return i
	}
	m.stems = append(m.stems, m.stemList(term))
	return len(m.stems) - 1
}

// weighStems sums up what the known terms can give.
func (m *match) weighStems() {
	m.most = 0
	for _, s := range m.stems {
		if s.df > 0 {
			m.most += mostOfIDF * s.idf
		}
	}
	if m.most == 0 {
		m.most = 1 // no term is known, so every sum stays 0
	}
}

// stemList finds a term in title, headings and text.
func (m *match) stemList(term string) termList {
	return m.list(term, func(part int) (list, float64) {
		p := &m.parts[part]
		return m.listOf(&p.stems, p.stems.find(term), p.average)
	})
}

// surfaceList finds an unstemmed word in title, headings and text; the list may
// be that of its stem.
func (m *match) surfaceList(w queryWord) termList {
	stem := &m.stems[w.stem]
	return m.list(w.word, func(part int) (list, float64) {
		p := &m.parts[part]
		i := p.surface.find(w.word)
		if i >= 0 && len(p.surface.list(i)) == 0 {
			return stem.in[part], stem.most[part]
		}
		return m.listOf(&p.surface, i, p.average)
	})
}

// singleList finds a single CJK character.
func (m *match) singleList(character string) termList {
	return m.list(character, func(part int) (list, float64) {
		p := &m.parts[part]
		i := p.singles.find(character)
		if i < 0 {
			return list{}, 0
		}
		return m.scratch.list(&p.singles, i), p.singles.mostOf(i, average(m.live.singles, m.live.chunks), p.singleAverage)
	})
}

// listOf returns the list of a term, if it is there, and its bound.
func (m *match) listOf(f *field, term int, built float64) (list, float64) {
	if term < 0 {
		return list{}, 0
	}
	return m.scratch.list(f, term), f.mostOf(term, m.average(), built)
}

// list finds a term in every part.
func (m *match) list(term string, find func(part int) (in list, most float64)) termList {
	l := termList{term: term, in: make([]list, len(m.parts)), most: make([]float64, len(m.parts))}
	for i := range m.parts {
		l.in[i], l.most[i] = find(i)
		l.df += m.parts[i].count(&l.in[i])
	}
	l.idf = idf(m.live.chunks, l.df)
	return l
}

// average is the mean length of the live chunks.
func (m *match) average() float64 { return average(m.live.tokens, m.live.chunks) }

// count counts the postings of live chunks.
func (p *part) count(l *list) int {
	switch {
	case p.dead == nil:
		return l.len()
	case l.dense != nil:
		return l.dense.countWithout(p.dead)
	}
	n := 0
	for _, q := range l.postings {
		if !p.dead.has(q.doc) {
			n++
		}
	}
	return n
}

// stemOfSurface returns the stem of an unstemmed word that a chunk has.
func (m *match) stemOfSurface(word string) string {
	for i := range m.parts {
		p := &m.parts[i]
		if term := p.surface.find(word); term >= 0 {
			return p.stems.term(int(p.stemOf[term]))
		}
	}
	return word
}
