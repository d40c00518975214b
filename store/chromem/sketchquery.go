package chromem

import "math"

// tables are a query as the kernel of sketches reads it: for each group of
// four dimensions p·s for the sixteen values of their bits, in steps from the
// least; p·s = step·sum + shift.
type tables struct {
	sums        []byte // 16 for each group
	step, shift float32
}

// sketchQuery is a query to sketches. The front, a share f of the rotated
// dimensions, comes first: p·s of the front, divided by f, is an estimate as
// well, with a larger error. To the error of the signs, σ²/f, comes that of
// the choice of dimensions, (1/f-1)·(1+ρ²)·|u|²/dim for a correlation ρ of p
// and u. |u|²/dim is σ²·c²/(1-c²), and c² is near 2/π after a rotation.
type sketchQuery struct {
	rotated []float32
	whole   tables
	front   tables
	widen   float32 // the front's error, in errors of the whole
}

// encode fills in the tables of a query of L2 norm 1.
func (q *sketchQuery) encode(r *rotation, unit []float32) {
	dim := sketchDim(len(unit))
	q.rotated = make([]float32, dim)
	copy(q.rotated, unit)
	r.apply(q.rotated[:len(unit)])
	q.whole.encode(q.rotated)

	front := frontDim(len(unit))
	share := float64(front) / float64(len(unit))
	const signs = (2 / math.Pi) / (1 - 2/math.Pi)
	q.widen = float32(math.Sqrt(1/share + 2*(1/share-1)*signs))
	// The kernel adds a row's slack; that of the front is widen times as large.
	// It is told everything else divided by that.
	scale := 1 / (float32(share) * q.widen)
	q.front.sums = q.whole.sums[:4*front]
	q.front.step = q.whole.step * scale
	q.front.shift = shift(q.rotated[:front], q.whole.step) * scale
}

func (t *tables) encode(rotated []float32) {
	groups := len(rotated) / 4
	t.sums = make([]byte, 16*groups)
	var largest float32
	for g := range groups {
		largest = max(largest, reach(rotated[4*g:4*g+4]))
	}
	// Four groups are added in 8 bits, all of them in 16.
	top := float32(min(math.MaxUint8/4, math.MaxUint16/groups))
	t.step = 2 * largest / top
	t.shift = shift(rotated, t.step)
	inverse := 1 / t.step
	for g := range groups {
		p := (*[4]float32)(rotated[4*g:])
		least := reach(p[:])
		for bits := range 16 {
			sum := least
			for i, c := range p {
				if bits>>i&1 != 0 {
					sum += c
				} else {
					sum -= c
				}
			}
			t.sums[16*g+bits] = byte(min(top, sum*inverse+.5))
		}
	}
}

// reach is the largest sum of a group.
func reach(group []float32) float32 {
	var sum float32
	for _, c := range group {
		sum += max(c, -c)
	}
	return sum
}

// shift is the least p·s, raised by what rounding to steps may take away:
// three deviations of a sum of as many roundings, √(1/12) steps each.
func shift(rotated []float32, step float32) float32 {
	return step*float32(3*math.Sqrt(float64(len(rotated))/48)) - reach(rotated)
}
