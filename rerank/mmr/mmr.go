// Package mmr orders hits so that each says something new: maximal marginal
// relevance, Carbonell and Goldstein 1998. It costs precision where one passage
// is wanted, and is for questions that want an overview.
package mmr

import (
	"cmp"
	"context"
	"math"
	"slices"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// DefaultDepth is how many hits are ordered anew; the others follow.
const DefaultDepth = 100

// Config configures a Reranker.
type Config struct {
	// Lambda is what relevance weighs, 0..1: 1 changes nothing, 0 is nothing but
	// difference.
	Lambda float64
	// Depth is how many hits are ordered anew; 0 means DefaultDepth.
	Depth int
	// Analyzer cuts words; nil means analysis.New().
	Analyzer *analysis.Analyzer
}

// Reranker implements retrieval.Reranker.
type Reranker struct{ cfg Config }

var _ retrieval.Reranker = (*Reranker)(nil)

// New checks the configuration. Errors are store.ErrInvalid.
func New(cfg Config) (*Reranker, error) {
	if math.IsNaN(cfg.Lambda) || cfg.Lambda < 0 || cfg.Lambda > 1 {
		return nil, store.Invalid("lambda", "is %v; must be 0 to 1", cfg.Lambda)
	}
	if cfg.Depth < 0 {
		return nil, store.Invalid("depth", "is %d; must not be negative", cfg.Depth)
	}
	if cfg.Depth == 0 {
		cfg.Depth = DefaultDepth
	}
	if cfg.Analyzer == nil {
		cfg.Analyzer = analysis.New()
	}
	return &Reranker{cfg}, nil
}

// Rerank implements retrieval.Reranker: next comes the hit with the highest
//
//	Lambda relevance - (1 - Lambda) max(similarity to a hit before it)
//
// relevance being its evidence between that of the last hit, 0, and that of the
// first, 1; ties by the order they came in. The first hit stays. Scores go by place, see
// retrieval.Reorder.
func (r *Reranker) Rerank(ctx context.Context, _ string, hits []retrieval.Hit) ([]retrieval.Hit, error) {
	depth := min(r.cfg.Depth, len(hits))
	texts := make([]weighed, depth)
	for i := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		texts[i] = weigh(r.cfg.Analyzer.Terms(hits[i].Text))
	}
	relevance := relevances(hits[:depth])
	nearest := make([]float64, depth) // similarity to what was taken
	taken := make([]bool, depth)
	order := make([]int, 0, depth)
	for len(order) < depth {
		best, value := -1, math.Inf(-1)
		for i := range depth {
			if v := r.cfg.Lambda*relevance[i] - (1-r.cfg.Lambda)*nearest[i]; !taken[i] && v > value {
				best, value = i, v
			}
			if len(order) == 0 {
				break
			}
		}
		taken[best] = true
		order = append(order, best)
		for i := range depth {
			if !taken[i] {
				nearest[i] = max(nearest[i], similarity(texts[best], texts[i]))
			}
		}
	}
	return retrieval.Reorder(hits, order, "maximal marginal relevance"), nil
}

// relevances spreads the evidence of hits, best first, over 0..1: scores lie
// close together, and similarities do not.
func relevances(hits []retrieval.Hit) []float64 {
	out := make([]float64, len(hits))
	for i := range hits {
		out[i] = retrieval.Evidence(hits[i].Score)
	}
	if len(out) == 0 {
		return out
	}
	least, most := slices.Min(out), slices.Max(out)
	for i := range out {
		if out[i] -= least; most > least {
			out[i] /= most - least
		}
	}
	return out
}

// weighed is a text as its terms, ascending, with weights of L2 norm 1.
type weighed []weighedTerm

type weighedTerm struct {
	term   string
	weight float64
}

// weigh gives a term the weight 1 + ln tf, as in Salton and Buckley 1988.
func weigh(terms []string) weighed {
	slices.Sort(terms)
	var out weighed
	for i := 0; i < len(terms); {
		end := i + 1
		for end < len(terms) && terms[end] == terms[i] {
			end++
		}
		out = append(out, weighedTerm{terms[i], 1 + math.Log(float64(end-i))})
		i = end
	}
	norm := 0.
	for _, t := range out {
		norm += t.weight * t.weight
	}
	for i := range out {
		out[i].weight /= math.Sqrt(norm)
	}
	return out
}

// similarity is the cosine of two texts, 0..1.
func similarity(a, b weighed) (sum float64) {
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0].term, b[0].term); {
		case c < 0:
			a = a[1:]
		case c > 0:
			b = b[1:]
		default:
			sum += a[0].weight * b[0].weight
			a, b = a[1:], b[1:]
		}
	}
	return sum
}
