// Package route chooses, of many knowledge bases, those that are most likely to
// hold what a question asks for: by how many of their chunks have its words, and
// by what their names and descriptions say.
package route

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// Statistics weighs terms in collections; retrieval.LexicalIndex implements it.
type Statistics interface {
	TermWeights(collections []string, terms []string) []retrieval.TermWeight
}

// Config configures a Router. Both fields are required.
type Config struct {
	Analyzer   *analysis.Analyzer // the one the index was built with
	Statistics Statistics
}

// Router implements retrieval.Router. It may be used concurrently.
type Router struct {
	analyzer     *analysis.Analyzer
	statistics   Statistics
	descriptions descriptions
}

var _ retrieval.Router = (*Router)(nil)

// New returns a Router.
func New(cfg Config) (*Router, error) {
	if cfg.Analyzer == nil || cfg.Statistics == nil {
		return nil, errors.New("retrieval/route: Config.Analyzer and Statistics are required")
	}
	return &Router{analyzer: cfg.Analyzer, statistics: cfg.Statistics, descriptions: descriptions{analyzer: cfg.Analyzer}}, nil
}

// maxTerms bounds the distinct words of a question that are looked up: the
// first ones.
const maxTerms = 64

// Route implements retrieval.Router. Knowledge bases of equal score stay in the
// order they were given in.
func (r *Router) Route(ctx context.Context, text string, bases []store.KnowledgeBase) ([]retrieval.Route, error) {
	terms := r.terms(text)
	seen := make([]sight, len(bases))
	for i, kb := range bases {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen[i] = r.look(kb, terms)
	}
	weights := importance(len(terms), seen)
	routes := make([]retrieval.Route, len(bases))
	for i, kb := range bases {
		routes[i] = retrieval.Route{KnowledgeBaseID: kb.ID, KnowledgeBaseName: kb.Name, Score: seen[i].score(weights)}
	}
	slices.SortStableFunc(routes, func(a, b retrieval.Route) int { return cmp.Compare(b.Score, a.Score) })
	return routes, nil
}

// terms are the distinct words of a question.
func (r *Router) terms(text string) []string {
	var terms []string
	for _, t := range r.analyzer.Terms(text) {
		if len(terms) < maxTerms && !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
	}
	return terms
}

// unheardOf is a term that no text has: its idf tells the number of chunks.
const unheardOf = "\x00"

// sight is what a knowledge base has of the words of a question.
type sight struct {
	chunks float64
	df     []float64 // per term: chunks that have it
	said   []bool    // per term: the name or the description has it
}

func (r *Router) look(kb store.KnowledgeBase, terms []string) sight {
	found := r.statistics.TermWeights([]string{kb.ID}, append(slices.Clip(terms), unheardOf))
	said := r.descriptions.of(kb)
	s := sight{df: make([]float64, len(terms)), said: make([]bool, len(terms))}
	for i, term := range terms {
		s.df[i], s.said[i] = float64(found[i].DF), said[term]
	}
	// idf = ln(1 + (n + .5)/.5) = ln(2n + 2)
	s.chunks = math.Round(math.Exp(found[len(terms)].IDF)/2 - 1)
	return s
}

// importance is the idf of each term in all knowledge bases together, as a
// share of the sum; 0 for a term that none of them has. A description counts
// as a chunk.
func importance(terms int, seen []sight) []float64 {
	all := float64(len(seen))
	for i := range seen {
		all += seen[i].chunks
	}
	weights := make([]float64, terms)
	sum := 0.
	for t := range weights {
		df := 0.
		for i := range seen {
			df += seen[i].df[t]
			if seen[i].said[t] {
				df++
			}
		}
		if df > 0 {
			weights[t] = math.Log1p((all - df + .5) / (df + .5))
			sum += weights[t]
		}
	}
	for t := range weights {
		weights[t] /= max(sum, math.SmallestNonzeroFloat64)
	}
	return weights
}

const (
	// Half of a word's weight is had where halfChunks chunks, and halfShare of
	// the collection, have it: few chunks are enough, but of a large collection
	// more than would by chance.
	halfChunks = 1.
	halfShare  = .001
	// descriptionWeight is what a knowledge base gains whose name and
	// description hold all words of the question.
	descriptionWeight = .3
)

// score is the sum over the terms of
//
//	weight (df/(df + halfChunks + halfShare chunks) + descriptionWeight said)
func (s *sight) score(weights []float64) float64 {
	sum := 0.
	for t, w := range weights {
		if s.df[t] > 0 {
			sum += w * s.df[t] / (s.df[t] + halfChunks + halfShare*s.chunks)
		}
		if s.said[t] {
			sum += w * descriptionWeight
		}
	}
	return sum
}
