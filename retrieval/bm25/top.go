package bm25

import (
	"cmp"
	"slices"

	"ragagent/retrieval"
)

// Top implements retrieval.LexicalMatch.
func (m *match) Top(k int) []retrieval.LexicalHit {
	if k <= 0 {
		return nil
	}
	best := m.best(k)
	hits := make([]retrieval.LexicalHit, len(best))
	for i, c := range best {
		hits[i] = m.hit(c.part, c.chunk)
	}
	clear(best) // they point to parts
	m.scratch.ranked = best[:0]
	return hits
}

// best returns the k best of the chunks that may be returned.
func (m *match) best(k int) []ranked {
	if m.limited && m.chosen <= fewChosen*k {
		return m.bestOfFew(k)
	}
	top := m.scratch.topK(k)
	for _, i := range m.largestFirst() {
		found := m.prune(i, m.ownClauses(i), pruning{k: k, handedOn: retrieval.NeighbourWeight, threshold: top.threshold()})
		m.offer(&top, i, m.withJoints(i, found))
	}
	return top.sorted()
}

// withJoints adds the eligible chunks of a part that have a neighbour in another:
// pruning does not know what that hands on to them.
func (m *match) withJoints(part int, chunks []uint32) []uint32 {
	p := &m.parts[part]
	for _, chunk := range m.jointed(p) {
		if p.eligible(chunk) && !slices.Contains(chunks, chunk) {
			chunks = append(chunks, chunk)
		}
	}
	return chunks
}

// offer evaluates chunks of a part and puts forward those with a matching word.
func (m *match) offer(top *topK, part int, chunks []uint32) {
	m.evaluateWithNeighbours(part, chunks)
	p := &m.parts[part]
	for _, chunk := range chunks {
		if p.valueOf(chunk).words > 0 {
			top.offer(ranked{m.score(p, chunk), p, chunk})
		}
	}
}

// largestFirst returns the indexes of the parts by their size: what the large
// ones have keeps most of the others out.
func (m *match) largestFirst() []int {
	order := make([]int, len(m.parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.parts[b].chunks(), m.parts[a].chunks()) })
	return order
}

// Hits implements retrieval.LexicalMatch.
func (m *match) Hits(refs []retrieval.ChunkRef) []retrieval.LexicalHit {
	byPart := make([][]uint32, len(m.parts))
	for _, ref := range refs {
		i, chunk := m.at(ref)
		byPart[i] = append(byPart[i], chunk)
	}
	for i, chunks := range byPart {
		m.evaluateWithNeighbours(i, chunks)
	}
	hits := make([]retrieval.LexicalHit, len(refs))
	for n, ref := range refs {
		i, chunk := m.at(ref)
		hits[n] = m.hit(&m.parts[i], chunk)
	}
	return hits
}

// Own implements retrieval.LexicalMatch.
func (m *match) Own(ref retrieval.ChunkRef) float64 {
	i, chunk := m.at(ref)
	m.evaluate(i, []uint32{chunk})
	return m.ownScore(&m.parts[i], chunk)
}

// hit returns a chunk that is evaluated with its neighbours.
func (m *match) hit(p *part, chunk uint32) retrieval.LexicalHit {
	v := p.valueOf(chunk)
	h := retrieval.LexicalHit{
		Ref:        p.ref(chunk),
		ID:         p.ids.at(int(chunk)),
		Collection: m.snaps[p.snap].name,
		Words:      v.words * m.unit,
		Surface:    v.exact * m.surfaceUnit,
		Before:     retrieval.NoChunk,
		After:      retrieval.NoChunk,
		Score:      m.score(p, chunk),
	}
	if q, before, ok := m.before(p, chunk); ok {
		h.Before = q.ref(before)
	}
	if q, after, ok := m.after(p, chunk); ok {
		h.After = q.ref(after)
	}
	return h
}

// ownScore is LexicalHit.Words and LexicalHit.Surface of an evaluated chunk
// together.
func (m *match) ownScore(p *part, chunk uint32) float64 {
	v := p.valueOf(chunk)
	return float64(v.words*m.unit) + float64(v.exact*m.surfaceUnit)
}

// score is LexicalHit.Score of a chunk that is evaluated with its neighbours.
func (m *match) score(p *part, chunk uint32) float64 {
	best := 0.
	if q, before, ok := m.before(p, chunk); ok {
		best = m.ownScore(q, before)
	}
	if q, after, ok := m.after(p, chunk); ok {
		best = max(best, m.ownScore(q, after))
	}
	return m.ownScore(p, chunk) + float64(retrieval.NeighbourWeight*best)
}
