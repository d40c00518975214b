package bm25

import (
	"cmp"
	"slices"
	"strings"
)

// ranked is a scored chunk.
type ranked struct {
	score float64
	part  *part
	chunk uint32
}

// compare orders chunks best first, equal scores by chunk id, and one id
// in several collections in the order of these.
func (c ranked) compare(d ranked) int {
	if c.score != d.score {
		return cmp.Compare(d.score, c.score)
	}
	if order := strings.Compare(c.part.ids.at(int(c.chunk)), d.part.ids.at(int(d.chunk))); order != 0 {
		return order
	}
	return cmp.Compare(c.part.ref(c.chunk), d.part.ref(d.chunk))
}

// topK keeps the k best chunks in a binary heap with the worst on top.
type topK struct {
	k    int
	heap []ranked
}

func (t *topK) full() bool { return len(t.heap) == t.k }

// threshold is the score below which nothing is among the k best.
func (t *topK) threshold() float64 {
	if !t.full() {
		return 0
	}
	return t.heap[0].score
}

func (t *topK) offer(c ranked) {
	if !t.full() {
		t.heap = append(t.heap, c)
		t.up(len(t.heap) - 1)
		return
	}
	if c.score >= t.heap[0].score && c.compare(t.heap[0]) < 0 {
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

// sorted returns the chunks best first.
func (t *topK) sorted() []ranked {
	slices.SortFunc(t.heap, ranked.compare)
	return t.heap
}
