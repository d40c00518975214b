// Package lexical is the second stage of ranking that needs no model: it
// rewards chunks that hold the names and numbers of the question, and chunks
// that are tied by their title to another good chunk, which is what questions
// that need two documents ask for. docs/scoring.md has the formulas.
package lexical

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
)

// Statistics weighs terms in the union of collections;
// retrieval.LexicalIndex implements it.
type Statistics interface {
	TermWeights(collections []string, terms []string) []retrieval.TermWeight
}

// Config configures a Reranker. Both fields are required.
type Config struct {
	Analyzer   *analysis.Analyzer // the one the index was built with
	Statistics Statistics
}

// Reranker implements retrieval.Reranker.
type Reranker struct {
	analyzer   *analysis.Analyzer
	statistics Statistics
	titles     *titles
}

var _ retrieval.Reranker = (*Reranker)(nil)

// New returns a Reranker.
func New(cfg Config) (*Reranker, error) {
	if cfg.Analyzer == nil || cfg.Statistics == nil {
		return nil, errors.New("rerank/lexical: Config.Analyzer and Statistics are required")
	}
	return &Reranker{analyzer: cfg.Analyzer, statistics: cfg.Statistics, titles: newTitles(cfg.Analyzer)}, nil
}

// Rerank implements retrieval.Reranker.
func (r *Reranker) Rerank(ctx context.Context, query string, hits []retrieval.Hit) ([]retrieval.Hit, error) {
	q := r.question(query, collections(hits))
	if len(q.terms) == 0 {
		return hits, nil
	}
	all := make([]passage, len(hits))
	passages := make([]*passage, len(hits)) // they are large, and sorted twice
	for i := range hits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all[i] = r.passage(&q, &hits[i])
		all[i].addEntities(&q)
		passages[i] = &all[i]
	}
	sortPassages(passages)
	r.addLinks(&q, passages)
	sortPassages(passages)
	out := make([]retrieval.Hit, len(passages))
	for i := range passages {
		out[i] = passages[i].finished()
	}
	return out, nil
}

func collections(hits []retrieval.Hit) []string {
	var out []string
	for i := range hits {
		if !slices.Contains(out, hits[i].KnowledgeBaseID) {
			out = append(out, hits[i].KnowledgeBaseID)
		}
	}
	return out
}

// question is what is asked for.
type question struct {
	collections []string
	terms       map[string]int // distinct terms
	idf         []float64      // per term
	entity      []bool         // per term: a name or a number
	total       float64        // sum of idf
	entities    float64        // sum of idf of names and numbers

	tokens []analysis.Token // room for the text that is being analysed
}

func (r *Reranker) question(query string, collections []string) question {
	q := question{collections: collections, terms: make(map[string]int)}
	var terms []string
	for i, token := range r.analyzer.Analyze(query) {
		n, known := q.terms[token.Term]
		if !known {
			n = len(terms)
			q.terms[token.Term] = n
			terms = append(terms, token.Term)
			q.entity = append(q.entity, false)
		}
		first := i == 0 && strings.TrimSpace(query[:token.Start]) == ""
		if isEntity(query[token.Start:token.End], first) {
			q.entity[n] = true
		}
	}
	for i, w := range r.statistics.TermWeights(collections, terms) {
		if w.DF == 0 {
			w.IDF = 0 // no chunk can have it
		}
		q.idf = append(q.idf, w.IDF)
		q.total += w.IDF
		if q.entity[i] {
			q.entities += w.IDF
		}
	}
	return q
}

// isEntity says whether a written word looks like a name or a number. A
// capital says nothing about the first word of a question.
func isEntity(written string, first bool) bool {
	if strings.ContainsAny(written, "0123456789") {
		return true
	}
	return !first && startsUpper(written)
}

// passage is a hit on its way through the second stage.
type passage struct {
	hit      *retrieval.Hit
	evidence float64
	title    []string // terms of the title
	rarest   int      // the rarest of them
	has      []bool   // per term of the question: in title, headings or text
	notes    []retrieval.Explanation

	text *textView // nil: not needed so far
}

func (r *Reranker) passage(q *question, hit *retrieval.Hit) passage {
	p := passage{
		hit:      hit,
		evidence: retrieval.Evidence(hit.Score),
		title:    r.titles.terms(titleName(hit.Title)),
		has:      make([]bool, len(q.idf)),
	}
	held := hit.Terms
	if held == nil { // not from Pipeline
		held = r.analyzer.Terms(hit.Title + "\n" + strings.Join(hit.Headings, "\n") + "\n" + hit.Context + "\n" + hit.Text)
	}
	for _, term := range held {
		if n, ok := q.terms[term]; ok {
			p.has[n] = true
		}
	}
	return p
}

// add adds to the evidence, and says so.
func (p *passage) add(label string, value float64) {
	if value == 0 {
		return
	}
	p.evidence += value
	p.notes = append(p.notes, retrieval.Explanation{Label: label, Value: value})
}

// entityWeight is what a chunk gains that holds all names and numbers.
const entityWeight = .05

// addEntities rewards the share of the question's names and numbers, by idf,
// that the chunk holds.
func (p *passage) addEntities(q *question) {
	if q.entities == 0 {
		return
	}
	sum := 0.
	for i, has := range p.has {
		if has && q.entity[i] {
			sum += q.idf[i]
		}
	}
	p.add("names and numbers", entityWeight*sum/q.entities)
}

// finished returns the hit with its new score.
func (p *passage) finished() retrieval.Hit {
	h := *p.hit
	h.Score = retrieval.Calibrate(p.evidence)
	if h.Explain != nil && len(p.notes) > 0 {
		root := retrieval.Explanation{Label: "lexical reranking", Value: p.evidence}
		root.Details = append([]retrieval.Explanation{*h.Explain}, p.notes...)
		h.Explain = &root
	}
	return h
}

func sortPassages(passages []*passage) {
	slices.SortFunc(passages, func(a, b *passage) int {
		if c := cmp.Compare(b.evidence, a.evidence); c != 0 {
			return c
		}
		return strings.Compare(a.hit.ID, b.hit.ID)
	})
}
