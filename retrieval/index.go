package retrieval

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"ragagent/store"
)

// IndexConfig configures an Index.
type IndexConfig struct {
	// Lexical finds chunks by words; required.
	Lexical LexicalIndex
	// Vectors finds them by vectors; nil leaves the dense ranking out.
	Vectors store.VectorIndex
	// Topics compares what chunks and questions are about; nil leaves that out.
	Topics Topics
	// Files keeps the lexical index on the disk for the next start; nil means
	// that it is built from the texts each time.
	Files SideFiles
	// Documents are the records that filters are answered from; nil: queries
	// with a filter are refused.
	Documents Documents
	// CacheBytes bounds the chunks that are kept in memory for the second stage;
	// 0 means DefaultCacheBytes.
	CacheBytes int64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Index keeps the lexical index and the vectors of every knowledge base in
// step. It implements Indexer. The lexical index decides what exists: a vector
// counts only while its chunk is there, so vectors come before their chunk and
// go after it, and no search sees half a change.
type Index struct {
	lexical LexicalIndex
	vectors store.VectorIndex
	topics  Topics
	files   SideFiles
	tables  tables
	chunks  *chunkCache
	now     func() time.Time

	mu    sync.Mutex
	bases map[string]*base // by knowledge base
}

var _ Indexer = (*Index)(nil)

// NewIndex returns an index over what the two indexes hold.
func NewIndex(cfg IndexConfig) (*Index, error) {
	if cfg.Lexical == nil {
		return nil, errors.New("retrieval: IndexConfig.Lexical is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.CacheBytes <= 0 {
		cfg.CacheBytes = DefaultCacheBytes
	}
	return &Index{
		lexical: cfg.Lexical, vectors: cfg.Vectors, topics: cfg.Topics, files: cfg.Files, tables: tables{records: cfg.Documents},
		now: cfg.Now, bases: make(map[string]*base),
		chunks: newChunkCache(cfg.CacheBytes),
	}, nil
}

// base is what an Index knows of one knowledge base beside what it holds.
type base struct {
	writer sync.Mutex // one at a time

	// Guarded by Index.mu:
	users   int       // who hold or await writer
	there   bool      // it is loaded
	chunks  int       // that can be found
	changed int       // chunks that came or went since the side file was written
	went    int       // of them, went: the file still has their words
	latest  time.Time // change
	saved   time.Time // when writing the side file was last tried
	spaces
}

// lock waits for the other writers of a knowledge base. What is known of one
// that is not there any more is forgotten by its last user, who may be a
// question that is at its vectors.
func (x *Index) lock(kb string) (b *base, unlock func()) {
	x.mu.Lock()
	b = x.bases[kb]
	if b == nil {
		b = new(base)
		x.bases[kb] = b
	}
	b.users++
	x.mu.Unlock()
	b.writer.Lock()
	return b, func() {
		b.writer.Unlock()
		x.mu.Lock()
		defer x.mu.Unlock()
		b.users--
		x.forgetUnused(b, kb)
	}
}

// forgetUnused forgets what is known of a knowledge base that is not there. The
// caller holds Index.mu.
func (x *Index) forgetUnused(b *base, kb string) {
	if b.users == 0 && !b.there && len(b.pins) == 0 && x.bases[kb] == b {
		delete(x.bases, kb)
	}
}

// count notes a change of what a knowledge base holds.
func (x *Index) count(b *base, came, went int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !b.there {
		b.there, b.saved = true, x.now()
	}
	b.chunks += came - went
	b.changed += came + went
	b.went += went
	b.latest = x.now()
}

// Drop implements Indexer.
func (x *Index) Drop(ctx context.Context, kbID string) error {
	b, unlock := x.lock(kbID)
	defer unlock()
	x.lexical.Drop(kbID)
	x.tables.drop(kbID)
	x.chunks.drop(kbID)
	x.forget(b, kbID)
	if x.vectors == nil {
		return nil
	}
	x.mu.Lock()
	current, shadow := b.current, b.shadow
	b.current, b.shadow = "", ""
	x.mu.Unlock()
	if err := errors.Join(x.retire(ctx, b, current), x.retire(ctx, b, shadow)); err != nil {
		return fmt.Errorf("drop the vectors of %s: %w", kbID, err)
	}
	return nil
}

func (x *Index) addVectors(ctx context.Context, b *base, kb store.KnowledgeBase, entries []store.VectorEntry) error {
	if x.vectors == nil || len(entries) == 0 {
		return nil
	}
	name := collection(kb)
	x.mu.Lock()
	if b.current == "" {
		b.current = name
	}
	current := b.current
	x.mu.Unlock()
	if name != current {
		return fmt.Errorf("%w: those of %s are loaded as %s", store.ErrOtherEmbedder, kb.ID, current)
	}
	if err := x.vectors.CreateCollection(ctx, name, len(entries[0].Vector)); err != nil {
		return err
	}
	return x.vectors.Apply(ctx, name, store.VectorChange{Add: entries})
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
