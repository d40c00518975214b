package retrieval

import (
	"context"
	"errors"
	"fmt"

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
	vectors, err = x.vectors.IDs(ctx, kbID)
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
	cosines, err := x.vectors.Cosines(ctx, kbID, chunk.Vector, []string{chunk.ID})
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("compare the vector of %s: %w", chunk.ID, err)
	}
	return float64(cosines[0]), nil
}
