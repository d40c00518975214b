//go:build !purego

package chromem

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// fastest returns the best kernels this machine can run.
func fastest() kernels {
	if cpu.X86.HasAVX2 {
		return kernels{dots: dots256, dot: dot256, sift: sift256, prefetch: prefetch}
	}
	return portable()
}

func dots256(dst []int32, codes []int8, query []int16) {
	if len(dst) == 0 {
		return
	}
	_ = codes[len(dst)*len(query)-1]
	dotsAVX2(&dst[0], &codes[0], &query[0], len(dst), len(query))
}

func dot256(a, b []float32) float32 {
	if len(a) == 0 {
		return 0
	}
	_ = b[len(a)-1]
	return dotAVX2(&a[0], &b[0], len(a))
}

func sift256(masks []uint32, bits []byte, rows *estimators, q *tables, least float32, ahead int) {
	if len(masks) == 0 {
		return
	}
	n, pairs := len(masks)*blockRows, len(q.sums)/32
	_, _, _ = bits[n*pairs-1], rows.factors[n-1], rows.slacks[n-1]
	numbers := [3]float32{q.step, q.shift, least}
	siftAVX2(&masks[0], &bits[0], &q.sums[0], &rows.factors[0], &rows.slacks[0], &numbers, len(masks), pairs, ahead)
}

// dotsAVX2 wants stride to be a multiple of 32, and more than 0.
//
//go:noescape
func dotsAVX2(dst *int32, codes *int8, query *int16, rows, stride int)

// dotAVX2 leaves out what is after the last multiple of 32.
//
//go:noescape
func dotAVX2(a, b *float32, n int) float32

// siftAVX2 wants pairs to be even, and more than 0.
//
//go:noescape
func siftAVX2(masks *uint32, bits, sums *byte, factors, slacks *float32, numbers *[3]float32, blocks, pairs, ahead int)

// prefetch wants n to be more than 0.
//
//go:noescape
func prefetch(p unsafe.Pointer, n int)
