//go:build !purego

package chromem

import "unsafe"

// fastest returns the best kernels this machine can run: every arm64 has NEON.
func fastest() kernels {
	k := portable()
	k.dots, k.dot, k.add, k.pick, k.prefetch = dots128, dot128, add128, pick128, prefetch
	return k
}

func dots128(dst []int32, codes []int8, query []int16) {
	if len(dst) == 0 {
		return
	}
	_ = codes[len(dst)*len(query)-1]
	dotsNEON(&dst[0], &codes[0], &query[0], len(dst), len(query))
}

func dot128(a, b []float32) float32 {
	if len(a) < lanes {
		return 0
	}
	_ = b[len(a)-1]
	return dotNEON(&a[0], &b[0], len(a))
}

func add128(sums []uint16, bits, table []byte, _ int) {
	if len(sums) == 0 {
		return
	}
	pairs := len(table) / 32
	_ = bits[len(sums)*pairs-1]
	addNEON(&sums[0], &bits[0], &table[0], len(sums)/blockRows, pairs)
}

func pick128(masks []uint32, sums, weights []uint16, t threshold) {
	if len(masks) == 0 {
		return
	}
	n := len(masks) * blockRows
	_, _ = sums[n-1], weights[n-1]
	// The bytes of a mask are in the order of its bits: arm64 is little-endian.
	pickNEON((*byte)(unsafe.Pointer(&masks[0])), &sums[0], &weights[0], &t, n/8)
}

// dotsNEON wants rows to be more than 0, stride a multiple of 32 and more than 0.
//
//go:noescape
func dotsNEON(dst *int32, codes *int8, query *int16, rows, stride int)

// dotNEON wants n to be a multiple of 32, and more than 0.
//
//go:noescape
func dotNEON(a, b *float32, n int) float32

// addNEON wants blocks to be more than 0, pairs even and more than 0.
//
//go:noescape
func addNEON(sums *uint16, bits, table *byte, blocks, pairs int)

// pickNEON writes a byte for eight rows; eights is more than 0.
//
//go:noescape
func pickNEON(masks *byte, sums, weights *uint16, t *threshold, eights int)

// prefetch wants n to be more than 0.
//
//go:noescape
func prefetch(p unsafe.Pointer, n int)
