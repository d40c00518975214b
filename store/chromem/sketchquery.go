package chromem

import (
	"math"
	"math/bits"
)

// planes is in how many bits a component of a rotated query is written where
// it is compared with one row.
const planes = 6

// sketchQuery is a query to sketches.
//
// To a kernel it is a table: for each group of four dimensions p·s for the
// sixteen values of their bits, in steps from the least; p·s = step·sum - reach.
// The front, a share f of the rotated dimensions, comes first: p·s of the
// front, divided by f, is an estimate as well, with a larger error. To the
// error of the signs, σ²/f, comes that of the choice of dimensions,
// (1/f-1)·(1+ρ²)·|u|²/dim for a correlation ρ of p and u. |u|²/dim is
// σ²·c²/(1-c²), and c² is near 2/π after a rotation.
//
// To a row it is planes of bits: p ≈ fine·(q - middle) for numbers q of that
// many bits, so that p·s is counted.
type sketchQuery struct {
	dim   int
	table []byte // 16 for each group
	step  float32
	front part
	whole part

	bits     [planes][]uint64
	fine     float32
	constant float32 // of p·s, that does not depend on the row
}

// part is what a sum over some of the dimensions says.
type part struct {
	groups  int
	share   float32 // of the dimensions
	reach   float32 // p·s is at least minus this
	widen   float32 // its error, in errors of the whole
	roundup float32 // slack for rounding to steps
}

const middle = (1<<planes - 1) / 2.

// encode fills in everything for a query of L2 norm 1.
func (q *sketchQuery) encode(r *rotation, unit []float32) {
	rotated := make([]float32, sketchDim(len(unit)))
	copy(rotated, unit)
	r.apply(rotated[:len(unit)])
	q.dim = len(unit)
	q.tabulate(rotated)
	q.slice(rotated[:len(unit)])

	front := frontDim(len(unit))
	share := float64(front) / float64(len(unit))
	const signs = (2 / math.Pi) / (1 - 2/math.Pi)
	q.front = q.part(rotated[:front], share, math.Sqrt(1/share+2*(1/share-1)*signs))
	q.whole = q.part(rotated, 1, 1)
}

func (q *sketchQuery) part(rotated []float32, share, widen float64) part {
	groups := len(rotated) / 4
	return part{
		groups: groups, share: float32(share), reach: reach(rotated), widen: float32(widen),
		// Rounding is off by √(1/12) steps in the mean, each time independently.
		roundup: q.step * float32(confidence*math.Sqrt(float64(groups)/12)),
	}
}

// tabulate makes the table of the kernel.
func (q *sketchQuery) tabulate(rotated []float32) {
	groups := len(rotated) / 4
	q.table = make([]byte, 16*groups)
	var largest float32
	for g := range groups {
		largest = max(largest, reach(rotated[4*g:4*g+4]))
	}
	// Four groups are added in 8 bits, all of them in 16.
	top := float32(min(math.MaxUint8/4, math.MaxUint16/groups))
	q.step = 2 * largest / top
	inverse := 1 / q.step
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
			q.table[16*g+bits] = byte(min(top, sum*inverse+.5))
		}
	}
}

// slice makes the planes of bits. With b = (s+1)/2 the bits of a row and n how
// many are set,
//
//	p·s = Σ fine·(q-middle)·(2b-1) = fine·(2·Σqb - Σq - middle·(2n - dim))
func (q *sketchQuery) slice(rotated []float32) {
	words := bitWords(len(rotated))
	all := make([]uint64, planes*words)
	for i := range q.bits {
		q.bits[i] = all[i*words : (i+1)*words]
	}
	var largest float32
	for _, c := range rotated {
		largest = max(largest, c, -c)
	}
	q.fine = largest / middle
	total := 0
	for i, c := range rotated {
		level := int(c/q.fine + middle + .5)
		total += level
		for j := range planes {
			q.bits[j][i/64] |= uint64(level>>j&1) << (i % 64)
		}
	}
	q.constant = q.fine * (middle*float32(q.dim) - float32(total))
}

// estimate returns that of p·u from the record of a row, and its slack.
func (q *sketchQuery) estimate(record []uint64) (estimate, slack float32) {
	last := record[len(record)-1]
	p0, p1, p2, p3, p4, p5 := q.bits[0], q.bits[1], q.bits[2], q.bits[3], q.bits[4], q.bits[5]
	row := record[:len(p0)]
	p1, p2, p3, p4, p5 = p1[:len(row)], p2[:len(row)], p3[:len(row)], p4[:len(row)], p5[:len(row)]
	ones, sum := 0, 0
	for i, w := range row {
		ones += bits.OnesCount64(w)
		sum += bits.OnesCount64(w&p0[i]) + bits.OnesCount64(w&p1[i])<<1 + bits.OnesCount64(w&p2[i])<<2 +
			bits.OnesCount64(w&p3[i])<<3 + bits.OnesCount64(w&p4[i])<<4 + bits.OnesCount64(w&p5[i])<<5
	}
	dot := q.fine*(2*float32(sum)-2*middle*float32(ones)) + q.constant
	return math.Float32frombits(uint32(last)) * dot, math.Float32frombits(uint32(last >> 32))
}

// reach is the largest sum of the components with any signs.
func reach(components []float32) float32 {
	var sum float32
	for _, c := range components {
		sum += max(c, -c)
	}
	return sum
}

// threshold is what the sum of a row has to reach, by the row's weight.
type threshold struct{ slope, plus, minus uint16 }

// of returns slope·weight/2¹⁶ + plus - minus, within 0..65535 at each step.
func (t threshold) of(weight uint16) uint16 {
	n := min(math.MaxUint16, uint32(t.slope)*uint32(weight)>>16+uint32(t.plus))
	return uint16(max(n, uint32(t.minus)) - uint32(t.minus))
}

// threshold returns that of the rows of k whose p·u may be least, which is
// more than 0:
//
//	factor·(p·s/share + widen·slack) ≥ least
//	step·sum ≥ share·(least/factor - widen·slack) + reach
//
// Every rounding is down: it lets rows through.
func (q *sketchQuery) threshold(p *part, k *sketch, least float32) threshold {
	slack := math.Hypot(float64(p.share*p.widen*k.slack), float64(p.roundup))
	slope := p.share * least * k.unit / q.step * (1 << 16)
	constant := math.Floor((float64(p.reach) - slack) / float64(q.step))
	return threshold{
		slope: uint16(min(math.MaxUint16, slope)),
		plus:  uint16(max(0, min(math.MaxUint16, constant))),
		minus: uint16(max(0, min(math.MaxUint16, -constant))),
	}
}
