package ingest

import (
	"context"
	"time"

	"ragagent/store"
)

// Bounds of looking after the blobs of deletions.
const (
	// sweepAtOnce is how many deletions a start looks after before anything
	// else, in groups of deleteGroup: it must not take long.
	sweepAtOnce = 40
	// sweepEvery is how often a server does it.
	sweepEvery = 10 * time.Minute
)

// sweep removes the blobs of deletions that were cut off, group by group, and
// writes down how far it came. It returns whether there is more, which there is
// after the given number of groups, or while a backup holds blobs back.
func (s *Service) sweep(ctx context.Context, groups int) (more bool, err error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	for range groups {
		hashes, upTo, err := s.cfg.Records.DroppedBlobs(ctx, deleteGroup)
		if err != nil || upTo == 0 {
			return false, err
		}
		if !s.dropBlobs(ctx, hashes) {
			return true, ctx.Err()
		}
		if err := s.cfg.Records.ForgetDropped(ctx, upTo); err != nil {
			if store.IsFull(err) {
				err = nil // it was only to be written down
			}
			return true, err
		}
	}
	return true, nil
}

// Sweep ends deletions of blobs that were cut off, however many: Recover does so
// for the first, and a server that was started goes on in the background.
func (s *Service) Sweep(ctx context.Context) error {
	for last := int64(-1); ; {
		_, upTo, err := s.cfg.Records.DroppedBlobs(ctx, 1)
		if err != nil || upTo == 0 || upTo == last {
			return err // there is none, or it does not go on
		}
		last = upTo
		if more, err := s.sweep(ctx, sweepAtOnce); err != nil || !more {
			return err
		}
	}
}

// keepSweeping sweeps now and then, until ctx ends: the records remember a
// deletion until its blobs are known to be gone.
func (s *Service) keepSweeping(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.Error("blobs of deleted documents may be left", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(sweepEvery):
		}
	}
}
