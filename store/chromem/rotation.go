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
	kernels    kernels
	dim, power int
	signs      [rotationRounds][]float32
}

func newRotation(k kernels, dim int) *rotation {
	r := &rotation{kernels: k, dim: dim, power: 1}
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
		r.kernels.scale(v, signs)
		r.kernels.hadamard(r.part(round, v))
	}
}
