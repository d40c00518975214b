package chromem

import (
	"iter"
	"math/bits"
)

// rowSet marks rows of a snapshot, rowWords words for each of its segments.
type rowSet []uint64

const rowWords = maxRows / 64

// newRowSet marks the rows of the ids that are there.
func newRowSet(s *snapshot, ids []string) rowSet {
	set := make(rowSet, rowWords*len(s.views))
	for _, id := range ids {
		if at, ok := s.find(id); ok {
			set[at>>6] |= 1 << (at & 63)
		}
	}
	return set
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
