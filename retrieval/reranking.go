package retrieval

import (
	"context"
	"fmt"

	"ragagent/store"
)

// rerankKind is the query's own, else that of the first knowledge base that
// has one, else the pipeline's.
func (p *Pipeline) rerankKind(plan *plan) store.RerankKind {
	if plan.NoRerank {
		return store.RerankNone
	}
	if plan.Rerank != "" {
		return plan.Rerank
	}
	for _, kb := range plan.bases {
		if kb.Retrieval.Rerank != "" {
			return kb.Retrieval.Rerank
		}
	}
	if p.defaultRerank != "" {
		return p.defaultRerank
	}
	return store.RerankLexical
}

// DefaultLambda is what relevance weighs in MMR, against 1 - it for what is new.
const DefaultLambda = .7

func (plan *plan) lambda() float64 {
	if plan.MMRLambda > 0 {
		return plan.MMRLambda
	}
	for _, kb := range plan.bases {
		if kb.Retrieval.MMRLambda > 0 {
			return kb.Retrieval.MMRLambda
		}
	}
	return DefaultLambda
}

// first are the rerankers that every search has, by words: without words there
// is nothing for them to go by.
func (p *Pipeline) first(plan *plan) []Reranker {
	if plan.Mode == Dense || p.rerankKind(plan) == store.RerankNone {
		return nil
	}
	return p.rerankers
}

// final returns the one reranker that comes last, nil if there is none to come.
// The error says that the one asked for is not set up.
func (p *Pipeline) final(plan *plan) (Reranker, error) {
	kind := p.rerankKind(plan)
	var r Reranker
	switch kind {
	case store.RerankNone, store.RerankLexical:
		return nil, nil
	case store.RerankMMR:
		if p.diversify != nil {
			r = p.diversify(plan.lambda())
		}
	default:
		r = p.finalRerankers[kind]
	}
	if r == nil {
		return nil, fmt.Errorf("%s is not set up", kind)
	}
	return r, nil
}

// reranks says whether there is a second stage.
func (p *Pipeline) reranks(plan *plan) bool {
	final, _ := p.final(plan) // what is not set up reranks nothing
	return len(p.first(plan)) > 0 || final != nil
}

// rerank runs the second stage. A reranker that fails leaves the order as it
// found it. text is what was searched, with its spelling repaired; a model
// reads the question as it was understood.
func (p *Pipeline) rerank(ctx context.Context, text string, hits []Hit, plan *plan, result *Result) []Hit {
	for _, r := range p.first(plan) {
		hits = p.rerankOnce(ctx, r, text, hits, result)
	}
	if plan.partial {
		return hits
	}
	return p.rerankFinally(ctx, hits, plan, result)
}

func (p *Pipeline) rerankFinally(ctx context.Context, hits []Hit, plan *plan, result *Result) []Hit {
	r, err := p.final(plan)
	if err != nil {
		result.Degraded = append(result.Degraded, "rerank: "+err.Error())
	}
	if r == nil {
		return hits
	}
	return p.rerankOnce(ctx, r, plan.question, hits, result)
}

func (p *Pipeline) rerankOnce(ctx context.Context, r Reranker, text string, hits []Hit, result *Result) []Hit {
	if len(hits) == 0 {
		return hits
	}
	ctx, cancel := context.WithTimeout(ctx, p.rerankTimeout)
	defer cancel()
	own := make([]Hit, len(hits))
	copy(own, hits)
	next, err := r.Rerank(ctx, text, own)
	if err != nil {
		result.Degraded = append(result.Degraded, "rerank: "+err.Error())
		return hits
	}
	return next
}

// Reorder returns hits in another order, given by their indexes, which names
// each hit once or not at all: those that are not named follow as they were. A
// ranking that has no scores of its own gives its first hit the best score that
// there was, and so on: scores keep falling, and a threshold keeps as many. what
// says in an explanation who did that.
func Reorder(hits []Hit, order []int, what string) []Hit {
	out := make([]Hit, 0, len(hits))
	taken := make([]bool, len(hits))
	for _, i := range order {
		if i >= 0 && i < len(hits) && !taken[i] {
			taken[i] = true
			out = append(out, hits[i])
		}
	}
	for i := range hits {
		if !taken[i] {
			out = append(out, hits[i])
		}
	}
	for i := range out {
		score := hits[i].Score
		if out[i].Explain != nil && out[i].ID != hits[i].ID {
			out[i].Explain = &Explanation{Label: what, Value: Evidence(score), Details: []Explanation{*out[i].Explain}}
		}
		out[i].Score = score
	}
	return out
}
