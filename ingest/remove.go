package ingest

import (
	"context"
	"fmt"

	"ragagent/store"
)

// DeleteDocument removes a document, wherever it comes from. When it returns,
// no search finds it. store.ErrNotFound.
func (s *Service) DeleteDocument(ctx context.Context, idOrName, id string) error {
	return s.remove(ctx, idOrName, id, func(kb string) (doc store.Document, gone bool, err error) {
		doc, err = s.cfg.Records.DeleteDocument(ctx, kb, id)
		return doc, true, err
	})
}

// RemoveSource removes one source of a document, and the document if it has no
// other: gone says so. store.ErrNotFound, also if the source is another
// document's.
func (s *Service) RemoveSource(ctx context.Context, idOrName, id string, source store.Source) (gone bool, err error) {
	err = s.remove(ctx, idOrName, id, func(kb string) (doc store.Document, _ bool, err error) {
		doc, gone, err = s.cfg.Records.RemoveSource(ctx, kb, id, source)
		return doc, gone, err
	})
	return gone, err
}

// remove lets indexes, jobs and blobs follow what do removes from the records.
func (s *Service) remove(ctx context.Context, idOrName, id string, do func(kb string) (doc store.Document, gone bool, err error)) error {
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return err
	}
	defer s.order.lock(id)()
	var doc store.Document
	var gone bool
	err = s.deleting(func() (err error) {
		doc, gone, err = do(kb.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete document: %w", err)
	}
	if !gone { // it has one source less to be filtered by
		return s.followMetadata(context.WithoutCancel(ctx), kb.ID, id)
	}
	// The truth has changed: the rest follows even if the caller goes away.
	return s.vanish(context.WithoutCancel(ctx), kb, doc)
}

// vanish takes a document that was deleted out of everything else. The caller
// holds its lock.
func (s *Service) vanish(ctx context.Context, kb store.KnowledgeBase, doc store.Document) error {
	s.dropBlobs(ctx, doc.Blobs())
	s.resumeJobs(false) // there may be room now
	s.interrupt(func(j store.Job) bool { return j.DocumentID == doc.ID }, errDeleted)
	if err := s.unindex(ctx, kb.ID, []string{doc.ID}); err != nil {
		return fmt.Errorf("remove %q: %w", doc.Name, err)
	}
	s.reload(ctx, kb)
	return nil
}
