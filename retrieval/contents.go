package retrieval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"ragagent/store"
)

// Contents returns the ids of the chunks of a knowledge base that can be found
// by words and by vector, each ascending: what verify compares with the truth.
// store.ErrNotFound if the knowledge base is not loaded.
func (x *Index) Contents(ctx context.Context, kbID string) (words, vectors []string, err error) {
	_, unlock := x.lock(kbID) // a writer half way has vectors without their words
	defer unlock()
	words, ok := x.lexical.IDs(kbID)
	if !ok {
		return nil, nil, fmt.Errorf("index of %s: %w", kbID, store.ErrNotFound)
	}
	if x.vectors == nil {
		return words, nil, nil
	}
	vectors, err = x.vectors.IDs(ctx, x.vectorsOf(kbID))
	if errors.Is(err, store.ErrNotFound) {
		return words, nil, nil // no chunk has a vector
	}
	if err != nil {
		return nil, nil, fmt.Errorf("vectors of %s: %w", kbID, err)
	}
	return words, vectors, nil
}

// Cosine returns the cosine of a chunk's stored vector with the one the index
// has of it: 1 within rounding if they are the same. 0 if the index has none.
func (x *Index) Cosine(ctx context.Context, kbID string, chunk store.Chunk) (float64, error) {
	if x.vectors == nil {
		return 1, nil // there is nothing that could differ
	}
	cosines, err := x.vectors.Cosines(ctx, x.vectorsOf(kbID), chunk.Vector, []string{chunk.ID})
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("compare the vector of %s: %w", chunk.ID, err)
	}
	return float64(cosines[0]), nil
}

// Compare asks two indexes the same questions and says for which of them the
// words of a knowledge base give other answers, "" if for none: what is restored
// has to answer as what is built.
func (x *Index) Compare(ctx context.Context, other *Index, kbID string, questions []string) (differs string, err error) {
	for _, q := range questions {
		mine, err := x.topWords(ctx, kbID, q)
		if err != nil {
			return "", err
		}
		theirs, err := other.topWords(ctx, kbID, q)
		if err != nil {
			return "", err
		}
		if !slices.EqualFunc(mine, theirs, sameHit) {
			return q, nil
		}
	}
	return "", nil
}

func (x *Index) topWords(ctx context.Context, kbID, text string) ([]LexicalHit, error) {
	match, err := x.lexical.Search(ctx, []string{kbID}, text)
	if err != nil {
		return nil, fmt.Errorf("search the words of %s: %w", kbID, err)
	}
	defer match.Release()
	return slices.Clone(match.Top(10)), nil
}

// sameHit allows for sums in another order.
func sameHit(a, b LexicalHit) bool { return a.ID == b.ID && math.Abs(a.Score-b.Score) < 1e-9 }
