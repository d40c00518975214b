package bm25

import "math"

// What a term gives a chunk rises with c, its occurrences normalised by the
// chunk's length (lengthNorm). A field over chunks keeps the highest c of each
// term in a byte, on a scale of steps of 9 %, rounded up: 0 is 2^-8.
const (
	levelsPerOctave = 8
	lowestOctave    = -8
	unboundedLevel  = math.MaxUint8
)

// levelOf returns the lowest level whose c is not less.
func levelOf(c float64) uint8 {
	level := math.Ceil((math.Log2(c)-lowestOctave)*levelsPerOctave + 1e-6)
	return uint8(min(max(level, 0), unboundedLevel))
}

// ofLevel returns the c of a level.
func ofLevel(level uint8) float64 {
	if level == unboundedLevel {
		return math.MaxFloat32
	}
	return levels[level]
}

var levels = func() (c [unboundedLevel]float64) {
	for level := range c {
		c[level] = math.Exp2(float64(level)/levelsPerOctave + lowestOctave)
	}
	return c
}()

// setBounds finds the highest c of every term of a field, for chunks of these
// lengths whose average is given.
func (f *field) setBounds(lengths []uint32, avg float64) {
	f.most = make([]uint8, f.len())
	norms := make([]float64, 0, normTable)
	for dl := range cap(norms) {
		norms = append(norms, lengthNorm(uint32(dl), avg))
	}
	var buf []posting
	for term := range f.most {
		highest := 0.
		buf = appendPostings(buf[:0], f.list(term))
		for _, q := range buf {
			norm := 0.
			if dl := lengths[q.doc]; int(dl) < len(norms) {
				norm = norms[dl]
			} else {
				norm = lengthNorm(dl, avg)
			}
			highest = max(highest, float64(q.tf)*norm)
		}
		f.most[term] = levelOf(highest)
	}
}

// setBounds finds the bounds of all fields over chunks, and their long lists.
func (s *segment) setBounds() {
	all := s.sizesOf(0, uint32(s.chunks()))
	s.average = average(all.tokens, all.chunks)
	s.singleAverage = average(all.singles, all.chunks)
	s.stems.setBounds(s.length, s.average)
	s.surface.setBounds(s.length, s.average)
	s.singles.setBounds(s.singleLength, s.singleAverage)
	for _, f := range []*field{&s.stems, &s.surface, &s.singles} {
		f.setDense(s.chunks())
	}
	s.stems.setFollows(all.chunks, all.tokens)
}

// mostOf returns what c is at most for a term of a field over chunks, if their
// average length is avg now and was built when the bounds were set: c grows no
// faster than the average.
func (f *field) mostOf(term int, avg, built float64) float64 {
	return ofLevel(f.most[term]) * max(1, avg/built)
}

// norms are lengthNorm for one average, from a table where chunks are not
// unusually long.
type norms struct {
	average float64
	table   [normTable]float64
}

// normTable is how many lengths are in a table.
const normTable = 1024

// set makes the table that of an average.
func (n *norms) set(average float64) {
	if n.average == average {
		return
	}
	n.average = average
	for dl := range n.table {
		n.table[dl] = lengthNorm(uint32(dl), average)
	}
}

func (n *norms) of(dl uint32) float64 {
	if dl < normTable {
		return n.table[dl]
	}
	return lengthNorm(dl, n.average)
}
