package eval_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ragagent/retrieval/eval"
)

// The reference computes every measure from its textbook definition, rank by
// rank and from scratch, and the ideal DCG as the best over all orders.

func relevance(ranking []eval.Scored, judged map[string]int, rank int) float64 {
	if rank > len(ranking) || judged[ranking[rank-1].ID] < 1 {
		return 0
	}
	return 1
}

func precisionAt(ranking []eval.Scored, judged map[string]int, k int) float64 {
	sum := 0.0
	for rank := 1; rank <= k; rank++ {
		sum += relevance(ranking, judged, rank)
	}
	return sum / float64(k)
}

func referenceDCG(ids []string, judged map[string]int, k int) float64 {
	sum := 0.0
	for i, id := range ids {
		if i < k && judged[id] > 0 {
			sum += float64(judged[id]) * math.Ln2 / math.Log(float64(i)+2)
		}
	}
	return sum
}

// bestDCG tries all orders of ids.
func bestDCG(ids []string, judged map[string]int, k int) float64 {
	best := 0.0
	var permute func(n int)
	permute = func(n int) {
		if n == len(ids) {
			best = max(best, referenceDCG(ids, judged, k))
			return
		}
		for i := n; i < len(ids); i++ {
			ids[n], ids[i] = ids[i], ids[n]
			permute(n + 1)
			ids[n], ids[i] = ids[i], ids[n]
		}
	}
	permute(0)
	return best
}

func reference(m eval.Measure, ranking []eval.Scored, judged map[string]int) float64 {
	depth := len(ranking)
	if m.Cut > 0 {
		depth = m.Cut
	}
	var found, all []string
	for _, s := range ranking {
		found = append(found, s.ID)
	}
	for id := range judged {
		all = append(all, id)
	}
	rel := 0.0
	for _, grade := range judged {
		if grade >= 1 {
			rel++
		}
	}
	hits := precisionAt(ranking, judged, max(depth, 1)) * float64(max(depth, 1))
	value := 0.0
	switch m.Kind {
	case eval.NDCG:
		ideal := len(all)
		if m.Cut > 0 {
			ideal = m.Cut
		}
		value = referenceDCG(found, judged, depth) / bestDCG(all, judged, ideal)
	case eval.Recall:
		value = hits / rel
	case eval.Precision:
		value = hits / float64(depth)
	case eval.MRR:
		for rank := depth; rank >= 1; rank-- {
			if relevance(ranking, judged, rank) == 1 {
				value = 1 / float64(rank)
			}
		}
	case eval.MAP:
		for rank := 1; rank <= depth; rank++ {
			value += precisionAt(ranking, judged, rank) * relevance(ranking, judged, rank) / rel
		}
	case eval.Success:
		value = math.Min(1, math.Round(hits))
	case eval.Complete:
		if math.Round(hits) == rel {
			value = 1
		}
	}
	if rel == 0 || math.IsNaN(value) {
		return 0
	}
	return value
}

func drawRanking(t *rapid.T, documents int) []eval.Scored {
	var ids []string
	for i := range documents {
		ids = append(ids, fmt.Sprintf("d%02d", i))
	}
	ids = rapid.Permutation(ids).Draw(t, "order")
	ids = ids[:rapid.IntRange(0, len(ids)).Draw(t, "returned")]
	var ranking []eval.Scored
	for _, id := range ids {
		// Few distinct scores: ties are the rule.
		ranking = append(ranking, eval.Scored{ID: id, Score: float64(rapid.IntRange(-2, 2).Draw(t, "score")) / 3})
	}
	return ranking
}

func drawJudged(t *rapid.T) map[string]int {
	judged := map[string]int{}
	for range rapid.IntRange(1, 6).Draw(t, "judged") {
		id := fmt.Sprintf("d%02d", rapid.IntRange(0, 14).Draw(t, "document"))
		judged[id] = rapid.IntRange(-1, 3).Draw(t, "grade")
	}
	return judged
}

func TestMeasuresEqualTheirDefinitions(t *testing.T) {
	kinds := []eval.Kind{eval.NDCG, eval.Recall, eval.Precision, eval.MRR, eval.MAP, eval.Success, eval.Complete}
	rapid.Check(t, func(t *rapid.T) {
		judged, ranking := drawJudged(t), drawRanking(t, 12)
		for _, kind := range kinds {
			m := eval.Measure{Kind: kind, Cut: rapid.IntRange(0, 14).Draw(t, "cut")}
			got, want := m.Of(ranking, judged), reference(m, ranking, judged)
			if math.Abs(got-want) > 1e-12 {
				t.Fatalf("%s = %v, by its definition %v", m, got, want)
			}
			if got < 0 || got > 1+1e-12 {
				t.Fatalf("%s = %v is not in 0..1", m, got)
			}
		}
	})
}

func TestSwappingARelevantDocumentUpNeverHurts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		judged, ranking := drawJudged(t), drawRanking(t, 12)
		for i := 1; i < len(ranking); i++ {
			if max(judged[ranking[i].ID], 0) <= max(judged[ranking[i-1].ID], 0) {
				continue
			}
			better := slices.Clone(ranking)
			better[i], better[i-1] = better[i-1], better[i]
			for _, m := range eval.DefaultMeasures() {
				if m.Of(better, judged) < m.Of(ranking, judged)-1e-12 {
					t.Fatalf("%s fell when rank %d moved up", m, i+1)
				}
			}
		}
	})
}
