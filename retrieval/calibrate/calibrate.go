// Package calibrate finds out how much the cosines of an embedder may count in
// a knowledge base: by how far they agree with the ranking by words on
// questions that are drafted from the knowledge base itself. An embedder whose
// vectors say nothing gets no weight. docs/scoring.md has the formula.
package calibrate

import (
	"context"
	"fmt"
	"slices"

	"ragagent/retrieval"
	"ragagent/store"
)

// Space is what a calibration asks; retrieval.Pipeline implements it.
type Space interface {
	// TopByWords returns the k best chunks by words alone.
	TopByWords(ctx context.Context, kbID, text string, k int) ([]string, error)
	// Cosines returns the cosine of each chunk with a question, nil if the
	// embedder has nothing to say about it.
	Cosines(ctx context.Context, kb store.KnowledgeBase, question string, ids []string) ([]float32, error)
}

// Records is the part of the record store that questions are drafted from.
type Records interface {
	KnowledgeBases(ctx context.Context, page store.Page) ([]store.KnowledgeBase, error)
	ChunksByID(ctx context.Context, ids []string) ([]store.Chunk, error)
}

// What a calibration looks at.
const (
	questions      = 200 // drafted
	leastQuestions = 8   // fewer tell nothing
	pickedByWords  = 3   // chunks that words think relevant, for each question
)

// The weight of an embedder is unit * (effect - doubt * error)/usual / spread,
// not below 0 nor above most * unit / spread. It does not change if all cosines
// are multiplied by something, or something is added to them.
const (
	// unit is weight * spread of the built-in embedder, whose weight of .2 was
	// measured on test collections.
	unit = .0156
	// usual is its agreement there, which was 2.2 to 2.8.
	usual = 2.4
	// doubt is how many standard errors an agreement has to be above chance:
	// one useless embedder in a thousand gets a weight, and a small one.
	doubt = 3
	// most is how much better than the built-in embedder any other may count.
	most = 2
)

func weigh(a agreement) float64 {
	if a.spread == 0 || a.questions < leastQuestions {
		return 0
	}
	return unit / a.spread * min(max(a.effect-doubt*a.error, 0)/usual, most)
}

// draft is a question with what words find for it.
type draft struct {
	text   string
	picked []int // columns in the pool
}

// pool numbers chunks.
type pool struct {
	ids []string
	at  map[string]int
}

func (p *pool) column(id string) int {
	n, known := p.at[id]
	if !known {
		n = len(p.ids)
		p.at[id] = n
		p.ids = append(p.ids, id)
	}
	return n
}

// calibrate asks drafted questions. The questions are the same as long as the
// knowledge base is.
func (c *Calibrator) calibrate(ctx context.Context, kb store.KnowledgeBase) (retrieval.DenseWeight, error) {
	w := retrieval.DenseWeight{Source: retrieval.WeightCalibrated, Chunks: kb.ChunkCount, At: c.cfg.Now().UTC()}
	drafted, chunks, err := c.draft(ctx, kb)
	if err != nil {
		return w, err
	}
	var cosines [][]float32
	var picked [][]int
	for i, q := range drafted {
		row, err := c.cfg.Space.Cosines(ctx, kb, q.text, chunks.ids)
		if err != nil {
			return w, fmt.Errorf("question %d of %d: %w", i+1, len(drafted), err)
		}
		if row != nil {
			cosines, picked = append(cosines, row), append(picked, q.picked)
		}
	}
	a := agree(cosines, picked)
	w.Weight, w.Agreement, w.Error, w.Spread, w.Questions = weigh(a), a.effect, a.error, a.spread, a.questions
	return w, nil
}

// draft takes questions from chunks of all parts of the knowledge base.
func (c *Calibrator) draft(ctx context.Context, kb store.KnowledgeBase) ([]draft, pool, error) {
	p := pool{at: make(map[string]int)}
	ids := c.cfg.Sample(kb.ID, questions)
	sources, err := c.cfg.Records.ChunksByID(ctx, ids)
	if err != nil {
		return nil, p, fmt.Errorf("read %d chunks: %w", len(ids), err)
	}
	slices.SortFunc(sources, func(a, b store.Chunk) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	var out []draft
	for _, chunk := range sources {
		p.column(chunk.ID)
		for _, text := range drafts(chunk.ID, chunk.Text, questions/len(sources)) {
			top, err := c.cfg.Space.TopByWords(ctx, kb.ID, text, pickedByWords+1)
			if err != nil {
				return nil, p, err
			}
			top = slices.DeleteFunc(top, func(id string) bool { return id == chunk.ID })
			if len(top) < pickedByWords {
				continue
			}
			d := draft{text: text}
			for _, id := range top[:pickedByWords] {
				d.picked = append(d.picked, p.column(id))
			}
			out = append(out, d)
		}
	}
	return out, p, nil
}
