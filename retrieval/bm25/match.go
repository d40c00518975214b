package bm25

import (
	"cmp"
	"context"
	"slices"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
)

// match is a query evaluated in one snapshot of each of several collections.
// It implements retrieval.LexicalMatch.
type match struct {
	parts   []part
	snaps   []*snapshot
	live    sizes // of all collections together
	titles  int   // distinct titles, counted per collection
	scratch *scratch

	words   []queryWord
	text    string     // of the query, its spelling repaired
	stems   []termList // per distinct term of words
	surface []termList // per distinct unstemmed word
	singles []termList
	pairs   []termList

	most      float64 // what the known terms can give: the unit of Words
	mostExact float64 // highest sum of unstemmed words in a live chunk
	// unit and surfaceUnit turn a part's sums into LexicalHit.Words and Surface.
	unit, surfaceUnit float64
	mostHandedOn      float64 // what no chunk gets more than from a neighbour
}

// part is one view of a snapshot with the sums of the query's scores.
type part struct {
	*view
	snap  int
	first retrieval.ChunkRef // of chunk 0
	words []float64          // per chunk: weighted sum of all fields but surface
	exact []float64          // per chunk: sum of unstemmed words
	title []float64          // per title: BM25 of the title field
	named []float64          // per title: title match
}

// termList is a term of a field with its postings in every part; dead chunks
// are among them but do not count.
type termList struct {
	term     string
	df       int
	idf      float64
	postings [][]posting // per part
}

// Search implements retrieval.LexicalIndex.
func (x *Index) Search(ctx context.Context, collections []string, text string) (retrieval.LexicalMatch, error) {
	m := newMatch(x.snapshots(collections))
	m.analyse(x.analyzer, text)
	steps := []func(){m.scoreTitleField, m.scorePairs, m.scoreTitleMatch, m.scoreSurface}
	if analysis.HasCJK(text) {
		steps = append(steps, func() { m.scoreSingles(text) })
	}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			m.Release()
			return nil, err
		}
		step()
	}
	m.settle()
	return m, nil
}

// TermWeights implements retrieval.LexicalIndex.
func (x *Index) TermWeights(collections []string, terms []string) []retrieval.TermWeight {
	snaps := x.snapshots(collections)
	chunks := 0
	for _, s := range snaps {
		chunks += s.live.chunks
	}
	var buf []posting
	weights := make([]retrieval.TermWeight, len(terms))
	for i, term := range terms {
		df := 0
		for _, s := range snaps {
			for _, v := range s.views {
				if n := v.stems.find(term); n >= 0 {
					df += v.liveDF(&v.stems, n, &buf)
				}
			}
		}
		weights[i] = retrieval.TermWeight{Term: term, IDF: idf(chunks, df), DF: df}
	}
	return weights
}

func newMatch(snaps []*snapshot) *match {
	m := &match{snaps: snaps, scratch: scratches.Get().(*scratch)}
	floats, chunks := 0, 0
	for i, s := range snaps {
		m.live = m.live.plus(s.live)
		m.titles += s.titles
		for _, v := range s.views {
			m.parts = append(m.parts, part{view: v, snap: i, first: retrieval.ChunkRef(chunks)})
			chunks += v.chunks()
			floats += 2*v.chunks() + 2*v.titles.count()
		}
	}
	m.scratch.reserve(floats)
	for i := range m.parts {
		p := &m.parts[i]
		p.words = m.scratch.zeros(p.chunks())
		p.exact = m.scratch.zeros(p.chunks())
		p.title = m.scratch.zeros(p.titles.count())
		p.named = m.scratch.zeros(p.titles.count())
	}
	return m
}

// Release implements retrieval.LexicalMatch.
func (m *match) Release() {
	if m.scratch != nil {
		scratches.Put(m.scratch)
		m.scratch = nil
		m.parts = nil
	}
}

// Terms implements retrieval.LexicalMatch.
func (m *match) Terms() []retrieval.TermWeight {
	terms := make([]retrieval.TermWeight, len(m.stems))
	for i, s := range m.stems {
		terms[i] = retrieval.TermWeight{Term: s.term, IDF: s.idf, DF: s.df}
	}
	return terms
}

// Text implements retrieval.LexicalMatch.
func (m *match) Text() string { return m.text }

