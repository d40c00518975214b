package bm25

// bitmap is a set of small numbers. nil is the empty set. A bitmap that a
// snapshot holds is never changed: writers change a copy.
type bitmap []uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) has(i uint32) bool {
	return int(i>>6) < len(b) && b[i>>6]&(1<<(i&63)) != 0
}

func (b bitmap) set(i uint32) { b[i>>6] |= 1 << (i & 63) }

// copyOf returns a copy that has room for n numbers.
func (b bitmap) copyOf(n int) bitmap {
	c := newBitmap(n)
	copy(c, b)
	return c
}
