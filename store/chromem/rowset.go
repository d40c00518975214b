package chromem

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// rowSet marks rows of a snapshot, rowWords words for each of its segments.
type rowSet []uint64

const rowWords = maxRows / 64

// lookups is how many ids are looked up side by side.
const lookups = 32

// newRowSet marks the rows of the ids that are there, with so many workers.
func newRowSet(k *kernels, s *snapshot, ids []string, workers int) rowSet {
	set := make(rowSet, rowWords*len(s.views))
	var wg sync.WaitGroup
	share := (len(ids) + workers - 1) / workers
	for part := range slices.Chunk(ids, max(1, share)) {
		if len(part) == len(ids) {
			set.mark(k, s, part)
			break
		}
		wg.Go(func() { set.mark(k, s, part) })
	}
	wg.Wait()
	return set
}

// mark marks the rows of ids. Every look-up waits for memory three times, for
// the table, for the id's header and for its bytes; so many are under way at
// once.
func (r rowSet) mark(k *kernels, s *snapshot, ids []string) {
	var heads [lookups]*atomic.Uint64
	var known [lookups]*string
	for batch := range slices.Chunk(ids, lookups) {
		for i, id := range batch {
			heads[i] = s.ids.head(id)
			k.prefetch(unsafe.Pointer(heads[i]), 8)
		}
		for i := range batch {
			known[i] = nil
			if e := heads[i].Load(); e != 0 {
				known[i] = s.idAt(slot(e - 1))
			}
			if known[i] != nil {
				k.prefetch(unsafe.Pointer(known[i]), int(unsafe.Sizeof("")))
			}
		}
		for i := range batch {
			if id := known[i]; id != nil && len(*id) > 0 {
				k.prefetch(unsafe.Pointer(unsafe.StringData(*id)), len(*id))
			}
		}
		for _, id := range batch {
			if at, ok := s.find(id); ok {
				atomic.OrUint64(&r[at>>6], 1<<(at&63))
			}
		}
	}
}

func (r rowSet) segment(i int) rowBits { return rowBits(r[i*rowWords : (i+1)*rowWords]) }

func (r rowSet) count() int { return rowBits(r).count() }

// rowBits marks the rows of one segment.
type rowBits []uint64

func (r rowBits) has(row int) bool { return r[row>>6]>>(row&63)&1 != 0 }

func (r rowBits) count() int {
	n := 0
	for _, word := range r {
		n += bits.OnesCount64(word)
	}
	return n
}

// all yields the marked rows in order.
func (r rowBits) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range r {
			for ; word != 0; word &= word - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
