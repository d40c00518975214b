package ingest

import (
	"context"
	"errors"
	"fmt"
)

// Unsettling is implemented by blob stores that remember which blobs were under
// way (store.Staged) when the process ended.
type Unsettling interface {
	Unsettled(ctx context.Context) (hashes []string, err error)
	Settle(ctx context.Context, sha256 string) error
}

// Recover removes the blobs that nothing refers to any more, because the process
// ended between the records and the blobs. It is called once, before anything
// is submitted or deleted.
//
// What deleted documents leave is listed in the records (what was left by more
// than 10,000 deletions goes in the background, after Start), what unfinished
// uploads leave is marked among the blobs. Nothing else is removed: other blobs without
// a document are no trace of a kill (records of another age were put in place,
// say), and verify reports them.
func (s *Service) Recover(ctx context.Context) error {
	if _, err := s.sweep(ctx, sweepAtOnce); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if u, ok := s.cfg.Blobs.(Unsettling); ok {
		return s.settle(ctx, u)
	}
	return nil
}

// settle ends what uploads were at when the process ended.
func (s *Service) settle(ctx context.Context, u Unsettling) error {
	hashes, err := u.Unsettled(ctx)
	for _, hash := range hashes {
		s.dropBlob(ctx, hash)
		if failed := u.Settle(ctx, hash); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	if len(hashes) > 0 {
		s.cfg.Log.Info("what unfinished uploads left was cleared up", "blobs", len(hashes))
	}
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	return nil
}
