package ingest

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// blobGuard keeps references to blobs and the blobs in step. The lock of a hash
// is held while that blob is committed and referred to, and while it is looked
// whether anything refers to it and, if not, it is removed: a delete can never
// take the bytes of an upload that has just been accepted. Different blobs do
// not wait for each other.
type blobGuard struct {
	names keyed

	mu    sync.Mutex
	holds int                 // of HoldBlobs
	held  map[string]struct{} // blobs to be dropped when there is no hold
}

// lock takes the lock of one hash.
func (g *blobGuard) lock(hash string) (unlock func()) { return g.names.lock(hash) }

// keep says that a blob is kept for now, because there is a hold, and notes
// that it is to be dropped at its end.
func (g *blobGuard) keep(hash string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds == 0 {
		return false
	}
	if g.held == nil {
		g.held = map[string]struct{}{}
	}
	g.held[hash] = struct{}{}
	return true
}

// isHeld says whether a blob is only there because of a hold.
func (g *blobGuard) isHeld(hash string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, held := g.held[hash]
	return held
}

// end ends one hold, and returns what is to be dropped if it was the last.
func (g *blobGuard) end() (held map[string]struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds--; g.holds > 0 {
		return nil
	}
	held, g.held = g.held, nil
	return held
}

// HoldBlobs keeps every blob that a document refers to now, or later, from
// being deleted until release is called: a backup can read them one after the
// other while documents go. release may be called more than once.
func (s *Service) HoldBlobs() (release func()) {
	s.blobs.mu.Lock()
	s.blobs.holds++
	s.blobs.mu.Unlock()
	return sync.OnceFunc(func() {
		// Without the caller's context: it may have gone away, and a start
		// would have to do it (Recover).
		for hash := range s.blobs.end() {
			s.dropBlob(context.Background(), hash)
		}
	})
}

// dropBlob deletes a blob that nothing refers to. A failure leaves an orphan,
// which the next start removes, and no harm.
func (s *Service) dropBlob(ctx context.Context, hash string) {
	if hash == "" {
		return
	}
	defer s.blobs.lock(hash)()
	s.dropLocked(ctx, hash)
}

// droppers is how many blobs are removed at a time: removing a file waits for
// the disk most of the time.
const droppers = 16

// dropBlobs is dropBlob for many; it returns whether all are gone that nothing
// refers to. It holds all their locks, which it takes in ascending order;
// whoever holds the lock of one waits for no other.
func (s *Service) dropBlobs(ctx context.Context, hashes []string) (gone bool) {
	hashes = slices.Compact(slices.Sorted(slices.Values(hashes)))
	hashes = slices.DeleteFunc(hashes, func(hash string) bool { return hash == "" })
	for _, hash := range hashes {
		defer s.blobs.lock(hash)()
	}
	all := len(hashes)
	hashes = slices.DeleteFunc(hashes, s.blobs.keep)
	unused, err := s.cfg.Records.UnusedBlobs(ctx, hashes)
	if err != nil {
		s.cfg.Log.Error("blobs not removed", "blobs", len(hashes), "error", err)
		return false
	}
	var removing errgroup.Group
	removing.SetLimit(droppers)
	for _, hash := range unused {
		removing.Go(func() error {
			if err := s.cfg.Blobs.Delete(ctx, hash); err != nil {
				s.cfg.Log.Error("blob not removed", "sha256", hash, "error", err)
				return err
			}
			return nil
		})
	}
	return removing.Wait() == nil && all == len(hashes)
}

// dropLocked is dropBlob for whoever holds the lock of the hash.
func (s *Service) dropLocked(ctx context.Context, hash string) {
	if s.blobs.keep(hash) {
		return
	}
	s.removeUnused(ctx, hash)
}

func (s *Service) removeUnused(ctx context.Context, hash string) {
	used, err := s.cfg.Records.BlobInUse(ctx, hash)
	if err == nil && !used {
		err = s.cfg.Blobs.Delete(ctx, hash)
	}
	if err != nil {
		s.cfg.Log.Error("blob not removed", "sha256", hash, "error", err)
	}
}

// discardBlob deletes a blob that was stored for a record which then could not
// be written. It does not wait for the end of a hold, because the records do
// not list it: a kill before that would leave it behind. The caller holds the
// lock of the hash.
func (s *Service) discardBlob(ctx context.Context, hash string) {
	if s.blobs.isHeld(hash) {
		return // a document had the same content, and has gone since the hold began
	}
	s.removeUnused(ctx, hash)
}
