package chromem

import (
	"math"

	"ragagent/store"
)

// unitTolerance is how far an L2 norm may be from 1; chromem-go keeps the
// slice it is given within it, and would else make a normalised copy.
const unitTolerance = 1e-6

// maxCode is the largest absolute value of a code.
const maxCode = 127

// strideOf is the length of a row of codes: whole steps of the kernels.
func strideOf(dim int) int { return (dim + codeStep - 1) / codeStep * codeStep }

// norm returns the L2 norm, computed as chromem-go does.
func norm(v []float32) float64 {
	var sum float64
	for _, c := range v {
		sum += float64(c) * float64(c)
	}
	return math.Sqrt(sum)
}

// isUnit tells whether v may be stored. It is false for a zero vector and for
// one with NaN or infinity in it.
func isUnit(v []float32) bool { return math.Abs(norm(v)-1) < unitTolerance }

// unitQuery returns the query with L2 norm 1.
func unitQuery(query []float32, dim int) ([]float32, error) {
	if len(query) != dim {
		return nil, &store.DimensionError{Want: dim, Got: len(query)}
	}
	n := norm(query)
	if n == 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, store.Invalid("query", "the vector is zero or not finite")
	}
	unit := make([]float32, dim)
	for i, c := range query {
		unit[i] = float32(float64(c) / n)
	}
	return unit, nil
}

// quantise writes v as codes of -127..127, so that v ≈ scale · code, and
// returns the scale and an upper bound of |v - scale · code|.
func quantise(codes []int8, v []float32) (scale, bound float32) {
	var largest float32
	for _, c := range v {
		largest = max(largest, c, -c)
	}
	if largest == 0 {
		clear(codes)
		return 0, 0
	}
	scale = largest / maxCode
	s, inverse := float64(scale), 1/float64(scale)
	var sum float64
	for i, c := range v {
		q := math.RoundToEven(float64(c) * inverse)
		codes[i] = int8(max(-maxCode, min(maxCode, q)))
		e := float64(c) - s*float64(codes[i])
		sum += e * e
	}
	return scale, above(math.Sqrt(sum))
}

// above returns the next float32 above x, so that rounding keeps a bound one.
func above(x float64) float32 {
	return math.Nextafter32(float32(x*(1+1e-12)), math.MaxFloat32)
}

// queryCodes is a query in 16-bit codes. For a row v ≈ s·c with |v - s·c| ≤ e
// and the query q ≈ t·r with |q - t·r| = f,
//
//	q·v = t·s·(r·c) + t·r·(v - s·c) + (q - t·r)·v
//	|q·v - t·s·(r·c)| ≤ |t·r|·e + f·|v| ≤ (|q| + f)·e + f·|v|
//
// by Cauchy and Schwarz: spread·e + offset, with the rounding of all the
// float32 arithmetic added to offset.
type queryCodes struct {
	codes          []int16 // stride long, zero after the dimension
	step           float32 // t
	spread, offset float32
}

// encode fills in the codes of a query of L2 norm 1.
func (c *queryCodes) encode(q []float32) {
	stride := strideOf(len(q))
	if cap(c.codes) < stride {
		c.codes = make([]int16, stride)
	}
	c.codes = c.codes[:stride]
	clear(c.codes)
	var largest float32
	for _, x := range q {
		largest = max(largest, x, -x)
	}
	// The sum of stride products of a query code and a row code fits 32 bits.
	top := min(math.MaxInt16, math.MaxInt32/(maxCode*stride))
	c.step = largest / float32(top)
	t, inverse := float64(c.step), 1/float64(c.step)
	var sum float64
	for i, x := range q {
		r := math.RoundToEven(float64(x) * inverse)
		c.codes[i] = int16(max(-float64(top), min(float64(top), r)))
		e := float64(x) - t*float64(c.codes[i])
		sum += e * e
	}
	f := math.Sqrt(sum)
	const unit = 1 + 2*unitTolerance // a norm at most, float32 rounding included
	c.spread = above(unit + f)
	// A float32 sum in lanes rounds by at most depth·2^-24 of Σ|q·v| ≤ 1, the
	// estimate by a few 2^-24; twice that is on the safe side.
	depth := float64(len(q)/lanes + lanes)
	c.offset = above(f*unit + depth*0x1p-23)
}
