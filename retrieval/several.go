package retrieval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// find answers what is to be searched, with one search or with several.
func (p *Pipeline) find(ctx context.Context, what Rewritten, plan *plan, result *Result) error {
	plan.question, plan.passage = what.Question, what.Passage
	if len(plan.History) == 0 {
		plan.question = plan.Text // a model is not helped by what rules take off
	}
	if len(what.Variants)+len(what.Parts) == 0 {
		return p.findOne(ctx, what.Question, plan, result)
	}
	return p.findSeveral(ctx, what, plan, result)
}

func (p *Pipeline) findOne(ctx context.Context, text string, plan *plan, result *Result) error {
	for left := maxSearches; left > 0; left-- {
		whole, err := p.answer(ctx, text, plan, result, left == 1)
		if err != nil || whole {
			return err
		}
	}
	return nil
}

// findSeveral searches the question and what stands beside it, and brings the
// hits into one order. What reads the question reads it as a whole, at the end.
func (p *Pipeline) findSeveral(ctx context.Context, what Rewritten, plan *plan, result *Result) error {
	merging := merging{what: what, at: make(map[string]int)}
	for i, text := range merging.queries() {
		part := *plan
		part.partial, part.question = true, text
		if i > 0 {
			part.ExplainChunk, part.passage = "", ""
		}
		sub := Result{Timings: result.Timings}
		if err := p.findOne(ctx, text, &part, &sub); err != nil {
			return err
		}
		result.Timings = sub.Timings
		for _, d := range sub.Degraded {
			if !slices.Contains(result.Degraded, d) {
				result.Degraded = append(result.Degraded, d)
			}
		}
		if i == 0 {
			result.Terms, result.Standing = sub.Terms, sub.Standing
		}
		merging.add(i, sub.Hits)
	}
	watch := startWatch(p.now, &result.Timings)
	hits, err := p.still(ctx, merging.hits(plan.Explain))
	if err != nil {
		return err
	}
	watch.lap(StageFetch)
	hits = p.rerankFinally(ctx, hits, plan, result)
	watch.lap(StageRerank)
	result.Hits, _, err = p.finish(ctx, merged(hits), plan)
	watch.lap(StageFetch)
	return err
}

// merging is the hits of several searches.
type merging struct {
	what     Rewritten
	at       map[string]int // chunk to its place in found
	found    []Hit
	evidence [][]float64 // of found, by query
}

func (m *merging) queries() []string {
	return slices.Concat([]string{m.what.Question}, m.what.Variants, m.what.Parts)
}

func (m *merging) add(query int, hits []Hit) {
	for _, h := range hits {
		i, known := m.at[h.ID]
		if !known {
			i = len(m.found)
			m.at[h.ID] = i
			m.found = append(m.found, h)
			m.evidence = append(m.evidence, make([]float64, len(m.queries())))
		}
		m.evidence[i][query] = Evidence(h.Score)
	}
}

// total is the evidence of a chunk for all queries together.
func (m *merging) total(of []float64) float64 {
	question, variants, parts := of[0], of[1:1+len(m.what.Variants)], of[1+len(m.what.Variants):]
	if len(variants) > 0 {
		sum := 0.
		for _, e := range variants {
			sum += e
		}
		question = (question + sum/float64(len(variants))) / 2
	}
	most := question
	for _, e := range parts {
		most = max(most, e)
	}
	return (question + most) / 2
}

// hits returns what was found, best first.
func (m *merging) hits(explain bool) []Hit {
	for i := range m.found {
		h, of := &m.found[i], m.evidence[i]
		h.Score = Calibrate(m.total(of))
		if explain && h.Explain != nil {
			h.Explain = m.explain(of, *h.Explain)
		}
	}
	slices.SortFunc(m.found, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	return m.found
}

// explain tells the evidence for each query. first is the tree of the first
// query that found the chunk.
func (m *merging) explain(of []float64, first Explanation) *Explanation {
	root := &Explanation{Label: "several queries", Value: m.total(of)}
	told := false
	for i, q := range m.queries() {
		e := Explanation{Label: q, Value: of[i]}
		if of[i] > 0 && !told {
			e.Details, told = []Explanation{first}, true
		}
		root.Details = append(root.Details, e)
	}
	return root
}

// still drops hits that have gone since they were found.
func (p *Pipeline) still(ctx context.Context, hits []Hit) ([]Hit, error) {
	ids := make([]string, len(hits))
	for i := range hits {
		ids[i] = hits[i].ID
	}
	chunks, err := p.records.ChunksByID(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("fetch %d chunks: %w", len(ids), err)
	}
	there := make(map[string]bool, len(chunks))
	for _, c := range chunks {
		there[c.ID] = true
	}
	return slices.DeleteFunc(hits, func(h Hit) bool { return !there[h.ID] }), nil
}

// middle is the direction between two vectors of norm 1; the first where they
// are opposite.
func middle(a, b []float32) []float32 {
	out := make([]float32, len(a))
	norm := 0.
	for i := range a {
		out[i] = a[i] + b[i]
		norm += float64(out[i]) * float64(out[i])
	}
	if norm < 1e-6 {
		return a
	}
	scale := float32(1 / math.Sqrt(norm))
	for i := range out {
		out[i] *= scale
	}
	return out
}
