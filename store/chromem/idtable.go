package chromem

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"sync/atomic"
)

// idTable leads from an id to the slots that hold it or held it: an
// open-addressing hash table that one writer adds to while searches read. It
// is never wrong for a snapshot, only generous: whoever asks checks that his
// snapshot shows the slot and that the id is there. Entries are not removed;
// the table is made anew from what is live when it is full.
type idTable struct {
	seed    maphash.Seed
	entries []atomic.Uint64 // high half: of the hash; low half: slot + 1; 0 is empty
	used    int             // the writer's
}

// newIDTable makes a table that is a quarter to half full at n entries.
func newIDTable(n int) *idTable {
	t := &idTable{
		seed:    maphash.MakeSeed(),
		entries: make([]atomic.Uint64, 1<<bits.Len(uint(max(2*n, 15)))),
	}
	largePages(t.entries)
	return t
}

// full tells that another entry would make probing slow.
func (t *idTable) full() bool { return 2*t.used >= len(t.entries) }

// add enters a slot. Only the writer calls it, on a table that is not full.
func (t *idTable) add(id string, at slot) {
	h := maphash.String(t.seed, id)
	mask := uint64(len(t.entries) - 1)
	i := h & mask
	for t.entries[i].Load() != 0 {
		i = (i + 1) & mask
	}
	t.entries[i].Store(h&^0xffffffff | uint64(at) + 1)
	t.used++
}

// head is where probing for an id begins.
func (t *idTable) head(id string) *atomic.Uint64 {
	return &t.entries[maphash.String(t.seed, id)&uint64(len(t.entries)-1)]
}

// probe yields the slots that may hold the id.
func (t *idTable) probe(id string) iter.Seq[slot] {
	return func(yield func(slot) bool) {
		h := maphash.String(t.seed, id)
		mask := uint64(len(t.entries) - 1)
		for i := h & mask; ; i = (i + 1) & mask {
			e := t.entries[i].Load()
			if e == 0 {
				return
			}
			if (e^h)>>32 == 0 && !yield(slot(e-1)) {
				return
			}
		}
	}
}
