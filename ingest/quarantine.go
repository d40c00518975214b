package ingest

import (
	"context"
	"fmt"

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

// quarantine takes a knowledge base out of the indexes: half of it must not be
// found, nor what it was before.
func (s *Service) quarantine(ctx context.Context, kb store.KnowledgeBase, cause error) {
	s.cfg.Log.Error("knowledge base quarantined", "id", kb.ID, "name", kb.Name, "error", cause)
	s.mu.Lock()
	s.quarantined[kb.ID] = &QuarantineError{KnowledgeBase: kb.Name, Cause: cause}
	s.mu.Unlock()
	if err := s.cfg.Indexer.Drop(context.WithoutCancel(ctx), kb.ID); err != nil {
		s.cfg.Log.Error("the index of a quarantined knowledge base is still there", "id", kb.ID, "error", err)
	}
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
	if _, err := s.load(ctx, kb); err == nil && s.Quarantined(kb.ID) == nil {
		s.cfg.Log.Info("knowledge base released from quarantine", "id", kb.ID, "name", kb.Name)
	}
}
