package eval

import (
	"cmp"
	"math"
	"slices"

	"ragagent/store"
)

// Defaults and bounds of a CompareConfig.
const (
	DefaultPermutations = 100_000
	MaxPermutations     = 10_000_000
	DefaultResamples    = 10_000
	MaxResamples        = 1_000_000
	DefaultLevel        = 0.95
	DefaultChanged      = 10
)

// CompareConfig says how two systems are compared.
type CompareConfig struct {
	Measure Measure // zero means ndcg@10
	// Permutations of the randomisation test; 0 means DefaultPermutations.
	Permutations int
	// Resamples of the bootstrap; 0 means DefaultResamples.
	Resamples int
	Level     float64 // of the confidence interval, in (0, 1); 0 means DefaultLevel
	Seed      uint64  // of both; the same seed gives the same figures
	// Changed is how many of the queries that changed most are named: 0 means
	// DefaultChanged, a negative number none.
	Changed int
}

// Comparison says by how much system b differs from system a, and whether that
// can be chance. Differences are b - a.
type Comparison struct {
	Measure    Measure `json:"measure"`
	Queries    int     `json:"queries"`
	A          float64 `json:"a"` // mean
	B          float64 `json:"b"` // mean
	Difference float64 `json:"difference"`
	// Low and High bound the mean difference at Level: the percentile interval
	// of a paired bootstrap over the queries (Efron 1979).
	Low   float64 `json:"ci_low"`
	High  float64 `json:"ci_high"`
	Level float64 `json:"level"`
	// P is the two-sided p-value of the paired randomisation test (Fisher;
	// Smucker et al. 2007): the share of all ways to swap the two systems
	// within queries whose mean difference is at least as large as the one
	// observed. Exact says that all ways were tried; otherwise it is
	// (k + 1)/(n + 1) of n random ones (Phipson and Smyth 2010).
	P     float64 `json:"p_value"`
	Exact bool    `json:"exact"`
	// Permutations is how many ways were tried, all of them where Exact.
	Permutations int `json:"permutations"`
	// Resamples of the bootstrap, and the Seed of everything drawn at random.
	Resamples int      `json:"resamples"`
	Seed      uint64   `json:"seed"`
	Wins      int      `json:"wins"` // queries on which b is better
	Ties      int      `json:"ties"`
	Losses    int      `json:"losses"`
	Change    []Change `json:"changed"` // largest first, equal ones by query id
}

// Change is one query on which two systems differ.
type Change struct {
	Query      string  `json:"query"`
	A          float64 `json:"a"`
	B          float64 `json:"b"`
	Difference float64 `json:"difference"`
}

// tie is the largest difference that is taken for rounding, not for a change.
const tie = 1e-12

// Compare tests whether b differs from a in one measure, query by query. Both
// must have been measured with it on the same queries: store.ErrInvalid.
func Compare(a, b Scores, cfg CompareConfig) (Comparison, error) {
	if err := cfg.fill(); err != nil {
		return Comparison{}, err
	}
	from, to, err := paired(a, b, cfg.Measure)
	if err != nil {
		return Comparison{}, err
	}
	diffs := differences(from, to)
	c := Comparison{
		Measure: cfg.Measure, Queries: len(diffs), Level: cfg.Level,
		A: mean(from), B: mean(to), Difference: mean(diffs),
	}
	for _, d := range diffs {
		switch {
		case d > 0:
			c.Wins++
		case d < 0:
			c.Losses++
		default:
			c.Ties++
		}
	}
	c.Resamples, c.Seed = cfg.Resamples, cfg.Seed
	c.P, c.Permutations, c.Exact = randomisation(diffs, cfg.Permutations, cfg.Seed)
	c.Low, c.High = bootstrap(diffs, cfg.Resamples, cfg.Level, cfg.Seed)
	c.Change = changes(a.Queries, from, to, cfg.Changed)
	return c, nil
}

// paired returns the values of both sides, query by query.
func paired(a, b Scores, m Measure) (from, to []float64, err error) {
	from, to = a.Of(m), b.Of(m)
	if from == nil || to == nil {
		return nil, nil, store.Invalid("measure", "%s was not measured on both sides", m)
	}
	if !slices.Equal(a.Queries, b.Queries) {
		return nil, nil, store.Invalid("queries", "the two sides were not measured on the same queries")
	}
	return from, to, nil
}

// Check says what is wrong with c before there is anything to compare:
// store.ErrInvalid.
func (c CompareConfig) Check() error { return c.fill() }

func (c *CompareConfig) fill() error {
	c.Measure = cmp.Or(c.Measure, Measure{NDCG, 10})
	c.Permutations = cmp.Or(c.Permutations, DefaultPermutations)
	c.Resamples = cmp.Or(c.Resamples, DefaultResamples)
	c.Level = cmp.Or(c.Level, DefaultLevel)
	c.Changed = cmp.Or(c.Changed, DefaultChanged)
	switch {
	case c.Permutations < 1 || c.Permutations > MaxPermutations:
		return store.Invalid("permutations", "%d is not from 1 to %d", c.Permutations, MaxPermutations)
	case c.Resamples < 1 || c.Resamples > MaxResamples:
		return store.Invalid("resamples", "%d is not from 1 to %d", c.Resamples, MaxResamples)
	case !(c.Level > 0 && c.Level < 1):
		return store.Invalid("level", "%v is not between 0 and 1", c.Level)
	}
	return nil
}

// differences returns to - from per query, rounding errors as exactly 0.
func differences(from, to []float64) []float64 {
	diffs := make([]float64, len(from))
	for i := range from {
		if d := to[i] - from[i]; math.Abs(d) > tie {
			diffs[i] = d
		}
	}
	return diffs
}

// changes returns the n queries that differ most.
func changes(queries []string, from, to []float64, n int) []Change {
	all := []Change{}
	for i, d := range differences(from, to) {
		if d != 0 {
			all = append(all, Change{queries[i], from[i], to[i], d})
		}
	}
	slices.SortFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Difference), math.Abs(a.Difference)), cmp.Compare(a.Query, b.Query))
	})
	return all[:min(len(all), max(n, 0))]
}
