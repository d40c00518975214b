package bm25

import (
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
)

// findSurface finds the unstemmed words, and the highest sum that they reach.
func (m *match) findSurface() {
	seen := make(map[string]bool)
	for _, w := range m.words {
		if seen[w.word] {
			continue
		}
		seen[w.word] = true
		list := m.stems[w.stem]
		if !w.cjk {
			list = m.surfaceList(w)
		}
		m.surface = append(m.surface, list)
	}
}

// findSingles finds the query's single CJK characters.
func (m *match) findSingles(text string) {
	seen := make(map[string]bool)
	for _, c := range analysis.AppendSingles(nil, text) {
		if seen[c] {
			continue
		}
		seen[c] = true
		m.singles = append(m.singles, m.singleList(c))
	}
}

// settle sets the units once all lists are found.
func (m *match) settle() {
	m.unit = 1 / m.most
	for i := range m.parts {
		found := m.prune(i, m.exactClauses(i), pruning{k: 1, threshold: m.mostExact})
		m.evaluate(i, found)
		for _, chunk := range found {
			m.mostExact = max(m.mostExact, m.parts[i].valueOf(chunk).exact)
		}
	}
	if m.mostExact > 0 {
		m.surfaceUnit = retrieval.SurfaceWeight / m.mostExact
	}
}
