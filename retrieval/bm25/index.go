// Package bm25 is the lexical index: an inverted index in memory that ranks
// chunks by BM25L over several fields. docs/scoring.md has the formulas.
//
// A collection is a list of immutable segments and, for each, the set of its
// dead chunks. A write makes a new list and swaps one pointer; searches keep
// the list they started with. Statistics are always those of the live chunks,
// so a collection ranks exactly as if it had just been built of what it holds.
package bm25

import (
	"context"
	"errors"
	"iter"
	"sync"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// Config configures an Index.
type Config struct {
	// Analyzer cuts texts and queries into words; required.
	Analyzer *analysis.Analyzer
}

// Index implements retrieval.LexicalIndex.
type Index struct {
	analyzer *analysis.Analyzer
	shop     *workshop

	mu          sync.RWMutex // guards the map, not the collections
	collections map[string]*collection
}

var _ retrieval.LexicalIndex = (*Index)(nil)

// New returns an empty index.
func New(cfg Config) (*Index, error) {
	if cfg.Analyzer == nil {
		return nil, errors.New("bm25: Config.Analyzer is required")
	}
	return &Index{analyzer: cfg.Analyzer, shop: newWorkshop(cfg.Analyzer), collections: make(map[string]*collection)}, nil
}

// collection returns the named one, or nil.
func (x *Index) collection(name string) *collection {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.collections[name]
}

// ensure returns the named collection, which it makes if it is not there.
func (x *Index) ensure(name string) *collection {
	if c := x.collection(name); c != nil {
		return c
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.collections[name]
	if c == nil {
		c = newCollection(name, x.shop)
		x.collections[name] = c
	}
	return c
}

// Load implements retrieval.LexicalIndex.
func (x *Index) Load(ctx context.Context, collection string, chunks iter.Seq2[store.Chunk, error]) error {
	return x.ensure(collection).load(ctx, chunks)
}

// Replace implements retrieval.LexicalIndex.
func (x *Index) Replace(ctx context.Context, collection, documentID string, chunks iter.Seq2[store.Chunk, error]) error {
	return x.ensure(collection).replace(ctx, documentID, chunks)
}

// Remove implements retrieval.LexicalIndex.
func (x *Index) Remove(collection string, documentIDs []string) []string {
	c := x.collection(collection)
	if c == nil {
		return nil
	}
	return c.remove(documentIDs)
}

// Drop implements retrieval.LexicalIndex.
func (x *Index) Drop(collection string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.collections, collection)
}

// DocumentChunks implements retrieval.LexicalIndex.
func (x *Index) DocumentChunks(collection, documentID string) []string {
	c := x.collection(collection)
	if c == nil {
		return nil
	}
	return c.documentChunks(documentID)
}

// snapshots returns those of the collections that are there.
func (x *Index) snapshots(collections []string) []*snapshot {
	var out []*snapshot
	for _, name := range collections {
		if c := x.collection(name); c != nil {
			out = append(out, c.snapshot.Load())
		}
	}
	return out
}
