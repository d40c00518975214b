package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"ragagent/store"
)

// Reindexed says what ReindexKnowledgeBase has begun.
type Reindexed struct {
	Queued []Submitted // by document id
	// Skipped counts the documents that are not made anew: those that wait to be
	// read for the first time or again, which will be cut as the settings say
	// then, and those of which nothing was ever read.
	Skipped int
}

// ReindexKnowledgeBase has every document of a knowledge base read, cut and
// embedded again by the present settings, each with a job of its own: a new
// revision of the same content, which is found in one step. Vectors of chunks
// that stay what they are are taken over. An error ends it; what was begun goes
// on, and calling it again begins the rest. store.ErrNotFound, store.ErrFull,
// store.ErrTooLarge, *QuarantineError.
func (s *Service) ReindexKnowledgeBase(ctx context.Context, idOrName string) (out Reindexed, err error) {
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return out, err
	}
	if err := s.Quarantined(kb.ID); err != nil {
		return out, err
	}
	if err := s.fits(nil, 0); err != nil {
		return out, err
	}
	flow := kb.ID + "\nreindex"
	page := store.Page{Limit: store.MaxPage}
	for {
		docs, err := s.cfg.Records.Documents(ctx, kb.ID, page)
		if err != nil {
			return out, fmt.Errorf("list documents: %w", err)
		}
		queued, err := s.reviseAll(ctx, kb.ID, docs, flow)
		for _, one := range queued {
			if one.Document.ID == "" {
				out.Skipped++
			} else {
				out.Queued = append(out.Queued, one)
			}
		}
		if err != nil || len(docs) < page.Size() {
			return out, err
		}
		page.After = docs[len(docs)-1].ID
	}
}

// reviseAll queues a revision of each document that can have one, many at a
// time: they share the syncs of the records. The place of one that was skipped
// is empty.
func (s *Service) reviseAll(ctx context.Context, kbID string, docs []store.Document, flow string) ([]Submitted, error) {
	out := make([]Submitted, len(docs))
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(keepersAtOnce)
	var failed error
	for i, doc := range docs {
		if doc.Revision == 0 || doc.Status == store.StatusQueued {
			continue
		}
		all.Go(func() error {
			done, err := s.revise(ctx, kbID, doc.ID, doc.Upcoming(), flow)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				out[i] = done
			case !errors.Is(err, store.ErrNotFound): // deleted meanwhile
				failed = errors.Join(failed, err)
			}
			return nil
		})
	}
	_ = all.Wait()
	return out, failed
}

// revise queues a new revision of the content that a document has, or is about
// to have, under the title that next was given.
func (s *Service) revise(ctx context.Context, kbID, id string, next store.Document, flow string) (Submitted, error) {
	defer s.order.lock("upload " + id)() // as Submit does, for those who wait for what it drops
	job := s.newJob(kbID, id)
	job.Turn = s.turns.take(flow, next.Bytes)
	added, err := s.cfg.Records.Revise(ctx, kbID, id, next.GivenTitle, job)
	if err != nil {
		s.turns.giveBack(flow, next.Bytes)
		return Submitted{}, err
	}
	s.nudge()
	return Submitted{Document: added.Document, Job: added.Job}, s.after(ctx, kbID, added)
}
