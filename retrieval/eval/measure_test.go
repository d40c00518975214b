package eval_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval/eval"
	"ragagent/store"
)

// ranking makes a ranking of one-letter documents, scores descending.
func ranking(letters string) []eval.Scored {
	var r []eval.Scored
	for i, id := range strings.Split(letters, "") {
		r = append(r, eval.Scored{ID: id, Score: float64(len(letters) - i)})
	}
	return r
}

func TestMeasuresByHand(t *testing.T) {
	// Relevant are a (3), c (2), e (1) and z (1), which is not found; d is
	// judged irrelevant, n is judged -1, b and f are not judged.
	judged := map[string]int{"a": 3, "c": 2, "e": 1, "z": 1, "d": 0, "n": -1}
	found := ranking("bcdaenf") // relevant at ranks 2, 4, 5

	l := math.Log2
	ideal3 := 3 + 2/l(3) + 1/l(4)
	ideal := ideal3 + 1/l(5)
	for text, want := range map[string]float64{
		"ndcg@1":       0,
		"ndcg@3":       (2 / l(3)) / ideal3,
		"ndcg@10":      (2/l(3) + 3/l(5) + 1/l(6)) / ideal,
		"ndcg":         (2/l(3) + 3/l(5) + 1/l(6)) / ideal,
		"recall@1":     0,
		"recall@2":     0.25,
		"recall@4":     0.5,
		"recall@100":   0.75,
		"recall":       0.75,
		"p@1":          0,
		"precision@2":  0.5,
		"precision@10": 0.3, // the three missing ranks count as irrelevant
		"precision":    3.0 / 7,
		"mrr@1":        0,
		"mrr@2":        0.5,
		"mrr":          0.5,
		"map":          (1.0/2 + 2.0/4 + 3.0/5) / 4,
		"map@4":        (1.0/2 + 2.0/4) / 4,
		"success@1":    0,
		"success@2":    1,
		"success":      1,
		"complete@10":  0,
	} {
		m, err := eval.ParseMeasure(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Of(found, judged); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %.6f, want %.6f", text, got, want)
		}
	}
}

func TestMeasuresAtTheEdges(t *testing.T) {
	one := map[string]int{"a": 1}
	for _, tc := range []struct {
		name    string
		measure string
		found   []eval.Scored
		judged  map[string]int
		want    float64
	}{
		{"perfect ndcg", "ndcg@10", ranking("abc"), one, 1},
		{"perfect graded ndcg", "ndcg@2", ranking("ab"), map[string]int{"a": 2, "b": 1, "c": 1}, 1},
		{"complete", "complete@2", ranking("ba"), one, 1},
		{"complete, cut off", "complete@1", ranking("ba"), one, 0},
		{"nothing found", "ndcg@10", nil, one, 0},
		{"nothing found, precision", "precision", nil, one, 0},
		{"nothing relevant", "ndcg@10", ranking("a"), map[string]int{"a": 0}, 0},
		{"nothing relevant, map", "map", ranking("a"), map[string]int{"a": -1}, 0},
		{"nothing judged", "success@1", ranking("a"), nil, 0},
	} {
		m, err := eval.ParseMeasure(tc.measure)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Of(tc.found, tc.judged); got != tc.want {
			t.Errorf("%s: %s = %v, want %v", tc.name, m, got, tc.want)
		}
	}
}

func TestParseMeasure(t *testing.T) {
	for _, text := range []string{"", "@10", "ndcg@", "ndcg@0", "ndcg@-1", "ndcg@x", "ndcg@100001", "bpref", "ndcg_", "_10", "10"} {
		if m, err := eval.ParseMeasure(text); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("ParseMeasure(%q) = %v, %v, want ErrInvalid", text, m, err)
		}
	}
	got, err := json.Marshal(map[eval.Measure]int{{Kind: eval.NDCG, Cut: 10}: 1, {Kind: eval.MAP}: 2})
	if err != nil || string(got) != `{"map":2,"ndcg@10":1}` {
		t.Errorf("marshalled %s, %v", got, err)
	}
	var back []eval.Measure
	if err := json.Unmarshal([]byte(`["NDCG@10","p@5","map","P_10","ndcg_cut.20","recip_rank","map_cut_3","R@7"]`), &back); err != nil {
		t.Fatal(err)
	}
	want := []eval.Measure{{Kind: eval.NDCG, Cut: 10}, {Kind: eval.Precision, Cut: 5}, {Kind: eval.MAP},
		{Kind: eval.Precision, Cut: 10}, {Kind: eval.NDCG, Cut: 20}, {Kind: eval.MRR}, {Kind: eval.MAP, Cut: 3}, {Kind: eval.Recall, Cut: 7}}
	if diff := cmp.Diff(want, back); diff != "" {
		t.Error(diff)
	}
}

func TestEvaluateTakesMeansOverJudgedQueries(t *testing.T) {
	qrels := eval.Qrels{
		"q1": {"a": 1},
		"q2": {"a": 1},         // returns nothing
		"q3": {"a": 0},         // nothing is relevant
		"q4": {"b": 2, "c": 1}, // second only
	}
	run := eval.Run{"q1": ranking("a"), "q3": ranking("a"), "q4": ranking("c"), "unjudged": ranking("a")}
	ndcg, mapAll := eval.Measure{Kind: eval.NDCG, Cut: 10}, eval.Measure{Kind: eval.MAP}
	s, err := eval.Evaluate(qrels, run, []eval.Measure{mapAll, ndcg})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"q1", "q2", "q3", "q4"}, s.Queries); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{1, 0, 0, .5}, s.Of(mapAll)); diff != "" {
		t.Error(diff)
	}
	if got := s.Mean(mapAll); got != 1.5/4 {
		t.Errorf("map = %v, want %v", got, 1.5/4)
	}
	if got, want := s.Mean(ndcg), (1+1/(2+1/math.Log2(3)))/4; math.Abs(got-want) > 1e-12 {
		t.Errorf("ndcg@10 = %v, want %v", got, want)
	}
	if s.Of(eval.Measure{Kind: eval.MRR}) != nil {
		t.Error("a measure that was not asked for has values")
	}
	for name, err := range map[string]error{
		"no measure":  second(eval.Evaluate(qrels, run, nil)),
		"no qrels":    second(eval.Evaluate(eval.Qrels{}, run, []eval.Measure{ndcg})),
		"no relevant": second(eval.Evaluate(eval.Qrels{"q": {"a": 0}}, run, []eval.Measure{ndcg})),
	} {
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
