package retrieval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ragagent/store"
)

// DefaultDenseWeight is what a cosine of 1 adds to the evidence, as it was
// measured for the built-in embedder. .3 ranks prose a little better (+.002),
// but pages of tables much worse (-.025).
const DefaultDenseWeight = .2

// DenseWeight is what a cosine of 1 adds to the evidence in one knowledge base,
// and how it is known.
type DenseWeight struct {
	Weight float64
	Source WeightSource
	// What a calibration saw; zero for other sources.
	Agreement float64   // with the ranking by words, in standard deviations of the cosines
	Error     float64   // standard error of Agreement
	Spread    float64   // standard deviation of the cosines
	Questions int       // that were drafted
	Chunks    int       // that there were
	At        time.Time // when it was made
}

// WeightSource says how a DenseWeight is known.
type WeightSource string

// Sources of weights.
const (
	WeightMeasured   WeightSource = "measured"   // on test collections
	WeightCalibrated WeightSource = "calibrated" // on the knowledge base itself
	WeightPending    WeightSource = "pending"    // not yet: vectors count nothing so far
)

// TopByWords returns the ids of the k best chunks of a knowledge base by words
// alone, best first.
func (p *Pipeline) TopByWords(ctx context.Context, kbID, text string, k int) ([]string, error) {
	match, err := p.index.lexical.Search(ctx, []string{kbID}, text)
	if err != nil {
		return nil, fmt.Errorf("search the words of %s: %w", kbID, err)
	}
	defer match.Release()
	hits := match.Top(k)
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, nil
}

// Cosines returns the cosine of each chunk with a question, in the order of
// ids: 0 for a chunk without a vector, nil if the embedder has nothing to say
// about the question. kb may name another set of vectors than the one that is
// searched, see Index.LoadShadow. store.ErrNotFound if the vectors are not there.
func (p *Pipeline) Cosines(ctx context.Context, kb store.KnowledgeBase, question string, ids []string) ([]float32, error) {
	if p.index.vectors == nil {
		return nil, fmt.Errorf("vectors of %s: %w", kb.Name, store.ErrNotFound)
	}
	space, unpin, ok := p.index.pin(kb)
	if !ok {
		return nil, fmt.Errorf("vectors of %s: %w", kb.Name, store.ErrNotFound)
	}
	defer unpin()
	vector, err := p.embedQuery(ctx, kb, question)
	if err != nil || vector == nil {
		return nil, err
	}
	cosines, err := p.index.vectors.Cosines(ctx, space, vector, ids)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("compare with the vectors of %s: %w", kb.Name, err)
	}
	return cosines, err
}

// Sample returns the ids of at most n chunks from all over a knowledge base,
// the same ones while it does not change; none if it is not loaded.
func (x *Index) Sample(kbID string, n int) []string {
	ids, _ := x.lexical.IDs(kbID)
	if len(ids) <= n {
		return ids
	}
	out := make([]string, n)
	for i := range out {
		out[i] = ids[i*len(ids)/n]
	}
	return out
}
