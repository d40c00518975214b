package bm25

import (
	"cmp"
	"slices"

	"ragagent/retrieval"
)

// Explain implements retrieval.LexicalMatch. Its nodes add up to
// LexicalHit.Words; they are made of the same lists by the same formulas.
func (m *match) Explain(ref retrieval.ChunkRef) []retrieval.Explanation {
	p, number := m.at(ref)
	chunk := uint32(number)
	index := slices.IndexFunc(m.parts, func(q part) bool { return q.first == p.first })
	avg := average(m.live.tokens, m.live.chunks)
	nodes := []retrieval.Explanation{
		m.explainTerms("text", m.stems, index, chunk, 1, func(tf uint32) float64 {
			return bm25L(tf, lengthNorm(p.length[chunk], avg))
		}),
		m.explainTitle(p, chunk),
		m.explainTerms("pairs", m.pairs, index, chunk, pairWeight, func(tf uint32) float64 {
			return bm25(tf, p.length[chunk], avg, fieldB)
		}),
		m.explainTerms("characters", m.singles, index, chunk, singleWeight, func(tf uint32) float64 {
			return bm25(tf, p.singleLength[chunk], average(m.live.singles, m.live.chunks), fieldB)
		}),
	}
	nodes = append(nodes, m.explainTitleMatch(p, chunk)...)
	return slices.DeleteFunc(nodes, func(e retrieval.Explanation) bool { return e.Value == 0 })
}

// explainTerms sums over the terms that a chunk has.
func (m *match) explainTerms(label string, terms []termList, part int, chunk uint32, weight float64, gain func(tf uint32) float64) retrieval.Explanation {
	node := retrieval.Explanation{Label: label}
	for _, term := range terms {
		postings := term.postings[part]
		i, found := slices.BinarySearchFunc(postings, chunk, func(q posting, doc uint32) int {
			return cmp.Compare(q.doc, doc)
		})
		if !found {
			continue
		}
		value := weight * term.idf * gain(postings[i].tf) / m.most
		node.Value += value
		node.Details = append(node.Details, retrieval.Explanation{
			Label: term.term,
			Value: value,
			Details: []retrieval.Explanation{
				{Label: "idf", Value: term.idf},
				{Label: "occurrences", Value: float64(postings[i].tf)},
			},
		})
	}
	return node
}

func (m *match) explainTitle(p *part, chunk uint32) retrieval.Explanation {
	node := retrieval.Explanation{Label: "title"}
	if title := p.titles.of[chunk]; title != noTitle {
		node.Value = titleWeight * p.title[title] / m.most
	}
	return node
}

func (m *match) explainTitleMatch(p *part, chunk uint32) []retrieval.Explanation {
	title := p.titles.of[chunk]
	if title == noTitle || p.named[title] == 0 {
		return nil
	}
	weights := titleWeights{m: m, idfs: make(map[string]float64)}
	return []retrieval.Explanation{
		{Label: "title match", Value: titleMatchWeight * p.named[title] / m.most},
		{Label: "title cover", Value: titleCoverWeight * weights.cover(p, title)},
	}
}
