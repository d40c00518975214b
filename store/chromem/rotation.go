package chromem

import (
	"math"
	"math/rand/v2"
)

// rotationRounds mix every component into every other one, also where the
// dimension is no power of two.
const rotationRounds = 4

// rotation is a fixed random rotation of a space. After it a vector's length
// is spread over all components alike, whatever the embedder puts where; that
// is what the errors of a sketch rest on. It multiplies with random signs and
// applies a Walsh-Hadamard transform, to the first and to the last power of
// two of the components in turn.
type rotation struct {
	dim, power int
	signs      [rotationRounds][]float32
}

func newRotation(dim int) *rotation {
	r := &rotation{dim: dim, power: 1}
	for 2*r.power <= dim {
		r.power *= 2
	}
	random := rand.New(rand.NewPCG(uint64(dim), 0x5ce7c4))
	scale := float32(1 / math.Sqrt(float64(r.power)))
	for round := range r.signs {
		signs := make([]float32, dim)
		part := r.part(round, signs)
		for i := range signs {
			signs[i] = float32(1 - 2*random.IntN(2))
		}
		for i := range part {
			part[i] *= scale // the transform multiplies lengths by √power
		}
		r.signs[round] = signs
	}
	return r
}

// part is what a round transforms.
func (r *rotation) part(round int, v []float32) []float32 {
	if round%2 == 0 {
		return v[:r.power]
	}
	return v[r.dim-r.power:]
}

// apply rotates v in place. len(v) is dim.
func (r *rotation) apply(v []float32) {
	for round, signs := range r.signs {
		for i := range v {
			v[i] *= signs[i]
		}
		hadamard(r.part(round, v))
	}
}

// hadamard is the Walsh-Hadamard transform, not normalised. len(v) is a power
// of two.
func hadamard(v []float32) {
	h := 1
	for ; 4*h <= len(v); h *= 4 { // two steps at once: half the passes
		for i := 0; i < len(v); i += 4 * h {
			a, b, c, d := v[i:i+h], v[i+h:i+2*h], v[i+2*h:i+3*h], v[i+3*h:i+4*h]
			b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
			for j := range a {
				ab, cd := a[j]+b[j], c[j]+d[j]
				ba, dc := a[j]-b[j], c[j]-d[j]
				a[j], b[j], c[j], d[j] = ab+cd, ba+dc, ab-cd, ba-dc
			}
		}
	}
	if 2*h == len(v) {
		a, b := v[:h], v[h:]
		for j := range a {
			a[j], b[j] = a[j]+b[j], a[j]-b[j]
		}
	}
}
