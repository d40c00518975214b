package bm25

// findPairs finds adjacent words: pairs of the query's words that stand side by
// side in a chunk too, stop words left out in both, are terms of their own.
func (m *match) findPairs() {
	type pair struct{ a, b int }
	seen := make(map[pair]bool)
	for i := 1; i < len(m.words); i++ {
		a, b := m.words[i-1], m.words[i]
		if a.cjk || b.cjk || seen[pair{a.stem, b.stem}] {
			continue
		}
		seen[pair{a.stem, b.stem}] = true
		if list := m.pairList(a.stem, b.stem); list.df > 0 {
			m.pairs = append(m.pairs, list)
		}
	}
}

// pairList finds the chunks in which stem b follows stem a.
func (m *match) pairList(a, b int) termList {
	l := termList{term: m.stems[a].term + " " + m.stems[b].term, postings: make([][]posting, len(m.parts))}
	for i := range m.parts {
		p := &m.parts[i]
		first, second := m.listWithPositions(i, a), m.listWithPositions(i, b)
		if first == nil || second == nil {
			continue
		}
		l.postings[i] = adjacent(first, second)
		l.df += p.count(l.postings[i])
	}
	l.idf = idf(m.live.chunks, l.df)
	return l
}

// positioned is a posting list with its positions.
type positioned struct {
	postings  []posting
	at        int // the posting that positions are at
	positions positionReader
}

// listWithPositions returns nil if the part has no such word.
func (m *match) listWithPositions(part, stem int) *positioned {
	p := &m.parts[part]
	number := p.stems.find(m.stems[stem].term)
	if number < 0 {
		return nil
	}
	positions := p.stems.positionList(number)
	if len(positions) == 0 {
		return nil
	}
	return &positioned{postings: m.stems[stem].postings[part], positions: positionReader{data: positions}}
}

// read returns the positions of the i-th posting; i never goes back.
func (l *positioned) read(dst []uint32, i int) []uint32 {
	skipped := uint32(0)
	for ; l.at < i; l.at++ {
		skipped += l.postings[l.at].tf
	}
	l.positions.skip(skipped)
	l.at++
	return l.positions.read(dst, l.postings[i].tf)
}

// adjacent returns the docs in which a position of b follows one of a, with
// the number of times.
func adjacent(a, b *positioned) []posting {
	var out []posting
	var pa, pb []uint32
	for i, j := 0, 0; i < len(a.postings) && j < len(b.postings); {
		da, db := a.postings[i].doc, b.postings[j].doc
		switch {
		case da < db:
			i++
		case da > db:
			j++
		default:
			pa, pb = a.read(pa[:0], i), b.read(pb[:0], j)
			if tf := countAdjacent(pa, pb); tf > 0 {
				out = append(out, posting{da, tf})
			}
			i++
			j++
		}
	}
	return out
}

// countAdjacent counts the x of a, ascending, for which b has x+1.
func countAdjacent(a, b []uint32) uint32 {
	n, j := uint32(0), 0
	for _, x := range a {
		for j < len(b) && b[j] <= x {
			j++
		}
		if j < len(b) && b[j] == x+1 {
			n++
		}
	}
	return n
}
