package bm25

import "math/bits"

// planes adds up, for all chunks of a part at once, what the dense clauses that
// have a chunk can give it at most. The sums are in steps, rounded up, and
// bit-sliced: plane p of a word of the bitmaps holds bit p of 64 chunks' sums.
type planes struct {
	step float64 // what a sum of 1 stands for
	sums [][sumBits]uint64
}

const (
	sumBits  = 7
	maxSum   = 1<<sumBits - 1
	maxDense = maxSum / 2 // clauses, so that rounding up leaves half of the steps
)

// set adds up clauses, at most maxDense, which can give so much together.
func (s *planes) set(clauses []clause, together float64) {
	words := len(clauses[0].list.dense.docs)
	if cap(s.sums) < words {
		s.sums = make([][sumBits]uint64, words)
	}
	s.sums = s.sums[:words]
	clear(s.sums)
	s.step = together / float64(maxSum-len(clauses))
	for i := range clauses {
		s.add(clauses[i].list.dense.docs, s.stepsOf(clauses[i].bound))
	}
}

// stepsOf returns how many steps are not less than a score.
func (s *planes) stepsOf(score float64) uint {
	steps := uint(score / s.step)
	if float64(steps)*s.step < score {
		steps++
	}
	return steps
}

// add adds so many steps to the sums of some docs.
func (s *planes) add(docs bitmap, steps uint) {
	for i, word := range docs {
		sum := &s.sums[i]
		for rest := steps; rest != 0; rest &= rest - 1 {
			carry := word
			for p := bits.TrailingZeros(rest); p < sumBits && carry != 0; p++ {
				sum[p], carry = sum[p]^carry, sum[p]&carry
			}
		}
	}
}

// least returns the docs of a word whose sum is at least so many steps.
func (s *planes) least(word int, steps uint) uint64 {
	equal, more := ^uint64(0), uint64(0)
	for p := sumBits - 1; p >= 0; p-- {
		bit := s.sums[word][p]
		if steps>>p&1 == 0 {
			more |= equal & bit
			equal &^= bit
		} else {
			equal &= bit
		}
	}
	return more | equal
}
