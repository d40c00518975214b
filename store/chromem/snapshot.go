package chromem

import "iter"

// snapshot is one state of a collection. Nothing that is reachable through it
// changes once it is published.
type snapshot struct {
	views []view
	ids   *idTable
	live  int // rows that are shown
	dead  int // rows that are not, and still take memory
}

// view is what a snapshot shows of a segment.
type view struct {
	*segment         // nil for a place without a segment
	n        int     // rows in use; those after it are the writer's
	dead     *bitmap // removed rows; nil for none
	deadRows int
	sketch   *sketch // nil before there is one: then the codes are scanned
}

// bitmap marks the rows of a segment.
type bitmap [maxRows / 64]uint64

func (b *bitmap) has(row int) bool { return b != nil && b[row>>6]>>(row&63)&1 != 0 }

// block returns the marks of a block of rows.
func (b *bitmap) block(i int) uint32 {
	if b == nil {
		return 0
	}
	return uint32(b[i/2] >> (i % 2 * blockRows))
}

// shows tells whether the snapshot has a row there.
func (s *snapshot) shows(at slot) bool {
	i := at.segment()
	if i >= len(s.views) {
		return false
	}
	v := &s.views[i]
	return at.row() < v.n && !v.dead.has(at.row())
}

// find returns the row of an id.
func (s *snapshot) find(id string) (slot, bool) {
	for at := range s.ids.probe(id) {
		if s.shows(at) && s.id(at) == id {
			return at, true
		}
	}
	return 0, false
}

// idAt returns the place of the id at a slot, nil if the snapshot has no row
// there.
func (s *snapshot) idAt(at slot) *string {
	if at.segment() >= len(s.views) || at.row() >= s.views[at.segment()].n {
		return nil
	}
	return &s.views[at.segment()].ids[at.row()]
}

func (s *snapshot) id(at slot) string        { return s.views[at.segment()].ids[at.row()] }
func (s *snapshot) vector(at slot) []float32 { return s.views[at.segment()].vector(at.row()) }

// all yields every row that is shown.
func (s *snapshot) all() iter.Seq[slot] {
	return func(yield func(slot) bool) {
		for i := range s.views {
			v := &s.views[i]
			for row := range v.n {
				if !v.dead.has(row) && !yield(slotOf(i, row)) {
					return
				}
			}
		}
	}
}
