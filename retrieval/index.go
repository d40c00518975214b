package retrieval

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"ragagent/store"
)

// IndexConfig configures an Index.
type IndexConfig struct {
	// Lexical finds chunks by words; required.
	Lexical LexicalIndex
	// Vectors finds them by vectors; nil leaves the dense ranking out.
	Vectors store.VectorIndex
}

// Index keeps the lexical index and the vectors of every knowledge base in
// step. It implements Indexer. The lexical index decides what exists: a vector
// counts only while its chunk is there, so vectors come before their chunk and
// go after it, and no search sees half a change.
type Index struct {
	lexical LexicalIndex
	vectors store.VectorIndex

	mu      sync.Mutex
	writers map[string]*sync.Mutex // one writer per knowledge base
}

var _ Indexer = (*Index)(nil)

// NewIndex returns an index over what the two indexes hold.
func NewIndex(cfg IndexConfig) (*Index, error) {
	if cfg.Lexical == nil {
		return nil, errors.New("retrieval: IndexConfig.Lexical is required")
	}
	return &Index{lexical: cfg.Lexical, vectors: cfg.Vectors, writers: make(map[string]*sync.Mutex)}, nil
}

// lock waits for the other writers of a knowledge base.
func (x *Index) lock(kb string) (unlock func()) {
	x.mu.Lock()
	w := x.writers[kb]
	if w == nil {
		w = new(sync.Mutex)
		x.writers[kb] = w
	}
	x.mu.Unlock()
	w.Lock()
	return w.Unlock
}

// Load implements Indexer. Until it returns, searches find what was there
// before; for a moment at its end they may rank by words alone.
func (x *Index) Load(ctx context.Context, kb store.KnowledgeBase, chunks iter.Seq2[store.Chunk, error]) error {
	defer x.lock(kb.ID)()
	var entries []store.VectorEntry
	collect := func(yield func(store.Chunk, error) bool) {
		for chunk, err := range chunks {
			if chunk.Vector != nil {
				entries = append(entries, store.VectorEntry{ID: chunk.ID, Vector: chunk.Vector})
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
	if err := x.lexical.Load(ctx, kb.ID, collect); err != nil {
		return fmt.Errorf("load the words of %s: %w", kb.ID, err)
	}
	if x.vectors == nil {
		return nil
	}
	if err := x.vectors.DeleteCollection(ctx, kb.ID); err != nil {
		return fmt.Errorf("load the vectors of %s: %w", kb.ID, err)
	}
	if err := x.addVectors(ctx, kb.ID, entries); err != nil {
		return fmt.Errorf("load the vectors of %s: %w", kb.ID, err)
	}
	return nil
}

// Replace implements Indexer.
func (x *Index) Replace(ctx context.Context, kb store.KnowledgeBase, documentID string, chunks iter.Seq2[store.Chunk, error]) error {
	var fresh []store.Chunk
	var entries []store.VectorEntry
	for chunk, err := range chunks {
		if err != nil {
			return fmt.Errorf("read the chunks of %s: %w", documentID, err)
		}
		if chunk.Vector != nil {
			entries = append(entries, store.VectorEntry{ID: chunk.ID, Vector: chunk.Vector})
		}
		fresh = append(fresh, chunk)
	}
	defer x.lock(kb.ID)()
	old := x.lexical.DocumentChunks(kb.ID, documentID)
	if err := x.addVectors(ctx, kb.ID, entries); err != nil {
		return fmt.Errorf("index the vectors of %s: %w", documentID, err)
	}
	// From here on the change is completed whatever becomes of the caller.
	ctx = context.WithoutCancel(ctx)
	if err := x.lexical.Replace(ctx, kb.ID, documentID, each(fresh)); err != nil {
		return fmt.Errorf("index the words of %s: %w", documentID, err)
	}
	if err := x.removeVectors(ctx, kb.ID, old, fresh); err != nil {
		return fmt.Errorf("remove old vectors of %s: %w", documentID, err)
	}
	return nil
}

// Drop implements Indexer.
func (x *Index) Drop(ctx context.Context, kbID string) error {
	defer x.lock(kbID)()
	x.lexical.Drop(kbID)
	if x.vectors == nil {
		return nil
	}
	if err := x.vectors.DeleteCollection(ctx, kbID); err != nil {
		return fmt.Errorf("drop the vectors of %s: %w", kbID, err)
	}
	return nil
}

func (x *Index) addVectors(ctx context.Context, kb string, entries []store.VectorEntry) error {
	if x.vectors == nil || len(entries) == 0 {
		return nil
	}
	if err := x.vectors.CreateCollection(ctx, kb, len(entries[0].Vector)); err != nil {
		return err
	}
	return x.vectors.Apply(ctx, kb, store.VectorChange{Add: entries})
}

// removeVectors removes the old ids that are not among the fresh chunks.
func (x *Index) removeVectors(ctx context.Context, kb string, old []string, fresh []store.Chunk) error {
	keep := make(map[string]bool, len(fresh))
	for i := range fresh {
		keep[fresh[i].ID] = fresh[i].Vector != nil
	}
	var remove []string
	for _, id := range old {
		if !keep[id] {
			remove = append(remove, id)
		}
	}
	if x.vectors == nil || len(remove) == 0 {
		return nil
	}
	err := x.vectors.Apply(ctx, kb, store.VectorChange{Remove: remove})
	if errors.Is(err, store.ErrNotFound) {
		return nil // no chunk of this knowledge base ever had a vector
	}
	return err
}

func each(chunks []store.Chunk) iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		for i := range chunks {
			if !yield(chunks[i], nil) {
				return
			}
		}
	}
}
