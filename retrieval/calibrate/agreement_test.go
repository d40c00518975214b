package calibrate

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Two questions, four chunks. Rows and columns have the same means, so the
// residuals are the cosines themselves: +-.1 and +-.3.
func TestAgreeByHand(t *testing.T) {
	cosines := [][]float32{{.3, -.3, .1, -.1}, {-.3, .3, -.1, .1}}
	a := agree(cosines, [][]int{{0, 2}, {1}})
	spread := math.Sqrt((.09 + .09 + .01 + .01) / 4)
	near(t, "spread", a.spread, spread)
	near(t, "effect", a.effect, .25/spread)                             // mean of .2 and .3
	near(t, "error", a.error, math.Sqrt(2*.05*.05)/math.Sqrt(2)/spread) // their deviation is .0707
	if a.questions != 2 {
		t.Errorf("%d questions", a.questions)
	}
}

// A chunk that is near to every question is no agreement, however often words
// pick it.
func TestAgreeIgnoresHubs(t *testing.T) {
	cosines := make([][]float32, 20)
	picked := make([][]int, len(cosines))
	for i := range cosines {
		cosines[i] = []float32{.9, .1, .1, .1}
		cosines[i][1+i%3] += .05
		picked[i] = []int{0}
	}
	if a := agree(cosines, picked); math.Abs(a.effect) > 1e-6 || weigh(a) > 1e-9 {
		t.Errorf("%+v weighs %v", a, weigh(a))
	}
}

func TestWeigh(t *testing.T) {
	for _, test := range []struct {
		a    agreement
		want float64
	}{
		{agreement{effect: usual, spread: .078, questions: 200}, .2}, // the built-in embedder
		{agreement{effect: usual + .3, error: .1, spread: .078, questions: 200}, .2},
		{agreement{effect: 10 * usual, spread: .078, questions: 200}, .4},
		{agreement{effect: .29, error: .1, spread: .1, questions: 200}, 0}, // could be chance
		{agreement{effect: -2, spread: .1, questions: 200}, 0},
		{agreement{effect: usual, spread: 0, questions: 200}, 0},
		{agreement{effect: usual, spread: .078, questions: leastQuestions - 1}, 0},
	} {
		near(t, "weight", weigh(test.a), test.want)
	}
}

// Cosines of another scale and origin rank as before: the weight makes up for
// the scale.
func TestScaleAndOrigin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		scale := rapid.Float64Range(.05, 1).Draw(t, "scale")
		origin := rapid.Float64Range(-.5, .5).Draw(t, "origin")
		one, other := make([][]float32, 30), make([][]float32, 30)
		picked := make([][]int, len(one))
		for i := range one {
			picked[i] = []int{r.IntN(40), r.IntN(40), r.IntN(40)}
			one[i], other[i] = make([]float32, 40), make([]float32, 40)
			for j := range one[i] {
				c := .1 * r.NormFloat64()
				if j == picked[i][0] {
					c += .3
				}
				one[i][j], other[i][j] = float32(c), float32(scale*c+origin)
			}
		}
		a, b := weigh(agree(one, picked)), weigh(agree(other, picked))
		if a <= 0 || math.Abs(a-b*scale) > 1e-3*a {
			t.Fatalf("%v and %v, which is %v of the first", a, b, b*scale/a)
		}
	})
}

// Vectors that say nothing weigh nothing, whatever their dimension.
func TestChanceWeighsNothing(t *testing.T) {
	weighed := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		cosines := make([][]float32, questions)
		picked := make([][]int, len(cosines))
		sd := []float64{.03, .1, .4}[seed%3]
		for i := range cosines {
			cosines[i] = make([]float32, 100)
			for j := range cosines[i] {
				cosines[i][j] = float32(sd * r.NormFloat64())
			}
			picked[i] = []int{r.IntN(100), r.IntN(10), r.IntN(3)} // words have favourites
		}
		a := agree(cosines, picked)
		w := weigh(a)
		if w > 0 {
			weighed++
		}
		if effect := w * a.spread; effect > .1*unit {
			t.Errorf("seed %d: %+v weighs %v", seed, a, w)
		}
	}
	if weighed > 3 {
		t.Errorf("%d of 300 weigh something", weighed)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s %v, want %v", what, got, want)
	}
}
