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
	centre  []float32
	bits    []byte // blocks of blockRows rows, see pack
	factors []float32
	slacks  []float32
}

// sketchDim is the dimension, rounded up to whole steps of the kernel.
func sketchDim(dim int) int { return (dim + quadDims - 1) / quadDims * quadDims }

// sketchBytes is the memory of a sketch.
func sketchBytes(dim int) int64 {
	return int64(maxRows*(sketchDim(dim)/8+4+4)+4*dim) + int64(unsafe.Sizeof(sketch{}))
}

// newSketch makes the sketch of a segment with maxRows rows.
func newSketch(r *rotation, s *segment) *sketch {
	k := &sketch{
		centre:  make([]float32, s.dim),
		bits:    make([]byte, maxRows*sketchDim(s.dim)/8),
		factors: make([]float32, maxRows),
		slacks:  make([]float32, maxRows),
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
		k.pack(row, u)
		k.factors[row], k.slacks[row] = estimator(u)
	}
	return k
}

// pack writes the signs of a row: 1 for a positive component. The bits of four
// dimensions, a group, are half a byte; byte j of a pair's 32 bytes holds two
// groups of one row, rows 0 and 16 first, then 1 and 17, so that the even
// bytes are the first sixteen rows.
func (k *sketch) pack(row int, u []float32) {
	blockBytes := len(k.bits) / (maxRows / blockRows)
	block := k.bits[row/blockRows*blockBytes:][:blockBytes]
	row %= blockRows
	at := row%16*2 + row/16
	for i, c := range u {
		if c > 0 {
			block[i/8*blockRows+at] |= 1 << (i % 8)
		}
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

// sketchQuery is a query as the kernel of sketches reads it: for each group of
// four dimensions p·s for the sixteen values of their bits, in small steps
// from the least.
type sketchQuery struct {
	table       []byte // 16 for each group
	step, shift float32
	rotated     []float32
}

// encode fills in the tables of a query of L2 norm 1.
func (q *sketchQuery) encode(r *rotation, unit []float32) {
	dim := sketchDim(len(unit))
	groups := dim / 4
	if cap(q.rotated) < dim {
		q.rotated, q.table = make([]float32, dim), make([]byte, 16*groups)
	}
	q.rotated, q.table = q.rotated[:dim], q.table[:16*groups]
	clear(q.rotated)
	copy(q.rotated, unit)
	r.apply(q.rotated[:len(unit)])
	var total, largest float32
	for g := range groups {
		sum := q.reach(g)
		total += sum
		largest = max(largest, sum)
	}
	// Four groups are added in 8 bits, all of them in 16.
	top := float32(min(math.MaxUint8/4, math.MaxUint16/groups))
	q.step = 2 * largest / top
	// What rounding to steps takes away: three deviations of a sum of as many
	// roundings, each of a deviation of √(1/12).
	q.shift = -total + q.step*float32(3*math.Sqrt(float64(groups)/12))
	inverse := 1 / q.step
	for g := range groups {
		p, least := q.rotated[4*g:4*g+4], q.reach(g)
		for bits := range 16 {
			sum := least
			for i, c := range p {
				if bits>>i&1 != 0 {
					sum += c
				} else {
					sum -= c
				}
			}
			q.table[16*g+bits] = byte(min(top, sum*inverse+.5))
		}
	}
}

// reach is the largest sum of a group.
func (q *sketchQuery) reach(group int) float32 {
	var sum float32
	for _, c := range q.rotated[4*group : 4*group+4] {
		sum += max(c, -c)
	}
	return sum
}
