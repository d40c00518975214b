package mmr_test

import (
	gocmp "cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/rerank/mmr"
	"ragagent/retrieval"
	"ragagent/store"
)

func hit(id, text string, score float64) retrieval.Hit {
	return retrieval.Hit{Chunk: store.Chunk{ID: id, Text: text}, Score: score}
}

func order(t *testing.T, cfg mmr.Config, hits ...retrieval.Hit) (ids []string, scores []float64) {
	t.Helper()
	r, err := mmr.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Rerank(t.Context(), "", slices.Clone(hits))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range out {
		ids, scores = append(ids, h.ID), append(scores, h.Score)
	}
	return ids, scores
}

// b says what a says. At .5, c leads b when .5*.5 - .5*0 > .5*.9 - .5*1.
func TestOrder(t *testing.T) {
	scores := make([]float64, 4)
	for i, evidence := range []float64{.7, .64, .4, .1} { // relevance 1, .9, .5, 0
		scores[i] = retrieval.Calibrate(evidence)
	}
	hits := []retrieval.Hit{hit("a", "tides at the harbour", scores[0]), hit("b", "harbour tides", scores[1]), hit("c", "quarterly invoices", scores[2]), hit("d", "tides", scores[3])}
	for _, test := range []struct {
		cfg  mmr.Config
		want []string
	}{
		{mmr.Config{Lambda: 1}, []string{"a", "b", "c", "d"}},
		{mmr.Config{Lambda: .5}, []string{"a", "c", "b", "d"}},
		{mmr.Config{Lambda: 0}, []string{"a", "c", "d", "b"}}, // d is .71 like a, b is 1
		{mmr.Config{Lambda: 0, Depth: 2}, []string{"a", "b", "c", "d"}},
	} {
		ids, kept := order(t, test.cfg, hits...)
		if diff := cmp.Diff(test.want, ids); diff != "" {
			t.Errorf("%+v: %s", test.cfg, diff)
		}
		if diff := cmp.Diff(scores, kept); diff != "" {
			t.Errorf("%+v: %s", test.cfg, diff)
		}
	}
	if ids, _ := order(t, mmr.Config{}); ids != nil {
		t.Error(ids)
	}
}

func TestNew(t *testing.T) {
	for _, cfg := range []mmr.Config{{Lambda: -.1}, {Lambda: 1.1}, {Lambda: math.NaN()}, {Depth: -1}} {
		if _, err := mmr.New(cfg); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

// Whatever comes in comes out, the best first, with scores that never rise.
func TestKeepsAll(t *testing.T) {
	words := []string{"tide", "dam", "invoice", "law", "潮汐", "harbour", ""}
	rapid.Check(t, func(r *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		hits := make([]retrieval.Hit, rapid.IntRange(0, 30).Draw(r, "hits"))
		var want []string
		for i := range hits {
			id := string(rune('A' + i))
			hits[i] = hit(id, words[random.IntN(7)]+" "+words[random.IntN(7)], 1-float64(i)/100)
			want = append(want, id)
		}
		ids, scores := order(t, mmr.Config{Lambda: rapid.Float64Range(0, 1).Draw(r, "lambda"), Depth: rapid.IntRange(0, 40).Draw(r, "depth")}, hits...)
		if len(ids) > 0 && ids[0] != "A" {
			r.Fatalf("%q leads", ids[0])
		}
		slices.Sort(ids)
		if diff := cmp.Diff(want, ids); diff != "" {
			r.Fatal(diff)
		}
		if !slices.IsSortedFunc(scores, func(a, b float64) int { return gocmp.Compare(b, a) }) {
			r.Fatal(scores)
		}
	})
}
