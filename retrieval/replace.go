package retrieval

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"ragagent/store"
)

// manyChunks is how many chunks of a document Replace holds at a time. Those of
// nearly every document are read before anything changes; of a longer one the
// rest is handed on as it comes.
const manyChunks = 4096

// Replace implements Indexer.
func (x *Index) Replace(ctx context.Context, kb store.KnowledgeBase, documentID string, chunks iter.Seq2[store.Chunk, error]) error {
	next, stop := iter.Pull2(chunks)
	defer stop()
	fresh, err := take(next, manyChunks)
	if err != nil {
		return fmt.Errorf("read the chunks of %s: %w", documentID, err)
	}
	b, unlock := x.lock(kb.ID)
	defer unlock()
	old := x.lexical.DocumentChunks(kb.ID, documentID)
	// The metadata comes before the words and goes after them: no search finds
	// words whose document no filter knows.
	if len(fresh) > 0 {
		if err := x.tables.follow(ctx, kb.ID, documentID); err != nil {
			return err
		}
	}
	in := inflow{next: next, add: func(entries []store.VectorEntry) error { return x.addVectors(ctx, b, kb, entries) }}
	if err := in.vectors(fresh); err != nil {
		return fmt.Errorf("index the vectors of %s: %w", documentID, err)
	}
	// From here on the change is completed whatever becomes of the caller.
	ctx = context.WithoutCancel(ctx)
	if err := x.lexical.Replace(ctx, kb.ID, documentID, x.chunks.passing(in.chunks(fresh))); err != nil {
		err = fmt.Errorf("index the words of %s: %w", documentID, err)
		return errors.Join(err, x.removeVectors(ctx, kb.ID, in.added, old))
	}
	if in.n == 0 {
		x.tables.remove(kb.ID, documentID)
	}
	x.chunks.forget(old)
	x.count(b, in.n, len(old))
	if err := x.removeVectors(ctx, kb.ID, old, in.added); err != nil {
		return fmt.Errorf("remove old vectors of %s: %w", documentID, err)
	}
	return nil
}

// Remove implements Indexer. The words go first: a vector whose chunk has gone
// is not found.
func (x *Index) Remove(ctx context.Context, kbID string, documentIDs []string) error {
	b, unlock := x.lock(kbID)
	defer unlock()
	// It is completed whatever becomes of the caller.
	ctx = context.WithoutCancel(ctx)
	old := x.lexical.Remove(kbID, documentIDs)
	for _, id := range documentIDs {
		x.tables.remove(kbID, id)
	}
	if len(old) == 0 {
		return nil
	}
	x.chunks.forget(old)
	x.count(b, 0, len(old))
	if err := x.removeVectors(ctx, kbID, old, nil); err != nil {
		return fmt.Errorf("remove the vectors of %d documents: %w", len(documentIDs), err)
	}
	return nil
}

// take reads up to n chunks.
func take(next func() (store.Chunk, error, bool), n int) (chunks []store.Chunk, err error) {
	for len(chunks) < n {
		chunk, err, ok := next()
		if err != nil || !ok {
			return chunks, err
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

// inflow are the chunks of a document on their way into the indexes: the vectors
// of each part go ahead of its words, which no search sees before the last.
type inflow struct {
	next  func() (store.Chunk, error, bool) // what follows the first part
	add   func([]store.VectorEntry) error
	n     int      // chunks that came
	added []string // those with a vector
}

// vectors puts in the vectors of a part.
func (in *inflow) vectors(part []store.Chunk) error {
	entries := make([]store.VectorEntry, 0, len(part))
	for i := range part {
		if c := &part[i]; c.Vector != nil {
			entries = append(entries, store.VectorEntry{ID: c.ID, Vector: c.Vector})
			in.added = append(in.added, c.ID)
		}
	}
	in.n += len(part)
	return in.add(entries)
}

// chunks yields the first part, whose vectors are there, and all that follow.
func (in *inflow) chunks(part []store.Chunk) iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		for len(part) > 0 {
			for i := range part {
				if !yield(part[i], nil) {
					return
				}
			}
			if len(part) < manyChunks {
				return // there was no more
			}
			var err error
			if part, err = take(in.next, manyChunks); err == nil {
				err = in.vectors(part)
			}
			if err != nil {
				yield(store.Chunk{}, err)
				return
			}
		}
	}
}

// removeVectors removes those of the ids that are not kept.
func (x *Index) removeVectors(ctx context.Context, kbID string, ids, kept []string) error {
	if x.vectors == nil || len(ids) == 0 {
		return nil
	}
	keep := make(map[string]bool, len(kept))
	for _, id := range kept {
		keep[id] = true
	}
	var remove []string
	for _, id := range ids {
		if !keep[id] {
			remove = append(remove, id)
		}
	}
	if len(remove) == 0 {
		return nil
	}
	err := x.vectors.Apply(ctx, x.vectorsOf(kbID), store.VectorChange{Remove: remove})
	if errors.Is(err, store.ErrNotFound) {
		return nil // no chunk of this knowledge base ever had a vector
	}
	return err
}
