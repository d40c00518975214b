package eval

import (
	"math"
	"math/rand/v2"
)

// randomisation returns the two-sided p-value of the mean of diffs under
// random signs. All sign patterns are tried where there are at most n of them.
// Differences of 0 have no sign and change nothing.
// tried is how many were.
func randomisation(diffs []float64, n int, seed uint64) (p float64, tried int, exact bool) {
	s := newSigned(diffs)
	if s.n == 0 {
		return 1, 1, true
	}
	if s.n < 63 && uint64(1)<<s.n <= uint64(n) {
		all := uint64(1) << s.n
		extreme := 0
		for pattern := range all {
			if s.extreme(s.sumOf(pattern)) {
				extreme++
			}
		}
		return float64(extreme) / float64(all), int(all), true
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	extreme := 0
	for range n {
		if s.extreme(s.random(rng)) {
			extreme++
		}
	}
	return float64(extreme+1) / float64(n+1), n, false
}

// signed adds up differences under patterns of signs, eight at a time: table t
// holds, for each of the 256 patterns, the sum of differences 8t..8t+7 with
// those of the set bits negated.
type signed struct {
	n        int // differences other than 0
	tables   [][256]float64
	observed float64 // sum without any sign changed
	slack    float64 // what adding up in another order can change
}

func newSigned(diffs []float64) signed {
	var s signed
	var group []float64
	total := 0.0
	for _, d := range diffs {
		if d == 0 {
			continue
		}
		s.n++
		total += math.Abs(d)
		if group = append(group, d); len(group) == 8 {
			s.tables = append(s.tables, signTable(group))
			group = group[:0]
		}
	}
	if len(group) > 0 {
		s.tables = append(s.tables, signTable(group))
	}
	s.observed = s.sumOf(0)
	s.slack = total * 1e-12
	return s
}

func signTable(diffs []float64) (table [256]float64) {
	for pattern := range table {
		for i, d := range diffs {
			if pattern>>i&1 == 1 {
				d = -d
			}
			table[pattern] += d
		}
	}
	return table
}

// extreme says that sum is at least as far from 0 as the observed one.
func (s signed) extreme(sum float64) bool {
	return math.Abs(sum) >= math.Abs(s.observed)-s.slack
}

// sumOf is the sum under the signs of pattern, whose bits beyond 64 are 0.
func (s signed) sumOf(pattern uint64) float64 {
	sum := 0.0
	for i := range s.tables {
		sum += s.tables[i][pattern&255]
		pattern >>= 8
	}
	return sum
}

// random is the sum under random signs.
func (s signed) random(rng *rand.Rand) float64 {
	sum := 0.0
	var bits uint64
	for i := range s.tables {
		if i%8 == 0 {
			bits = rng.Uint64()
		}
		sum += s.tables[i][bits&255]
		bits >>= 8
	}
	return sum
}

// bootstrap returns the percentile interval of the mean of diffs at level from
// n resamples with replacement.
func bootstrap(diffs []float64, n int, level float64, seed uint64) (low, high float64) {
	if len(diffs) == 0 {
		return 0, 0
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	means := make([]float64, n)
	for i := range means {
		sum := 0.0
		for range diffs {
			sum += diffs[rng.IntN(len(diffs))]
		}
		means[i] = sum / float64(len(diffs))
	}
	tail := (1 - level) / 2
	return Quantile(means, tail), Quantile(means, 1-tail)
}
