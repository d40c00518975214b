package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"ragagent/store"
)

// Restorer is implemented by indexers that keep side files.
type Restorer interface {
	// Restore fills the index of a knowledge base from what was kept of it, and
	// makes it equal to the truth. ok false says that it has to be built by
	// Load, err why if there is more to it than that nothing was kept.
	Restore(ctx context.Context, kb store.KnowledgeBase, truth store.Visible) (ok bool, err error)
}

// Progress says how far loading is.
type Progress struct {
	KnowledgeBase store.KnowledgeBase // the one that was done now
	Restored      bool                // from a side file
	Done, Total   int                 // knowledge bases
}

// Load fills the search indexes from side files, where there are some that fit,
// and from the truth. It is called once, before Start and before questions are
// answered; progress, if not nil, is told of each knowledge base that is done,
// one at a time. One that is damaged is quarantined, see Quarantined, and does
// not keep the others from being loaded.
//
// As many are loaded at a time as there are cores, small ones first, but only
// one is built from its texts: that takes all cores by itself, and memory.
func (s *Service) Load(ctx context.Context, progress func(Progress)) error {
	var kbs []store.KnowledgeBase
	err := s.eachKnowledgeBase(ctx, func(kb store.KnowledgeBase) error {
		kbs = append(kbs, kb)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(kbs, func(a, b store.KnowledgeBase) int { return cmp.Compare(a.ChunkCount, b.ChunkCount) })
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // of what follows, and of progress
	done := 0
	queue := make(chan store.KnowledgeBase, len(kbs))
	for _, kb := range kbs {
		queue <- kb
	}
	close(queue)
	var loaders sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(kbs)) {
		loaders.Go(func() {
			for kb := range queue {
				restored, err := s.load(ctx, kb)
				if err != nil {
					cancel(fmt.Errorf("load knowledge base %q: %w", kb.Name, err))
					return
				}
				mu.Lock()
				done++
				if progress != nil {
					progress(Progress{KnowledgeBase: kb, Restored: restored, Done: done, Total: len(kbs)})
				}
				mu.Unlock()
			}
		})
	}
	loaders.Wait()
	return context.Cause(ctx)
}

func (s *Service) eachKnowledgeBase(ctx context.Context, do func(store.KnowledgeBase) error) error {
	page := store.Page{Limit: store.MaxPage}
	for {
		kbs, err := s.cfg.Records.KnowledgeBases(ctx, page)
		if err != nil {
			return fmt.Errorf("list knowledge bases: %w", err)
		}
		for _, kb := range kbs {
			if err := do(kb); err != nil {
				return err
			}
		}
		if len(kbs) < page.Size() {
			return nil
		}
		page.After = kbs[len(kbs)-1].ID
	}
}

// load fills the indexes of one knowledge base. Damage puts it into quarantine;
// the error is that of ctx only.
func (s *Service) load(ctx context.Context, kb store.KnowledgeBase) (restored bool, err error) {
	defer s.order.lock(kb.ID)() // no document comes or goes meanwhile
	restored, err = s.restore(ctx, kb)
	if err == nil && !restored {
		err = s.build(ctx, kb)
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err == nil {
		s.release(kb.ID)
		return restored, nil
	}
	s.quarantine(ctx, kb, err)
	return false, nil
}

// restore fills the indexes from a side file. Whatever is wrong with that is a
// reason to build them, no more; the error is that of ctx only.
func (s *Service) restore(ctx context.Context, kb store.KnowledgeBase) (bool, error) {
	r, ok := s.cfg.Indexer.(Restorer)
	if !ok {
		return false, nil
	}
	restored, err := r.Restore(ctx, kb, soundTruth{s.cfg.Records})
	if err != nil && ctx.Err() == nil {
		s.cfg.Log.Warn("side file not used: the index is built anew", "id", kb.ID, "name", kb.Name, "reason", err)
	}
	return restored && err == nil, ctx.Err()
}

// build fills the indexes from the texts.
func (s *Service) build(ctx context.Context, kb store.KnowledgeBase) error {
	s.building.Lock()
	defer s.building.Unlock()
	return s.cfg.Indexer.Load(ctx, kb, soundTruth{s.cfg.Records}.VisibleChunks(ctx, kb.ID, ""))
}

// soundTruth checks the chunks that are read.
type soundTruth struct{ store.Visible }

func (t soundTruth) VisibleChunks(ctx context.Context, kb, documentID string) iter.Seq2[store.Chunk, error] {
	return sound(t.Visible.VisibleChunks(ctx, kb, documentID))
}

// sound passes chunks on until one is damaged, which ends the sequence with an
// error that names its document.
func sound(chunks iter.Seq2[store.Chunk, error]) iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		last := "" // the document read last
		for c, err := range chunks {
			switch {
			case err != nil && last != "" && !errors.Is(err, context.Canceled):
				err = fmt.Errorf("after document %s: %w", last, err)
			case err == nil:
				last = c.DocumentID
				if bad := soundChunk(c); bad != nil {
					err = fmt.Errorf("document %s, chunk %d: %w: %w", c.DocumentID, c.Ordinal, store.ErrDamaged, bad)
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}
