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
	return m.list(term, func(p *part, _ int) ([]posting, float64) {
		i := p.stems.find(term)
		if i < 0 {
			return nil, 0
		}
		return m.scratch.decode(p.stems.list(i)), p.stems.mostOf(i, m.average(), p.average)
	})
}

// surfaceList finds an unstemmed word in title, headings and text. Where the
// list is that of its stem, it is the same slice.
func (m *match) surfaceList(w queryWord) termList {
	stem := &m.stems[w.stem]
	return m.list(w.word, func(p *part, part int) ([]posting, float64) {
		i := p.surface.find(w.word)
		if i < 0 {
			return nil, 0
		}
		if list := p.surface.list(i); len(list) > 0 {
			return m.scratch.decode(list), p.surface.mostOf(i, m.average(), p.average)
		}
		return stem.postings[part], stem.most[part]
	})
}

// list finds a term in every part.
func (m *match) list(term string, find func(p *part, part int) (postings []posting, most float64)) termList {
	l := termList{term: term, postings: make([][]posting, len(m.parts)), most: make([]float64, len(m.parts))}
	for i := range m.parts {
		p := &m.parts[i]
		l.postings[i], l.most[i] = find(p, i)
		l.df += p.count(l.postings[i])
	}
	l.idf = idf(m.live.chunks, l.df)
	return l
}

// average is the mean length of the live chunks.
func (m *match) average() float64 { return average(m.live.tokens, m.live.chunks) }

// count counts the postings of live chunks.
func (p *part) count(postings []posting) int {
	if p.dead == nil {
		return len(postings)
	}
	n := 0
	for _, q := range postings {
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
