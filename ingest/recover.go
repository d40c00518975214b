package ingest

import (
	"context"
	"fmt"
	"iter"

	"ragagent/store"
)

// Recover removes the blobs that nothing refers to any more, because the process
// ended between the records and the blobs. It is called once, before anything
// is submitted or deleted. killed says that the last process did not end by
// itself.
//
// What deleted documents leave is listed in the records. An upload can leave one
// blob that no record has ever named, and no more than one, because storing a
// blob and referring to it happens under a lock. So after a kill one such blob
// is removed. More of them are no trace of a kill: records of another age were
// put in place, say. They stay, and verify reports them.
func (s *Service) Recover(ctx context.Context, killed bool) error {
	s.blobs.Lock()
	defer s.blobs.Unlock()
	dropped, err := s.cfg.Records.DroppedBlobs(ctx)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	for _, hash := range dropped {
		s.dropBlob(ctx, hash)
	}
	if len(dropped) > 0 {
		if err := s.cfg.Records.ForgetDropped(ctx); err != nil && !store.IsFull(err) {
			return fmt.Errorf("recover: %w", err)
		}
	}
	if !killed {
		return nil
	}
	orphan, n, err := s.orphan(ctx)
	switch {
	case err != nil:
		s.cfg.Log.Error("blobs not compared with the records", "error", err)
	case n > 1:
		s.cfg.Log.Warn("several blobs belong to no document: run 'ragagent verify'")
	case n == 1:
		s.cfg.Log.Info("an unfinished upload was removed", "sha256", orphan)
		s.dropBlob(ctx, orphan)
	}
	return nil
}

// orphan walks blobs and references, both ascending, side by side, until it
// has met two blobs without a reference. It returns the first and how many.
func (s *Service) orphan(ctx context.Context) (first string, n int, err error) {
	used, stop := iter.Pull2(s.cfg.Records.ReferencedBlobs(ctx))
	defer stop()
	reference, err, more := used()
	for hash, failed := range s.cfg.Blobs.List(ctx) {
		if failed != nil {
			return "", 0, failed
		}
		for more && err == nil && reference < hash {
			reference, err, more = used()
		}
		if err != nil {
			return "", 0, err
		}
		if more && reference == hash {
			continue
		}
		if n++; n > 1 {
			return first, n, nil
		}
		first = hash
	}
	return first, n, nil
}

// discardBlob deletes a blob that was stored for a record which then could not
// be written. It does not wait for the end of a hold, because the records do
// not list it: a kill before that would leave it behind. The caller holds
// s.blobs.
func (s *Service) discardBlob(ctx context.Context, hash string) {
	if _, held := s.held[hash]; held {
		return // a document had the same content, and has gone since the hold began
	}
	holds := s.holds
	s.holds = 0
	s.dropBlob(ctx, hash)
	s.holds = holds
}

// HoldBlobs keeps every blob that a document refers to now, or later, from
// being deleted until release is called: a backup can read them one after the
// other while documents go. release may be called more than once.
func (s *Service) HoldBlobs() (release func()) {
	s.blobs.Lock()
	s.holds++
	s.blobs.Unlock()
	released := false
	return func() {
		s.blobs.Lock()
		defer s.blobs.Unlock()
		if released {
			return
		}
		released = true
		if s.holds--; s.holds > 0 {
			return
		}
		// Without the caller's context: it may have gone away, and a start
		// would have to do it (Recover).
		held := s.held
		s.held = nil
		for hash := range held {
			s.dropBlob(context.Background(), hash)
		}
	}
}
