package bm25

import (
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
)

// scoreStems adds the text's BM25L by some of the terms.
func (m *match) scoreStems(terms []termList) {
	avg := average(m.live.tokens, m.live.chunks)
	for _, term := range terms {
		for i, postings := range term.postings {
			if len(postings) == 0 {
				continue
			}
			p := &m.parts[i]
			for _, q := range postings {
				p.words[q.doc] += term.idf * bm25L(q.tf, lengthNorm(p.length[q.doc], avg))
			}
		}
	}
}

// scoreTitleField adds the BM25 of the title to every chunk under it.
func (m *match) scoreTitleField() {
	avg := average(m.live.titleTokens, m.live.chunks)
	for i := range m.parts {
		p := &m.parts[i]
		var touched []uint32
		for _, term := range m.stems {
			number := p.titles.stems.find(term.term)
			if number < 0 || term.df == 0 {
				continue
			}
			for _, q := range m.scratch.decode(p.titles.stems.list(number)) {
				if p.title[q.doc] == 0 {
					touched = append(touched, q.doc)
				}
				p.title[q.doc] += term.idf * bm25(q.tf, p.titles.length[q.doc], avg, titleFieldB)
			}
		}
		for _, title := range touched {
			for _, chunk := range p.titles.under(title) {
				p.words[chunk] += titleWeight * p.title[title]
			}
		}
	}
}

// scoreSurface sums the BM25 of unstemmed words.
func (m *match) scoreSurface() {
	avg := average(m.live.tokens, m.live.chunks)
	seen := make(map[string]bool)
	for _, w := range m.words {
		if seen[w.word] {
			continue
		}
		seen[w.word] = true
		list := m.stems[w.stem]
		if !w.cjk {
			list = m.surfaceList(w.word)
		}
		m.surface = append(m.surface, list)
		for i, postings := range list.postings {
			p := &m.parts[i]
			for _, q := range postings {
				sum := p.exact[q.doc] + list.idf*bm25(q.tf, p.length[q.doc], avg, fieldB)
				p.exact[q.doc] = sum
				if sum > m.mostExact && p.alive(q.doc) {
					m.mostExact = sum
				}
			}
		}
	}
}

// settle sets the units once all sums are complete.
func (m *match) settle() {
	words := 0.
	for i := range m.parts {
		for _, sum := range m.parts[i].words {
			if sum > words {
				words = sum
			}
		}
	}
	m.unit = 1 / m.most
	if m.mostExact > 0 {
		m.surfaceUnit = retrieval.SurfaceWeight / m.mostExact
	}
	m.mostHandedOn = retrieval.NeighbourWeight * (words*m.unit + retrieval.SurfaceWeight)
}

// scoreSingles adds the BM25 of the query's single CJK characters.
func (m *match) scoreSingles(text string) {
	avg := average(m.live.singles, m.live.chunks)
	seen := make(map[string]bool)
	for _, c := range analysis.AppendSingles(nil, text) {
		if seen[c] {
			continue
		}
		seen[c] = true
		list := m.list(c, func(p *part) []byte {
			if i := p.singles.find(c); i >= 0 {
				return p.singles.list(i)
			}
			return nil
		})
		m.singles = append(m.singles, list)
		for i, postings := range list.postings {
			p := &m.parts[i]
			for _, q := range postings {
				p.words[q.doc] += singleWeight * list.idf * bm25(q.tf, p.singleLength[q.doc], avg, fieldB)
			}
		}
	}
}
