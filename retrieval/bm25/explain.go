package bm25

import (
	"slices"

	"ragagent/retrieval"
)

// Explain implements retrieval.LexicalMatch. Its nodes add up to
// LexicalHit.Words; they are made of the same lists by the same formulas.
func (m *match) Explain(ref retrieval.ChunkRef) []retrieval.Explanation {
	index, chunk := m.at(ref)
	p := &m.parts[index]
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
		tf := term.in[part].tf(chunk)
		if tf == 0 {
			continue
		}
		value := weight * term.idf * gain(tf) / m.most
		node.Value += value
		node.Details = append(node.Details, retrieval.Explanation{
			Label: term.term,
			Value: value,
			Details: []retrieval.Explanation{
				{Label: "idf", Value: term.idf},
				{Label: "occurrences", Value: float64(tf)},
			},
		})
	}
	return node
}

func (m *match) explainTitle(p *part, chunk uint32) retrieval.Explanation {
	node := retrieval.Explanation{Label: "title"}
	if t := p.titleScore(chunk); t != nil {
		node.Value = titleWeight * t.field / m.most
	}
	return node
}

func (m *match) explainTitleMatch(p *part, chunk uint32) []retrieval.Explanation {
	t := p.titleScore(chunk)
	if t == nil || t.named == 0 {
		return nil
	}
	return []retrieval.Explanation{
		{Label: "title match", Value: titleMatchWeight * t.named / m.most},
		{Label: "title cover", Value: titleCoverWeight * m.cover(p, t)},
	}
}
