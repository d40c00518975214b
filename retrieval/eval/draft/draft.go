// Package draft writes questions that a knowledge base should be able to
// answer, for a person to accept or strike out: from sentences and headings
// without a model, in a model's words with one. What comes out is a BEIR folder
// that package eval reads.
package draft

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// Passage is a part of a document that a question may be drafted from.
type Passage struct {
	DocumentID   string
	DocumentName string
	Title        string
	Headings     []string // from the outermost
	Page         int      // from 1; 0 for none
	Text         string
}

// Question is a draft.
type Question struct {
	Passage Passage
	Text    string
	Answer  string // "" if it is not known
	From    string // one of the From constants
}

// What a question was made from.
const (
	FromSentence = "sentence"
	FromHeading  = "heading"
	FromModel    = "model"
)

// Bounds of a Config and of what it makes.
const (
	DefaultLimit    = 50
	MaxLimit        = 10_000
	maxQuestion     = 300 // bytes
	DefaultDeadline = time.Minute
)

// Config says how questions are drafted.
type Config struct {
	Analyzer *analysis.Analyzer // required
	Limit    int                // questions: 0 means DefaultLimit, at most MaxLimit
	Seed     uint64             // of which passages are taken
	// Complete asks a model; nil: there is none. What it returns is not trusted.
	Complete func(ctx context.Context, system, user string) (string, error)
	// Deadline ends a call of Complete; 0 means DefaultDeadline.
	Deadline time.Duration
	// Progress, if not nil, is told of every question that is there.
	Progress func(done, total int)
}

// Drafter makes questions. It may be used concurrently.
type Drafter struct{ cfg Config }

// New checks cfg. Errors are store.ErrInvalid.
func New(cfg Config) (*Drafter, error) {
	if cfg.Analyzer == nil {
		return nil, store.Invalid("analyzer", "none given")
	}
	cfg.Limit = cmp.Or(cfg.Limit, DefaultLimit)
	if cfg.Limit < 1 || cfg.Limit > MaxLimit {
		return nil, store.Invalid("limit", "%d is not from 1 to %d", cfg.Limit, MaxLimit)
	}
	if cfg.Deadline <= 0 {
		cfg.Deadline = DefaultDeadline
	}
	if cfg.Progress == nil {
		cfg.Progress = func(int, int) {}
	}
	return &Drafter{cfg}, nil
}

// Draft makes at most one question of each passage and no question twice, as
// many as Config.Limit, of every document in turn. The same passages and seed
// give the same questions, but for a model. failed is why a model was not
// heard, the first time; such passages are asked about without it.
func (d *Drafter) Draft(ctx context.Context, passages []Passage) (questions []Question, failed, err error) {
	words := d.rarities(passages)
	seen := map[string]bool{}
	for _, p := range inTurn(passages, d.cfg.Seed) {
		if len(questions) == d.cfg.Limit {
			break
		}
		if err := ctx.Err(); err != nil {
			return questions, failed, err
		}
		q, ok := d.ask(ctx, p, &failed)
		if !ok {
			q, ok = d.make(p, words, len(questions))
		}
		if key := strings.ToLower(q.Text); ok && !seen[key] {
			seen[key] = true
			questions = append(questions, q)
			d.cfg.Progress(len(questions), d.cfg.Limit)
		}
	}
	return questions, failed, ctx.Err()
}

// inTurn orders passages so that every document has its first one before any
// has its second; documents, and passages within them, in random order.
func inTurn(passages []Passage, seed uint64) []Passage {
	rng := rand.New(rand.NewPCG(seed, 3))
	var order []string
	byDocument := map[string][]Passage{}
	for _, p := range passages {
		if byDocument[p.DocumentID] == nil {
			order = append(order, p.DocumentID)
		}
		byDocument[p.DocumentID] = append(byDocument[p.DocumentID], p)
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, id := range order {
		own := byDocument[id]
		rng.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
	}
	out := make([]Passage, 0, len(passages))
	for round := 0; len(out) < len(passages); round++ {
		for _, id := range order {
			if round < len(byDocument[id]) {
				out = append(out, byDocument[id][round])
			}
		}
	}
	return out
}

// rarities tells how rare each term is among the passages: ln(N/df) + 1.
func (d *Drafter) rarities(passages []Passage) map[string]float64 {
	df := map[string]int{}
	for _, p := range passages {
		terms := d.cfg.Analyzer.Terms(p.Text)
		slices.Sort(terms)
		for _, term := range slices.Compact(terms) {
			df[term]++
		}
	}
	rare := make(map[string]float64, len(df))
	for term, n := range df {
		rare[term] = math.Log(float64(len(passages))/float64(n)) + 1
	}
	return rare
}
