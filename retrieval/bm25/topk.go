package bm25

import (
	"cmp"
	"slices"
	"strings"
)

// candidate is a scored chunk.
type candidate struct {
	score float64
	part  *part
	chunk int
}

// compare orders candidates best first, equal scores by chunk id.
func (c candidate) compare(d candidate) int {
	if c.score != d.score {
		return cmp.Compare(d.score, c.score)
	}
	return strings.Compare(c.part.ids.at(c.chunk), d.part.ids.at(d.chunk))
}

// topK keeps the k best candidates in a binary heap with the worst on top.
type topK struct {
	k    int
	heap []candidate
}

func (t *topK) full() bool { return len(t.heap) == t.k }

func (t *topK) offer(c candidate) {
	if !t.full() {
		t.heap = append(t.heap, c)
		t.up(len(t.heap) - 1)
		return
	}
	if c.compare(t.heap[0]) < 0 {
		t.heap[0] = c
		t.down()
	}
}

func (t *topK) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.heap[i].compare(t.heap[parent]) <= 0 {
			return
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

func (t *topK) down() {
	for i := 0; ; {
		worst := 2*i + 1
		if worst >= len(t.heap) {
			return
		}
		if right := worst + 1; right < len(t.heap) && t.heap[right].compare(t.heap[worst]) > 0 {
			worst = right
		}
		if t.heap[worst].compare(t.heap[i]) <= 0 {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

// sorted returns the candidates best first.
func (t *topK) sorted() []candidate {
	slices.SortFunc(t.heap, candidate.compare)
	return t.heap
}
