//go:build !purego

package chromem

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// fastest returns the best kernels this machine can run.
func fastest() kernels {
	if cpu.X86.HasAVX2 {
		return kernels{
			dots: dots256, dot: dot256, add: add256, pick: pick256,
			hadamard: hadamard256, scale: scale256, prefetch: prefetch,
		}
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

func add256(sums []uint16, bits, table []byte, ahead int) {
	if len(sums) == 0 {
		return
	}
	pairs := len(table) / 32
	_ = bits[len(sums)*pairs-1]
	addAVX2(&sums[0], &bits[0], &table[0], len(sums)/blockRows, pairs, ahead)
}

func pick256(masks []uint32, sums, weights []uint16, t threshold) {
	if len(masks) == 0 {
		return
	}
	n := len(masks) * blockRows
	_, _ = sums[n-1], weights[n-1]
	pickAVX2(&masks[0], &sums[0], &weights[0], &t, len(masks))
}

func hadamard256(v []float32) {
	if len(v) < 8 {
		hadamardGo(v)
		return
	}
	hadamardAVX2(&v[0], len(v))
}

func scale256(v, by []float32) {
	whole := len(v) &^ 7
	if whole > 0 {
		_ = by[whole-1]
		scaleAVX2(&v[0], &by[0], whole)
	}
	scaleGo(v[whole:], by[whole:])
}

// dotsAVX2 wants stride to be a multiple of 32, and more than 0.
//
//go:noescape
func dotsAVX2(dst *int32, codes *int8, query *int16, rows, stride int)

// dotAVX2 leaves out what is after the last multiple of 32.
//
//go:noescape
func dotAVX2(a, b *float32, n int) float32

// addAVX2 wants blocks to be more than 0, and pairs even and more than 0.
//
//go:noescape
func addAVX2(sums *uint16, bits, table *byte, blocks, pairs, ahead int)

// pickAVX2 wants blocks to be more than 0.
//
//go:noescape
func pickAVX2(masks *uint32, sums, weights *uint16, t *threshold, blocks int)

// hadamardAVX2 wants n to be a power of two, 8 or more.
//
//go:noescape
func hadamardAVX2(v *float32, n int)

// scaleAVX2 wants n to be a multiple of 8, and more than 0.
//
//go:noescape
func scaleAVX2(v, by *float32, n int)

// prefetch wants n to be more than 0.
//
//go:noescape
func prefetch(p unsafe.Pointer, n int)
