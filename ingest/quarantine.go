package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"ragagent/store"
)

// QuarantineError says that a knowledge base is not searched, because what is
// stored of it is damaged or does not fit. The others are not affected.
type QuarantineError struct {
	KnowledgeBase string // its name
	Cause         error
}

func (e *QuarantineError) Error() string {
	return fmt.Sprintf("knowledge base %q is quarantined: %v. Delete the document that is named here, or restore a backup; 'ragagent verify' says more",
		e.KnowledgeBase, e.Cause)
}

func (e *QuarantineError) Unwrap() error { return e.Cause }

// Quarantined returns the *QuarantineError of a knowledge base, nil if it is
// searched. A quarantine ends when a document is deleted and the rest loads,
// or at the next start.
func (s *Service) Quarantined(kbID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.quarantined[kbID]; q != nil {
		return q
	}
	return nil
}

// load builds the indexes of one knowledge base. Damage puts it into
// quarantine; the error is that of ctx only.
func (s *Service) load(ctx context.Context, kb store.KnowledgeBase) error {
	defer s.order.lock(kb.ID)() // no document comes or goes meanwhile
	err := s.cfg.Indexer.Load(ctx, kb, sound(s.cfg.Records.VisibleChunks(ctx, kb.ID, "")))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		s.release(kb.ID)
		return nil
	}
	q := &QuarantineError{KnowledgeBase: kb.Name, Cause: err}
	s.cfg.Log.Error("knowledge base quarantined", "id", kb.ID, "name", kb.Name, "error", err)
	s.mu.Lock()
	s.quarantined[kb.ID] = q
	s.mu.Unlock()
	// Half of it must not be found, nor what it was before.
	if err := s.cfg.Indexer.Drop(context.WithoutCancel(ctx), kb.ID); err != nil {
		s.cfg.Log.Error("the index of a quarantined knowledge base is still there", "id", kb.ID, "error", err)
	}
	return nil
}

// release ends a quarantine.
func (s *Service) release(kbID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.quarantined, kbID)
}

// reload tries to end a quarantine after a document was deleted. A failure
// leaves it as it is.
func (s *Service) reload(ctx context.Context, kb store.KnowledgeBase) {
	if s.Quarantined(kb.ID) == nil {
		return
	}
	if err := s.load(ctx, kb); err == nil && s.Quarantined(kb.ID) == nil {
		s.cfg.Log.Info("knowledge base released from quarantine", "id", kb.ID, "name", kb.Name)
	}
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
