package bm25

import (
	"cmp"
	"container/heap"
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
	return strings.Compare(c.part.ids[c.chunk], d.part.ids[d.chunk])
}

// topK keeps the k best candidates; the worst of them is on top of the heap.
type topK struct {
	k    int
	heap worstFirst
}

func (t *topK) offer(c candidate) {
	if len(t.heap) < t.k {
		heap.Push(&t.heap, c)
		return
	}
	if c.score < t.heap[0].score || c.compare(t.heap[0]) >= 0 {
		return
	}
	t.heap[0] = c
	heap.Fix(&t.heap, 0)
}

// sorted returns the candidates best first.
func (t *topK) sorted() []candidate {
	slices.SortFunc(t.heap, candidate.compare)
	return t.heap
}

type worstFirst []candidate

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return h[i].compare(h[j]) > 0 }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(x any)        { *h = append(*h, x.(candidate)) }
func (h *worstFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
