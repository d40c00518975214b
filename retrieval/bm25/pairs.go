package bm25

import "math/bits"

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
	l := termList{term: m.stems[a].term + " " + m.stems[b].term, in: make([]list, len(m.parts))}
	for i := range m.parts {
		first, second := m.positioned(i, a), m.positioned(i, b)
		if first == nil || second == nil {
			continue
		}
		l.in[i].postings = adjacent(first, second)
		l.df += m.parts[i].count(&l.in[i])
	}
	l.idf = idf(m.live.chunks, l.df)
	return l
}

// positioned is a list with its positions, which are read in order.
type positioned struct {
	*list
	at        uint32 // the posting that positions are at
	positions positionReader
}

// positioned returns nil if the part has no such word.
func (m *match) positioned(part, stem int) *positioned {
	p := &m.parts[part]
	number := p.stems.find(m.stems[stem].term)
	if number < 0 {
		return nil
	}
	positions := p.stems.positionList(number)
	if len(positions) == 0 {
		return nil
	}
	return &positioned{list: &m.stems[stem].in[part], positions: positionReader{data: positions}}
}

// read returns the positions of the i-th posting; i never goes back.
func (l *positioned) read(dst []uint32, i uint32) []uint32 {
	skipped := uint32(0)
	if l.dense != nil {
		if i/offsetBlock > l.at/offsetBlock {
			l.at = i / offsetBlock * offsetBlock
			l.positions.at = int(l.dense.offsets[i/offsetBlock])
		}
		for ; l.at < i; l.at++ {
			skipped += l.dense.tfAt(l.at)
		}
		l.positions.skip(skipped)
		l.at++
		return l.positions.read(dst, l.dense.tfAt(i))
	}
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
	if a.dense != nil && b.dense != nil && a.dense.follows.code > 0 && b.dense.follows.code > 0 {
		return a.dense.followedBy(nil, b.dense.follows.code)
	}
	var out []posting
	var pa, pb []uint32
	common(a.list, b.list, func(doc, i, j uint32) {
		pa, pb = a.read(pa[:0], i), b.read(pb[:0], j)
		if tf := countAdjacent(pa, pb); tf > 0 {
			out = append(out, posting{doc, tf})
		}
	})
	return out
}

// common calls visit for every doc of two lists, with the number of its posting
// in each.
func common(a, b *list, visit func(doc, i, j uint32)) {
	switch {
	case a.dense != nil && b.dense != nil:
		i, j := 0, 0 // postings before the word
		for n, word := range a.dense.docs {
			other := b.dense.docs[n]
			for both := word & other; both != 0; both &= both - 1 {
				below := both&-both - 1
				visit(uint32(n*64+bits.OnesCount64(below)), uint32(i+bits.OnesCount64(word&below)), uint32(j+bits.OnesCount64(other&below)))
			}
			i += bits.OnesCount64(word)
			j += bits.OnesCount64(other)
		}
	case a.dense != nil:
		common(b, a, func(doc, j, i uint32) { visit(doc, i, j) })
	case b.dense != nil:
		for i, q := range a.postings {
			if b.dense.docs.has(q.doc) {
				visit(q.doc, uint32(i), b.dense.rank(q.doc))
			}
		}
	case len(a.postings) > len(b.postings):
		common(b, a, func(doc, j, i uint32) { visit(doc, i, j) })
	default:
		commonPostings(a.postings, b.postings, visit)
	}
}

// gallopShare is how many times longer one list has to be than another for it
// to pay to look for each doc of that instead of stepping through both.
const gallopShare = 8

// commonPostings is common for lists of which a is not the longer one.
func commonPostings(a, b []posting, visit func(doc, i, j uint32)) {
	j := 0
	for i, q := range a {
		if len(b) > gallopShare*len(a) {
			j += gallop(b[j:], q.doc)
		} else {
			for j < len(b) && b[j].doc < q.doc {
				j++
			}
		}
		if j == len(b) {
			return
		}
		if b[j].doc == q.doc {
			visit(q.doc, uint32(i), uint32(j))
		}
	}
}

// gallop returns how many postings at the beginning of a list are of docs
// before the given one, which is thought to be near.
func gallop(list []posting, doc uint32) int {
	step := 1
	for step < len(list) && list[step-1].doc < doc {
		step *= 2
	}
	from, to := step/2, min(step, len(list))
	return from + seek(list[from:to], doc)
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
