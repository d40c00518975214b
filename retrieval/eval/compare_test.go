package eval_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/retrieval/eval"
	"ragagent/store"
)

var ndcg10 = eval.Measure{Kind: eval.NDCG, Cut: 10}

// scores makes Scores of one measure for queries q00, q01, ...
func scores(values ...float64) eval.Scores {
	s := eval.Scores{Measures: []eval.Measure{ndcg10}}
	for i, v := range values {
		s.Queries = append(s.Queries, "q"+string(rune('0'+i/10))+string(rune('0'+i%10)))
		s.Values = append(s.Values, []float64{v})
	}
	return s
}

func TestCompareByHand(t *testing.T) {
	// Differences +.5 +.25 0 -.25, and one that is rounding only. Of the 8
	// sign patterns of the three, |sum| >= .5 holds for all but those that sum
	// to 0, which are .5-.25-.25 and its opposite: p = 6/8.
	a := scores(0, .5, 1, .75, .3)
	b := scores(.5, .75, 1, .5, .3+1e-16)
	got, err := eval.Compare(a, b, eval.CompareConfig{Changed: 2})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.A-.51) > 1e-15 || math.Abs(got.B-.61) > 1e-15 {
		t.Errorf("means %v and %v", got.A, got.B)
	}
	// Whatever is drawn, a resampled mean lies within the differences, and the
	// interval holds the mean of so few.
	if !(got.Low >= -.25 && got.Low <= 0 && got.High >= .2 && got.High <= .5) {
		t.Errorf("interval %v..%v", got.Low, got.High)
	}
	got.A, got.B, got.Low, got.High = 0, 0, 0, 0
	want := eval.Comparison{
		Measure: ndcg10, Queries: 5, Difference: .1, Level: .95, P: .75, Exact: true, Permutations: 8, Resamples: eval.DefaultResamples,
		Wins: 2, Ties: 2, Losses: 1,
		Change: []eval.Change{{Query: "q00", A: 0, B: .5, Difference: .5}, {Query: "q01", A: .5, B: .75, Difference: .25}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	raw, err := json.Marshal(eval.Comparison{Measure: ndcg10})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"measure":"ndcg@10","queries":0,"a":0,"b":0,"difference":0,"ci_low":0,"ci_high":0,"level":0,"p_value":0,"exact":false,"permutations":0,"resamples":0,"seed":0,"wins":0,"ties":0,"losses":0,"changed":null}`; string(raw) != want {
		t.Errorf("JSON %s", raw)
	}
}

func TestCompareWithItself(t *testing.T) {
	a := scores(.1, .2, .3)
	got, err := eval.Compare(a, a, eval.CompareConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if got.P != 1 || got.Low != 0 || got.High != 0 || got.Ties != 3 || len(got.Change) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestCompareWithItselfFindsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, _, _ := drawPair(t, 1, 40)
		got, err := eval.Compare(a, a, eval.CompareConfig{Resamples: 20, Permutations: 50, Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil {
			t.Fatal(err)
		}
		if got.P != 1 || !got.Exact || got.Ties != got.Queries || got.Wins+got.Losses+len(got.Change) != 0 || got.Low != 0 || got.High != 0 {
			t.Fatalf("%+v", got)
		}
	})
}

func TestCompareRejects(t *testing.T) {
	a := scores(1, 0)
	other := scores(1, 0)
	other.Queries[1] = "elsewhere"
	for name, err := range map[string]error{
		"other measure":    second(eval.Compare(a, a, eval.CompareConfig{Measure: eval.Measure{Kind: eval.MAP}})),
		"other queries":    second(eval.Compare(a, other, eval.CompareConfig{})),
		"permutations":     second(eval.Compare(a, a, eval.CompareConfig{Permutations: -1})),
		"too many of them": second(eval.Compare(a, a, eval.CompareConfig{Permutations: eval.MaxPermutations + 1})),
		"resamples":        second(eval.Compare(a, a, eval.CompareConfig{Resamples: -1})),
		"level":            second(eval.Compare(a, a, eval.CompareConfig{Level: 95})),
	} {
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

// exactP tries every sign pattern, one sum at a time.
func exactP(diffs []float64) float64 {
	observed := 0.0
	for _, d := range diffs {
		observed += d
	}
	extreme, all := 0, 1<<len(diffs)
	for pattern := range all {
		sum := 0.0
		for i, d := range diffs {
			if pattern>>i&1 == 1 {
				d = -d
			}
			sum += d
		}
		if math.Abs(sum) >= math.Abs(observed)-1e-9 {
			extreme++
		}
	}
	return float64(extreme) / float64(all)
}

func drawPair(t *rapid.T, least, most int) (a, b eval.Scores, diffs []float64) {
	unit := rapid.IntRange(0, 8)
	var from, to []float64
	for range rapid.IntRange(least, most).Draw(t, "queries") {
		x, y := float64(unit.Draw(t, "a"))/8, float64(unit.Draw(t, "b"))/8
		from, to, diffs = append(from, x), append(to, y), append(diffs, y-x)
	}
	return scores(from...), scores(to...), diffs
}

func TestRandomisationIsExactForFewQueries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, diffs := drawPair(t, 1, 12)
		cfg := eval.CompareConfig{Resamples: 50}
		got, err := eval.Compare(a, b, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if want := exactP(diffs); !got.Exact || math.Abs(got.P-want) > 1e-12 {
			t.Fatalf("p = %v (exact %v), want %v", got.P, got.Exact, want)
		}
		back, err := eval.Compare(b, a, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if back.P != got.P || back.Wins != got.Losses || math.Abs(back.Difference+got.Difference) > 1e-15 {
			t.Fatalf("the other way round: %+v, was %+v", back, got)
		}
		if got.Low > got.Difference+1e-12 && got.Queries > 3 || got.Low > got.High {
			t.Fatalf("interval %v..%v around %v", got.Low, got.High, got.Difference)
		}
	})
}

func TestRandomisationBySamplingComesCloseToExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var from, to, diffs []float64
	for range 17 { // one more than 100,000 permutations try exhaustively
		x, y := rng.Float64(), rng.Float64()
		y += .12
		from, to, diffs = append(from, x), append(to, y), append(diffs, y-x)
	}
	a, b := scores(from...), scores(to...)
	got, err := eval.Compare(a, b, eval.CompareConfig{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := exactP(diffs)
	if want < .05 || want > .95 {
		t.Fatalf("p = %v makes this test a weak one", want)
	}
	// Four standard errors of a share of 100,000.
	if got.Exact || math.Abs(got.P-want) > 4*math.Sqrt(want*(1-want)/100_000) {
		t.Errorf("p = %v (exact %v), want about %v", got.P, got.Exact, want)
	}
	again, err := eval.Compare(a, b, eval.CompareConfig{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("the same seed: %s", diff)
	}
	other, err := eval.Compare(a, b, eval.CompareConfig{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	if other.P == got.P || other.Low == got.Low {
		t.Error("another seed draws the same samples")
	}
}

// With many queries the bootstrap's interval is that of the normal distribution.
func TestBootstrapInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	a := eval.Scores{Measures: []eval.Measure{ndcg10}}
	b := eval.Scores{Measures: []eval.Measure{ndcg10}}
	const n = 2000
	for i := range n {
		id := string(rune('a'+i/676)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
		a.Queries, b.Queries = append(a.Queries, id), append(b.Queries, id)
		x := rng.Float64()
		a.Values, b.Values = append(a.Values, []float64{x}), append(b.Values, []float64{x + .05 + .2*rng.NormFloat64()})
	}
	got, err := eval.Compare(a, b, eval.CompareConfig{Permutations: 999, Resamples: 4000})
	if err != nil {
		t.Fatal(err)
	}
	half := 1.96 * .2 / math.Sqrt(n)
	if math.Abs(got.Low-(got.Difference-half)) > .1*half || math.Abs(got.High-(got.Difference+half)) > .1*half {
		t.Errorf("interval %.4f..%.4f, want %.4f +- %.4f", got.Low, got.High, got.Difference, half)
	}
	if got.P != .001 { // (0 + 1)/(999 + 1)
		t.Errorf("p = %v, want .001", got.P)
	}
}

func BenchmarkCompare(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := eval.Scores{Measures: []eval.Measure{ndcg10}, Queries: make([]string, 10_000)}
	y := x
	for range x.Queries {
		x.Values, y.Values = append(x.Values, []float64{rng.Float64()}), append(y.Values, []float64{rng.Float64()})
	}
	for b.Loop() {
		if _, err := eval.Compare(x, y, eval.CompareConfig{}); err != nil {
			b.Fatal(err)
		}
	}
}
