package retrieval

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"ragagent/store"
)

// Load implements Indexer. Until it returns, searches find what was there
// before; for a moment at its end they may rank by words alone, or by the words
// that were there before.
func (x *Index) Load(ctx context.Context, kb store.KnowledgeBase, chunks iter.Seq2[store.Chunk, error]) error {
	b, unlock := x.lock(kb.ID)
	defer unlock()
	metadata := x.tables.load(ctx, kb.ID)
	x.chunks.drop(kb.ID)
	n := 0
	err := x.load(ctx, kb, func(yield func(store.Chunk, error) bool) {
		for chunk, err := range x.chunks.passing(chunks) {
			n++
			if !yield(chunk, err) {
				return
			}
		}
	})
	if missing := metadata(); err == nil {
		err = missing
	}
	if err != nil {
		return fmt.Errorf("load the index of %s: %w", kb.ID, err)
	}
	x.reset(b, n, n)
	return x.settle(ctx, b, collection(kb))
}

// vectorBatch is how many vectors are handed from one index to the other at a
// time, and vectorBatches how many of these may wait: what Load keeps of them.
const (
	vectorBatch   = 256
	vectorBatches = 4
)

// errNotAll ends the vectors of a load that failed elsewhere.
var errNotAll = errors.New("the chunks ended early")

// load builds both indexes from one pass over the chunks: words are indexed as
// they come, vectors beside them.
func (x *Index) load(ctx context.Context, kb store.KnowledgeBase, chunks iter.Seq2[store.Chunk, error]) error {
	if x.vectors == nil {
		return x.lexical.Load(ctx, kb.ID, chunks)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := tee{entries: make(chan []store.VectorEntry, vectorBatches)}
	vectors := make(chan error, 1)
	go func() {
		err := x.loadVectors(ctx, kb, t.vectors)
		if err != nil {
			cancel(err) // nobody takes what the words bring
		}
		vectors <- err
	}()
	words := x.lexical.Load(ctx, kb.ID, t.chunks(ctx, chunks))
	close(t.entries)
	err := <-vectors
	switch {
	case words != nil && (err == nil || errors.Is(err, errNotAll)):
		return fmt.Errorf("words: %w", words)
	case err != nil:
		return fmt.Errorf("vectors: %w", err)
	}
	return nil
}

// tee passes chunks on and keeps their vectors for somebody else.
type tee struct {
	entries chan []store.VectorEntry
	whole   bool // all have been sent; read when entries is closed
}

func (t *tee) chunks(ctx context.Context, chunks iter.Seq2[store.Chunk, error]) iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		batch := make([]store.VectorEntry, 0, vectorBatch)
		send := func() bool {
			select {
			case t.entries <- batch:
				batch = make([]store.VectorEntry, 0, vectorBatch)
				return true
			case <-ctx.Done():
				yield(store.Chunk{}, context.Cause(ctx))
				return false
			}
		}
		for chunk, err := range chunks {
			if err == nil && chunk.Vector != nil {
				batch = append(batch, store.VectorEntry{ID: chunk.ID, Vector: chunk.Vector})
				if len(batch) == vectorBatch && !send() {
					return
				}
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
		t.whole = send()
	}
}

// vectors yields what chunks has sent, and an error if that was not all.
func (t *tee) vectors(yield func(store.VectorEntry, error) bool) {
	for batch := range t.entries {
		for _, e := range batch {
			if !yield(e, nil) {
				return
			}
		}
	}
	if !t.whole {
		yield(store.VectorEntry{}, errNotAll)
	}
}

// loadVectors puts exactly these vectors in the place of those of a knowledge
// base's collection.
func (x *Index) loadVectors(ctx context.Context, kb store.KnowledgeBase, entries iter.Seq2[store.VectorEntry, error]) error {
	name := collection(kb)
	x.keep(kb.ID, name)
	next, stop := iter.Pull2(entries)
	defer stop()
	first, err, ok := next()
	switch {
	case err != nil:
		return err
	case !ok:
		return x.vectors.DeleteCollection(ctx, name)
	}
	return x.vectors.Load(ctx, name, len(first.Vector), func(yield func(store.VectorEntry, error) bool) {
		for e, err, ok := first, error(nil), true; ok; e, err, ok = next() {
			if !yield(e, err) {
				return
			}
		}
	})
}
