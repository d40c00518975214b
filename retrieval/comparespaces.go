package retrieval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"ragagent/store"
)

// comparedDepth is how many hits of each side are compared.
const comparedDepth = 10

// CompareSpaces asks two retrievers the same questions to one knowledge base:
// Pipeline.As makes them of its two sets of vectors. A question that either
// cannot answer as it should is an error: half an answer compares with nothing.
func CompareSpaces(ctx context.Context, old, next Retriever, kbID string, questions []store.JudgedQuestion) (store.Comparison, error) {
	c := store.Comparison{Questions: len(questions)}
	for _, q := range questions {
		a, b, err := both(ctx, old, next, kbID, q.Text, Hybrid)
		if err != nil {
			return c, err
		}
		c.Overlap += overlap(a, b)
		if len(a) > 0 && len(b) > 0 && a[0].ID == b[0].ID || len(a)+len(b) == 0 {
			c.SameFirst++
		}
		if len(q.Relevant) > 0 {
			c.Judged++
			c.OldNDCG += ndcg(a, q.Relevant)
			c.NewNDCG += ndcg(b, q.Relevant)
		}
		if a, b, err = both(ctx, old, next, kbID, q.Text, Dense); err != nil {
			return c, err
		}
		c.Dense += overlap(a, b)
	}
	for sum, n := range map[*float64]int{&c.Overlap: c.Questions, &c.SameFirst: c.Questions, &c.Dense: c.Questions, &c.OldNDCG: c.Judged, &c.NewNDCG: c.Judged} {
		*sum /= float64(max(n, 1))
	}
	return c, nil
}

func both(ctx context.Context, old, next Retriever, kbID, text string, mode Mode) (a, b []Hit, err error) {
	q := Query{Text: text, KnowledgeBases: []string{kbID}, TopK: comparedDepth, Mode: mode}
	ask := func(r Retriever) ([]Hit, error) {
		result, err := r.Retrieve(ctx, q)
		if err == nil && len(result.Degraded) > 0 && mode != Dense { // there may be no vector for a question
			err = fmt.Errorf("compare the answers to %q: %s", text, result.Degraded[0])
		}
		return result.Hits, err
	}
	if a, err = ask(old); err != nil {
		return nil, nil, err
	}
	b, err = ask(next)
	return a, b, err
}

// overlap is the share of the hits of a that are in b, 1 where a has none.
func overlap(a, b []Hit) float64 {
	if len(a) == 0 {
		return 1
	}
	common := 0
	for i := range a {
		if slices.ContainsFunc(b, func(h Hit) bool { return h.ID == a[i].ID }) {
			common++
		}
	}
	return float64(common) / float64(len(a))
}

// ndcg is the nDCG at 10 of the documents in the order of their best chunk, with
// the grade as gain and log2(rank+1) as discount, as trec_eval computes it.
func ndcg(hits []Hit, relevant map[string]int) float64 {
	var gain, ideal float64
	var seen []string
	for _, h := range hits {
		if !slices.Contains(seen, h.DocumentID) {
			seen = append(seen, h.DocumentID)
			gain += float64(relevant[h.DocumentID]) / math.Log2(float64(len(seen)+1))
		}
	}
	var grades []int
	for _, g := range relevant {
		grades = append(grades, g)
	}
	slices.Sort(grades)
	slices.Reverse(grades)
	for i, g := range grades[:min(comparedDepth, len(grades))] {
		ideal += float64(g) / math.Log2(float64(i+2))
	}
	return gain / ideal
}