// Holds implements retrieval.LexicalMatch.
func (m *match) Holds(ref retrieval.ChunkRef) []string {
	part, chunk := m.at(ref)
	held := make([]string, 0, len(m.stems))
	for i := range m.stems {
		if tf := m.stems[i].tf(part, uint32(chunk)); tf > 0 {
			held = append(held, m.stems[i].term)
		}
	}
	return held
}

// tf returns how often a chunk has the term.
func (l *termList) tf(part int, chunk uint32) uint32 {
	i, found := slices.BinarySearchFunc(l.postings[part], chunk, func(q posting, doc uint32) int {
		return cmp.Compare(q.doc, doc)
	})
	if !found {
		return 0
	}
	return l.postings[part][i].tf
}

// Find implements retrieval.LexicalMatch.
func (m *match) Find(id string) (retrieval.ChunkRef, bool) {
	for i := range m.parts {
		p := &m.parts[i]
		if chunk := p.find(id); chunk >= 0 && p.alive(uint32(chunk)) {
			return p.first + retrieval.ChunkRef(chunk), true
		}
	}
	return retrieval.NoChunk, false
}

// at returns the index of the part that holds a chunk, and its number there.
func (m *match) at(ref retrieval.ChunkRef) (index, chunk int) {
	i, found := slices.BinarySearchFunc(m.parts, ref, func(p part, ref retrieval.ChunkRef) int {
		return cmp.Compare(p.first, ref)
	})
	if !found {
		i--
	}
	return i, int(ref - m.parts[i].first)
}

// Hit implements retrieval.LexicalMatch.
func (m *match) Hit(ref retrieval.ChunkRef) retrieval.LexicalHit {
	i, chunk := m.at(ref)
	return m.hit(&m.parts[i], chunk)
}

func (m *match) hit(p *part, chunk int) retrieval.LexicalHit {
	h := retrieval.LexicalHit{
		Ref:        p.first + retrieval.ChunkRef(chunk),
		ID:         p.ids.at(chunk),
		Collection: m.snaps[p.snap].name,
		Words:      p.words[chunk] * m.unit,
		Surface:    p.exact[chunk] * m.surfaceUnit,
		Before:     retrieval.NoChunk,
		After:      retrieval.NoChunk,
	}
	if before := p.before(uint32(chunk)); before >= 0 {
		h.Before = p.first + retrieval.ChunkRef(before)
	}
	if after := p.after(uint32(chunk)); after >= 0 {
		h.After = p.first + retrieval.ChunkRef(after)
	}
	h.Score = m.score(p, chunk)
	return h
}

// ownScore is LexicalHit.Words and LexicalHit.Surface of a chunk together.
func (m *match) ownScore(p *part, chunk int) float64 {
	return p.words[chunk]*m.unit + p.exact[chunk]*m.surfaceUnit
}

// score is LexicalHit.Score of a chunk.
func (m *match) score(p *part, chunk int) float64 {
	best := 0.
	if before := p.before(uint32(chunk)); before >= 0 {
		best = m.ownScore(p, before)
	}
	if after := p.after(uint32(chunk)); after >= 0 {
		best = max(best, m.ownScore(p, after))
	}
	return m.ownScore(p, chunk) + retrieval.NeighbourWeight*best
}

// Top implements retrieval.LexicalMatch.
func (m *match) Top(k int) []retrieval.LexicalHit {
	if k <= 0 {
		return nil
	}
	top := topK{k: k}
	for i := range m.parts {
		m.offerPart(&top, &m.parts[i])
	}
	hits := make([]retrieval.LexicalHit, 0, len(top.heap))
	for _, c := range top.sorted() {
		hits = append(hits, m.hit(c.part, c.chunk))
	}
	return hits
}

// offerPart offers the chunks of a part that any word of the query is in.
func (m *match) offerPart(top *topK, p *part) {
	for chunk, words := range p.words {
		if words == 0 {
			continue
		}
		// Most chunks are too weak even if a neighbour hands on the most.
		if top.full() && m.ownScore(p, chunk)+m.mostHandedOn < top.heap[0].score {
			continue
		}
		if p.alive(uint32(chunk)) {
			top.offer(candidate{m.score(p, chunk), p, chunk})
		}
	}
}
