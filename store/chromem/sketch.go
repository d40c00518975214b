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
	// rounding is that of the float32 sums behind an estimate; all of its error
	// where all rows of a segment are equal.
	rounding = 1e-5

	blockRows = 32 // rows of a block of bits
	quadDims  = 16 // dimensions in two pairs of groups, the step of the kernel
	// widest: a row counts as at most so many times as close to the centre as
	// the farthest, so that the weights of the others keep their digits.
	widest = 8
)

// sketch is one bit per dimension for each row of a full segment: the signs of
// the rotated difference from the segment's mean. The cosine of a query with
// a row is estimated from them with an error that depends on the dimension
// and not on the data (RaBitQ, Gao and Long, SIGMOD 2024): with u the rotated
// difference, s its signs and p the rotated query,
//
//	q·v = q·centre + p·u,   p·u ≈ factor·p·s,   factor = |u|²/(u·s)
//	standard deviation |u| · √((1-c²)/c² / (dim-1)),   c = u·s / (|u| √dim)
//
// It needs no training: a row's bits depend on its segment alone, so nothing
// has to be rebuilt when others come or go.
//
// The bits are there twice. Blocks of rows, of the first dimensions and of the
// rest, are what a kernel reads side by side to find the few rows that may be
// worth a look. What is known of one row stands together in its record.
type sketch struct {
	centre      []float32
	front, rest []byte   // of the first frontDim dimensions and the others, see pack
	weights     []uint16 // of each row 1/factor, in units of unit, at most
	unit        float32
	slack       float32  // of a row in its factors, on average
	records     []uint64 // recordWords a row: bits, factor and slack
}

// sketchDim is the dimension, rounded up to whole steps of the kernel.
func sketchDim(dim int) int { return (dim + quadDims - 1) / quadDims * quadDims }

// frontDim is how many dimensions are looked at first: about three eighths.
func frontDim(dim int) int { return sketchDim(sketchDim(dim) * 3 / 8) }

// bitWords is how many words the bits of a row take.
func bitWords(dim int) int { return (dim + 63) / 64 }

// recordWords is the length of a record, even: that of 384 dimensions is a
// line of the cache.
func recordWords(dim int) int { return (bitWords(dim) + 2) &^ 1 }

// sketchBytes is the memory of a sketch.
func sketchBytes(dim int) int64 {
	perRow := sketchDim(dim)/8 + 2 + 8*recordWords(dim)
	return int64(maxRows*perRow+4*dim) + int64(unsafe.Sizeof(sketch{}))
}

// newSketch makes the sketch of a segment with maxRows rows.
func newSketch(r *rotation, s *segment) *sketch {
	front := frontDim(s.dim)
	k := &sketch{
		centre:  make([]float32, s.dim),
		front:   make([]byte, maxRows*front/8),
		rest:    make([]byte, maxRows*(sketchDim(s.dim)-front)/8),
		weights: make([]uint16, maxRows),
		records: make([]uint64, maxRows*recordWords(s.dim)),
	}
	largePages(k.records)
	for row := range maxRows {
		for i, c := range s.vector(row) {
			k.centre[i] += c / maxRows
		}
	}
	var factors [maxRows]float32
	u := make([]float32, s.dim)
	for row := range maxRows {
		for i, c := range s.vector(row) {
			u[i] = c - k.centre[i]
		}
		r.apply(u)
		record := k.record(row)
		signs(record, u)
		pack(k.front, row, record, 0)
		pack(k.rest, row, record, front/8)
		var slack float32
		factors[row], slack = estimator(u)
		record[len(record)-1] = uint64(math.Float32bits(factors[row])) | uint64(math.Float32bits(slack))<<32
		if factors[row] > 0 {
			k.slack += slack / factors[row] / maxRows
		}
	}
	k.weigh(&factors)
	return k
}

// record is what is known of one row.
func (k *sketch) record(row int) []uint64 {
	n := len(k.records) / maxRows
	return k.records[row*n : (row+1)*n : (row+1)*n]
}

// weigh makes the weights, never too large: a row must not need more than it
// has to.
func (k *sketch) weigh(factors *[maxRows]float32) {
	var largest float32
	for _, f := range factors {
		largest = max(largest, f)
	}
	if largest == 0 {
		return // every weight is 0: no row is passed over
	}
	k.unit = widest / largest / math.MaxUint16
	for row, f := range factors {
		weight := float32(math.MaxUint16)
		if f > 0 {
			weight = min(weight, 1/(f*k.unit)*(1-1e-6))
		}
		k.weights[row] = uint16(weight)
	}
}

// signs writes a bit for each component: 0 for one that is less than 0.
func signs(words []uint64, u []float32) {
	for i := 0; i < len(u); i += 64 {
		var w uint64
		for j, c := range u[i:min(i+64, len(u))] {
			w |= uint64(^math.Float32bits(c)>>31) << (j & 63)
		}
		words[i/64] = w
	}
}

// pack writes the bits of a row, from a byte of them on, into its block. The
// bits of four dimensions, a group, are half a byte; byte j of a pair's 32
// bytes holds two groups of one row, rows 0 and 16 first, then 1 and 17, so
// that the even bytes are the first sixteen rows.
func pack(bits []byte, row int, words []uint64, from int) {
	blockBytes := len(bits) / (maxRows / blockRows)
	block := bits[row/blockRows*blockBytes:][:blockBytes]
	row %= blockRows
	at := row%16*2 + row/16
	for i := 0; i < len(block)/blockRows; i++ {
		block[i*blockRows+at] = byte(words[(from+i)/8] >> ((from + i) % 8 * 8))
	}
}

// estimator returns what p·s is multiplied with, and the slack of the result.
func estimator(u []float32) (factor, slack float32) {
	abs, length := absolute(u), norm(u)
	if abs == 0 {
		return 0, rounding
	}
	squares := length * length
	c2 := abs * abs / (squares * float64(len(u)))
	deviation := math.Sqrt(squares * max(0, 1-c2) / c2 / float64(len(u)-1))
	return float32(squares / abs), float32(confidence*deviation + rounding)
}

// absolute returns the sum of the absolute values.
func absolute(v []float32) float64 {
	var a, b, c, d float64 // side by side: one sum would wait for itself
	for ; len(v) >= 4; v = v[4:] {
		a += math.Abs(float64(v[0]))
		b += math.Abs(float64(v[1]))
		c += math.Abs(float64(v[2]))
		d += math.Abs(float64(v[3]))
	}
	for _, x := range v {
		a += math.Abs(float64(x))
	}
	return (a + b) + (c + d)
}
