package bm25

import (
	"cmp"
	"iter"
	"slices"
)

// A document that is too long for one segment is in several, a piece in each. A
// change puts in or takes out all of them at once, so no snapshot has a part of
// a document. The last chunk of a piece and the first of the next one are
// neighbours as if they stood side by side: a snapshot knows these as joints.

func (p place) document() *document { return &p.segment.documents[p.index] }

// pieces yields those of a document in order; none if it is not there.
func (c *collection) pieces(document string) iter.Seq[place] {
	return func(yield func(place) bool) {
		first, ok := c.documents[document]
		if !ok || !yield(first) {
			return
		}
		for _, p := range c.rest[document] {
			if !yield(p) {
				return
			}
		}
	}
}

// put notes where a document or a piece of one is.
func (c *collection) put(p place) {
	d := p.document()
	if d.offset == 0 {
		c.documents[d.id] = p
		return
	}
	places := append(c.rest[d.id], p)
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.document().offset, b.document().offset) })
	c.rest[d.id] = places
}

// move notes that a document, or a piece of one, has come to a segment from
// those that are gone.
func (c *collection) move(to *segment, index uint32, gone map[*segment]bool) {
	id := to.documents[index].id
	if rest, ok := c.rest[id]; ok {
		rest = slices.DeleteFunc(rest, func(p place) bool { return gone[p.segment] })
		if len(rest) == 0 {
			delete(c.rest, id)
		} else {
			c.rest[id] = rest
		}
	}
	c.put(place{to, index})
}

// whole says whether so many pieces make every document that the collection
// has once, from its first chunk on.
func (c *collection) whole(pieces int) bool {
	n := len(c.documents)
	for id, rest := range c.rest {
		last, ok := c.documents[id]
		if !ok {
			return false
		}
		for _, p := range rest {
			if !p.document().follows(last.document()) {
				return false
			}
			last = p
		}
		n += len(rest)
	}
	return n == pieces
}

// spot is a chunk of a snapshot.
type spot struct {
	view  int
	chunk uint32
}

// joints are the neighbours that do not stand side by side.
type joints struct {
	before, after map[spot]spot
}

// joints returns those of views; nil if there are none.
func (c *collection) joints(views []*view) *joints {
	if len(c.rest) == 0 {
		return nil
	}
	number := make(map[*segment]int, len(views))
	for i, v := range views {
		number[v.segment] = i
	}
	j := &joints{before: make(map[spot]spot), after: make(map[spot]spot)}
	for id := range c.rest {
		var last *spot
		for p := range c.pieces(id) {
			d, view := p.document(), number[p.segment]
			first := spot{view, d.first}
			if last != nil {
				j.after[*last], j.before[first] = first, *last
			}
			last = &spot{view, d.first + d.count - 1}
		}
	}
	return j
}
