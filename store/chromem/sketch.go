package chromem

import (
	"math"
	"unsafe"
)

const (
	// minSketchDim: a vector of fewer dimensions has a short code already, and
	// a sketch of it would say little.
	minSketchDim = 64
	// confidence is how many standard deviations of its error a row's estimate
	// is raised before the row is passed over. Errors are spread like a normal
	// distribution: a row that belongs to the best is lost once in 160 times
	// where it stands just at the edge, and nearly never above it.
	confidence = 2.5

	blockRows = 32 // rows of a block of bits
	quadDims  = 16 // dimensions in two pairs of groups, the step of the kernel
)

// sketch is one bit per dimension for each row of a full segment: the signs of
// the rotated difference from the segment's mean. The cosine of a query with
// a row is estimated from them with an error that depends on the dimension
// and not on the data (RaBitQ, Gao and Long, SIGMOD 2024): with u the rotated
// difference, s its signs and p the rotated query,
//
//	q·v = q·centre + p·u,   p·u ≈ p·s · |u|²/(u·s)
//	standard deviation |u| · √((1-c²)/c² / (dim-1)),   c = u·s / (|u| √dim)
//
// It needs no training: a row's bits depend on its segment alone, so nothing
// has to be rebuilt when others come or go.
type sketch struct {
	centre []float32
	bits   []byte // blocks of blockRows rows, see pack
	front  []byte // once more those of the first frontDim dimensions
	rows   estimators
}

// estimators say of each row how its estimate comes from p·s.
type estimators struct{ factors, slacks []float32 }

// sketchDim is the dimension, rounded up to whole steps of the kernel.
func sketchDim(dim int) int { return (dim + quadDims - 1) / quadDims * quadDims }

// frontDim is how many dimensions are looked at first: about three eighths.
func frontDim(dim int) int { return sketchDim(sketchDim(dim) * 3 / 8) }

// sketchBytes is the memory of a sketch.
func sketchBytes(dim int) int64 {
	perRow := (sketchDim(dim)+frontDim(dim))/8 + 4 + 4
	return int64(maxRows*perRow+4*dim) + int64(unsafe.Sizeof(sketch{}))
}

// newSketch makes the sketch of a segment with maxRows rows.
func newSketch(r *rotation, s *segment) *sketch {
	k := &sketch{
		centre: make([]float32, s.dim),
		bits:   make([]byte, maxRows*sketchDim(s.dim)/8),
		front:  make([]byte, maxRows*frontDim(s.dim)/8),
		rows:   estimators{make([]float32, maxRows), make([]float32, maxRows)},
	}
	for row := range maxRows {
		for i, c := range s.vector(row) {
			k.centre[i] += c / maxRows
		}
	}
	u := make([]float32, s.dim)
	for row := range maxRows {
		for i, c := range s.vector(row) {
			u[i] = c - k.centre[i]
		}
		r.apply(u)
		pack(k.bits, row, u)
		pack(k.front, row, u[:frontDim(s.dim)])
		k.rows.factors[row], k.rows.slacks[row] = estimator(u)
	}
	return k
}

// pack writes the signs of a row: 1 for a positive component. The bits of four
// dimensions, a group, are half a byte; byte j of a pair's 32 bytes holds two
// groups of one row, rows 0 and 16 first, then 1 and 17, so that the even
// bytes are the first sixteen rows.
func pack(bits []byte, row int, u []float32) {
	blockBytes := len(bits) / (maxRows / blockRows)
	block := bits[row/blockRows*blockBytes:][:blockBytes]
	row %= blockRows
	at := row%16*2 + row/16
	for i := 0; i < len(u); i += 8 {
		var b byte
		for j, c := range u[i:min(i+8, len(u))] {
			if c > 0 {
				b |= 1 << j
			}
		}
		block[i/8*blockRows+at] = b
	}
}

// estimator returns what p·s is multiplied with, and the slack of the result.
func estimator(u []float32) (factor, slack float32) {
	var squares, abs float64
	for _, c := range u {
		squares += float64(c) * float64(c)
		abs += math.Abs(float64(c))
	}
	const rounding = 1e-5 // of the float32 sums, and where all rows are equal
	if abs == 0 {
		return 0, rounding
	}
	c2 := abs * abs / (squares * float64(len(u)))
	deviation := math.Sqrt(squares * max(0, 1-c2) / c2 / float64(len(u)-1))
	return float32(squares / abs), float32(confidence*deviation + rounding)
}
