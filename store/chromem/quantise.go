package chromem

import (
	"math"

	"ragagent/store"
)

// unitTolerance is how far an L2 norm may be from 1; chromem-go keeps the
// slice it is given within 1e-6, and would else make a normalised copy. Its sum
// is in another order.
const unitTolerance = 1e-6 - 1e-12

// maxCode is the largest absolute value of a code.
const maxCode = 127

// strideOf is the length of a row of codes: whole steps of the kernels.
func strideOf(dim int) int { return (dim + codeStep - 1) / codeStep * codeStep }

// norm returns the L2 norm.
func norm(v []float32) float64 {
	var a, b, c, d float64 // side by side: one sum would wait for itself
	for ; len(v) >= 4; v = v[4:] {
		a += float64(v[0]) * float64(v[0])
		b += float64(v[1]) * float64(v[1])
		c += float64(v[2]) * float64(v[2])
		d += float64(v[3]) * float64(v[3])
	}
	for _, x := range v {
		a += float64(x) * float64(x)
	}
	return math.Sqrt((a + b) + (c + d))
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
// returns the scale and an upper bound of |v - scale · code|. v has no larger
// components than a unit vector.
func quantise(codes []int8, v []float32) (scale, bound float32) {
	largest := peak(v)
	scale = largest / maxCode
	if scale == 0 {
		clear(codes)
		return 0, above(norm(v))
	}
	inverse := 1 / scale
	// Adding and taking away a number whose last digit is 1 rounds to even.
	const ones = 3 << 22
	codes = codes[:len(v)]
	var even, odd float32
	for i := 0; i+1 < len(v); i += 2 {
		p, q := float32(float32(v[i]*inverse)+ones)-ones, float32(float32(v[i+1]*inverse)+ones)-ones
		codes[i], codes[i+1] = int8(p), int8(q)
		d, e := v[i]-float32(p*scale), v[i+1]-float32(q*scale)
		even += float32(d * d)
		odd += float32(e * e)
	}
	if last := len(v) - 1; last%2 == 0 {
		p := float32(float32(v[last]*inverse)+ones) - ones
		codes[last] = int8(p)
		d := v[last] - float32(p*scale)
		even += float32(d * d)
	}
	// Each difference is off by at most 2^-23 of its component, all of them by
	// 2^-23 of |v|; the sums by at most len(v)·2^-24 of themselves.
	relative := 1 + float64(len(v)+4)*0x1p-24
	return scale, above(math.Sqrt((float64(even)+float64(odd))*relative) + 0x1p-22)
}

// peak returns the largest absolute value of a component.
func peak(v []float32) float32 {
	// Without their signs floats are ordered like their bits.
	var a, b uint32
	for ; len(v) >= 2; v = v[2:] {
		a, b = max(a, math.Float32bits(v[0])&^(1<<31)), max(b, math.Float32bits(v[1])&^(1<<31))
	}
	if len(v) > 0 {
		a = max(a, math.Float32bits(v[0])&^(1<<31))
	}
	return math.Float32frombits(max(a, b))
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
