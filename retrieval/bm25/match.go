package bm25

import (
	"context"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
)

// match is a query evaluated in one snapshot of each of several collections.
// It implements retrieval.LexicalMatch. Search finds the lists of the query's
// words; chunks are scored when they are asked for.
type match struct {
	parts []part
	snaps []*snapshot
	// limited says that Top may return the chosen chunks of each part only;
	// chosen is how many they are.
	limited bool
	chosen  int
	weights *titleWeights
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
	// unit and surfaceUnit turn a value's sums into LexicalHit.Words and Surface.
	unit, surfaceUnit float64
}

// termList is a term of a field with its postings in every part; dead chunks
// are among them but do not count.
type termList struct {
	term string
	df   int
	idf  float64
	in   []list    // per part
	most []float64 // per part: the highest normalised occurrences, see bound.go
}

// Search implements retrieval.LexicalIndex.
func (x *Index) Search(ctx context.Context, collections []string, text string) (retrieval.LexicalMatch, error) {
	m, err := x.search(ctx, x.snapshots(collections), text)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (x *Index) search(ctx context.Context, snaps []*snapshot, text string) (*match, error) {
	m := newMatch(snaps)
	m.analyse(x.analyzer, text)
	steps := []func(){m.scoreTitles, m.findPairs, m.findSurface}
	if analysis.HasCJK(text) {
		steps = append(steps, func() { m.findSingles(text) })
	}
	for _, step := range append(steps, m.settle) {
		if err := ctx.Err(); err != nil {
			m.Release()
			return nil, err
		}
		step()
	}
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
	zeros, chunks := 0, 0
	for i, s := range snaps {
		m.live = m.live.plus(s.live)
		m.titles += s.titles
		views := len(m.parts)
		for _, v := range s.views {
			m.parts = append(m.parts, part{view: v, snap: i, views: views, first: retrieval.ChunkRef(chunks)})
			chunks += v.chunks()
			zeros += 2*v.chunks() + v.titles.count()
		}
	}
	m.scratch.reserve(zeros)
	if more := len(m.parts) - len(m.scratch.found); more > 0 {
		m.scratch.found = append(m.scratch.found, make([]found, more)...)
	}
	m.scratch.norms.set(m.average())
	m.scratch.singleNorms.set(average(m.live.singles, m.live.chunks))
	for i := range m.parts {
		p := &m.parts[i]
		p.slot = m.scratch.zeros(p.chunks())
		p.value = m.scratch.zeros(p.chunks())
		p.title = m.scratch.zeros(p.titles.count())
		p.values, p.titled = m.scratch.found[i].values[:0], m.scratch.found[i].titled[:0]
	}
	return m
}

// Release implements retrieval.LexicalMatch.
func (m *match) Release() {
	if m.scratch == nil {
		return
	}
	for i := range m.parts {
		m.parts[i].release()
		m.scratch.found[i] = found{m.parts[i].values, m.parts[i].titled}
	}
	scratches.Put(m.scratch)
	m.scratch = nil
	m.parts = nil
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
		if tf := m.stems[i].in[part].tf(chunk); tf > 0 {
			held = append(held, m.stems[i].term)
		}
	}
	return held
}

// Find implements retrieval.LexicalMatch.
func (m *match) Find(id string) (retrieval.ChunkRef, bool) {
	for i := range m.parts {
		p := &m.parts[i]
		if chunk := p.find(id); chunk >= 0 && p.alive(uint32(chunk)) {
			return p.ref(uint32(chunk)), true
		}
	}
	return retrieval.NoChunk, false
}
