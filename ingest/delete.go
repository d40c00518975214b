package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"ragagent/store"
)

// Bounds of deleting documents together.
const (
	// MaxDelete is how many documents one call deletes at most.
	MaxDelete = 10_000
	// deleteGroup is how many share a transaction. Writes of others come
	// between two groups.
	deleteGroup = 250
)

// Deleted says what became of documents that were to be deleted.
type Deleted struct {
	Documents int      // that are gone
	Missing   []string // ids that are none of a document of this knowledge base
}

// DeleteDocuments removes documents, in groups: when it returns, no search
// finds them. An error ends it; what was deleted before stays so, and Deleted
// counts it. An id that is given twice is one; ids are store.ErrInvalid if they
// are more than MaxDelete. store.ErrNotFound if there is no such knowledge base.
func (s *Service) DeleteDocuments(ctx context.Context, idOrName string, ids []string) (Deleted, error) {
	if len(ids) > MaxDelete {
		return Deleted{}, store.Invalid("ids", "are %d, at most %d can be deleted at once", len(ids), MaxDelete)
	}
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return Deleted{}, err
	}
	// Sorted, so that two calls take the locks of documents in one order.
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var out Deleted
	for group := range slices.Chunk(ids, deleteGroup) {
		gone, err := s.deleteOnFull(ctx, kb, group)
		out.Documents += len(gone)
		if err != nil {
			return out, fmt.Errorf("delete documents: %w", err)
		}
		for _, id := range group {
			if _, found := gone[id]; !found {
				out.Missing = append(out.Missing, id)
			}
		}
	}
	if out.Documents > 0 {
		s.resumeJobs(false) // there may be room now
		s.reload(context.WithoutCancel(ctx), kb)
	}
	return out, nil
}

// deleteOnFull is deleteGroup, and in halves where the reserve has not the room
// to write all of that down at once.
func (s *Service) deleteOnFull(ctx context.Context, kb store.KnowledgeBase, ids []string) (map[string]store.Document, error) {
	gone, err := s.deleteGroup(ctx, kb, ids)
	if len(gone) > 0 || len(ids) < 2 || !store.IsFull(err) {
		return gone, err
	}
	gone, err = s.deleteOnFull(ctx, kb, ids[:len(ids)/2])
	if err != nil {
		return gone, err
	}
	more, err := s.deleteOnFull(ctx, kb, ids[len(ids)/2:])
	maps.Copy(gone, more)
	return gone, err
}

// deleteGroup removes documents with one transaction and returns those that
// were there.
func (s *Service) deleteGroup(ctx context.Context, kb store.KnowledgeBase, ids []string) (map[string]store.Document, error) {
	for _, id := range ids {
		defer s.order.lock(id)()
	}
	var docs []store.Document
	err := s.deleting(func() (err error) {
		docs, err = s.cfg.Records.DeleteDocuments(ctx, kb.ID, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	gone := make(map[string]store.Document, len(docs))
	for _, d := range docs {
		gone[d.ID] = d
	}
	s.interrupt(func(j store.Job) bool { _, found := gone[j.DocumentID]; return found }, errDeleted)
	// The truth has changed: all else follows even if the caller goes away.
	ctx = context.WithoutCancel(ctx)
	var hashes []string
	for i := range docs {
		hashes = append(hashes, docs[i].Blobs()...)
	}
	var blobs sync.WaitGroup
	blobs.Go(func() { s.dropBlobs(ctx, hashes) })
	err = s.unindex(ctx, kb.ID, slices.Collect(maps.Keys(gone)))
	blobs.Wait()
	return gone, err
}

// unindex lets the indexes forget documents that were deleted. The caller holds
// their locks.
func (s *Service) unindex(ctx context.Context, kbID string, ids []string) error {
	defer s.order.lock(kbID)()
	if s.Quarantined(kbID) != nil || len(ids) == 0 {
		return nil
	}
	if err := s.cfg.Indexer.Remove(ctx, kbID, ids); err != nil {
		return fmt.Errorf("index: remove %d documents: %w", len(ids), err)
	}
	return nil
}
