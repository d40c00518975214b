package bm25

import (
	"context"
	"iter"
	"math/bits"
	"slices"

	"ragagent/retrieval"
)

// choice is the chunks of some documents in a snapshot of each of several
// collections. It implements retrieval.LexicalChoice and never changes.
type choice struct {
	index *Index
	snaps []*snapshot
	// chunks has the chosen ones of each view of each snapshot, dead ones not
	// among them.
	chunks [][]bitmap
	counts []int // per snapshot
}

// Choose implements retrieval.LexicalIndex.
func (x *Index) Choose(collections []string, documents map[string]retrieval.DocumentSet) retrieval.LexicalChoice {
	c := &choice{index: x, snaps: x.snapshots(collections)}
	for _, s := range c.snaps {
		set, known := documents[s.name]
		chunks, count := make([]bitmap, len(s.views)), 0
		for i, v := range s.views {
			chunks[i] = newBitmap(v.chunks())
			if known {
				count += v.choose(&set, chunks[i])
			}
		}
		c.chunks, c.counts = append(c.chunks, chunks), append(c.counts, count)
	}
	return c
}

// choose marks the live chunks of the documents in a set and counts them.
func (v *view) choose(set *retrieval.DocumentSet, chunks bitmap) (n int) {
	for i, number := range v.numbersIn(set.Numbering) {
		d := &v.documents[i]
		if !set.Documents.Has(number) || !v.alive(d.first) {
			continue
		}
		for chunk := d.first; chunk < d.first+d.count; chunk++ {
			chunks.set(chunk)
		}
		n += int(d.count)
	}
	return n
}

// numbered are the numbers of a segment's documents in a numbering. Neither
// changes: they are looked up once.
type numbered struct {
	in      *retrieval.Numbering
	numbers []uint32
}

// numbersIn returns the number of each document of the segment.
func (s *segment) numbersIn(n *retrieval.Numbering) []uint32 {
	if last, known := s.numbered.Load().(*numbered); known && last.in == n {
		return last.numbers
	}
	fresh := &numbered{in: n, numbers: make([]uint32, len(s.documents))}
	for i := range s.documents {
		fresh.numbers[i] = n.Number(s.documents[i].id)
	}
	s.numbered.Store(fresh)
	return fresh.numbers
}

// at returns the index of a collection's snapshot, -1 if it is not there.
func (c *choice) at(collection string) int {
	return slices.IndexFunc(c.snaps, func(s *snapshot) bool { return s.name == collection })
}

// Count implements retrieval.LexicalChoice.
func (c *choice) Count(collection string) (chosen, all int) {
	i := c.at(collection)
	if i < 0 {
		return 0, 0
	}
	return c.counts[i], c.snaps[i].live.chunks
}

// IDs implements retrieval.LexicalChoice.
func (c *choice) IDs(collection string) []string {
	i := c.at(collection)
	if i < 0 {
		return []string{}
	}
	ids := make([]string, 0, c.counts[i])
	for j, v := range c.snaps[i].views {
		for chunk := range c.chunks[i][j].all() {
			ids = append(ids, v.ids.at(int(chunk)))
		}
	}
	return ids
}

// Has implements retrieval.LexicalChoice.
func (c *choice) Has(collection, id string) bool {
	i := c.at(collection)
	if i < 0 {
		return false
	}
	for j, v := range c.snaps[i].views {
		if chunk := v.find(id); chunk >= 0 && v.alive(uint32(chunk)) {
			return c.chunks[i][j].has(uint32(chunk))
		}
	}
	return false
}

// Search implements retrieval.LexicalChoice.
func (c *choice) Search(ctx context.Context, text string) (retrieval.LexicalMatch, error) {
	m, err := c.index.search(ctx, c.snaps, text)
	if err != nil {
		return nil, err
	}
	m.choose(c)
	return m, nil
}

// choose limits what Top may return.
func (m *match) choose(c *choice) {
	m.limited = true
	next := 0
	for i, chunks := range c.chunks {
		for j := range chunks {
			m.parts[next].chosen = chunks[j]
			next++
		}
		m.chosen += c.counts[i]
	}
}

// fewChosen is how many chosen chunks for each that is asked for are so few
// that evaluating all of them is quicker than pruning.
const fewChosen = 8

// bestOfFew returns the k best of the chosen chunks by evaluating them all.
func (m *match) bestOfFew(k int) []ranked {
	top := m.scratch.topK(k)
	for i := range m.parts {
		m.offer(&top, i, slices.Collect(m.parts[i].chosen.all()))
	}
	return top.sorted()
}

// all yields the members in order.
func (b bitmap) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(i<<6 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
