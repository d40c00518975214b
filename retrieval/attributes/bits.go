package attributes

import "math/bits"

// Bits is a set of small numbers.
type Bits []uint64

func newBits(n int) Bits { return make(Bits, (n+63)/64) }

// Has says whether i is in the set.
func (b Bits) Has(i uint32) bool {
	return int(i>>6) < len(b) && b[i>>6]>>(i&63)&1 != 0
}

// Count returns how many numbers are in the set.
func (b Bits) Count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

func (b Bits) set(i uint32)   { b[i>>6] |= 1 << (i & 63) }
func (b Bits) clear(i uint32) { b[i>>6] &^= 1 << (i & 63) }

// and, or and andNot change b; the other set has the same length.
func (b Bits) and(other Bits) {
	for i := range b {
		b[i] &= other[i]
	}
}

func (b Bits) or(other Bits) {
	for i := range b {
		b[i] |= other[i]
	}
}

func (b Bits) andNot(other Bits) {
	for i := range b {
		b[i] &^= other[i]
	}
}
