package ingest

import (
	"context"
	"fmt"
	"time"

	"ragagent/store"
)

// maxBehind is how many documents of a knowledge base are remembered as lacking
// vectors; of more, all chunks are looked through.
const maxBehind = 1000

// behind is what a second set may lack.
type behind struct {
	all       bool
	documents map[string]struct{}
}

func (b *behind) add(documents []string) {
	if b.documents == nil {
		b.documents = map[string]struct{}{}
	}
	for _, id := range documents {
		b.documents[id] = struct{}{}
	}
	if len(documents) == 0 || len(b.documents) > maxBehind {
		b.all = true
	}
	if b.all {
		b.documents = nil
	}
}

// filling makes vectors that a second set lacks.
type filling struct {
	*Service
	change store.EmbedderChange
	task   *task // embeds
	report func(done, total int)

	done, total int           // of all visible chunks
	counted     time.Time     // when they were counted; zero if only some documents are filled
	took        time.Duration // that
}

// fill makes the vectors that the second set lacks as it begins: of all chunks,
// or only of these documents. What is published meanwhile is told to
// nudgeChanges. report, if not nil, is told of every batch.
func (s *Service) fill(ctx context.Context, c store.EmbedderChange, report func(done, total int), documents ...string) error {
	f := &filling{Service: s, change: c, report: report, done: c.Done, total: c.Total}
	for _, id := range documents {
		if err := f.pass(ctx, id); err != nil {
			return err
		}
	}
	if len(documents) > 0 {
		return nil
	}
	if err := f.count(ctx); err != nil || f.done == f.total {
		return err
	}
	return f.pass(ctx, "")
}

// count looks at all chunks.
func (f *filling) count(ctx context.Context) error {
	began := f.cfg.Now()
	missing, total, err := f.cfg.Records.CountMissing(ctx, f.change.ID)
	f.done, f.total = total-missing, total
	f.counted = f.cfg.Now()
	f.took = f.counted.Sub(began)
	return err
}

// pass goes once through a document, or through all for "".
func (f *filling) pass(ctx context.Context, document string) error {
	for after := (store.Place{}); ; {
		chunks, err := f.cfg.Records.MissingVectors(ctx, f.change.ID, document, after, f.cfg.Batch)
		if err != nil || len(chunks) == 0 {
			return err
		}
		if err := f.put(ctx, chunks); err != nil {
			return err
		}
		last := chunks[len(chunks)-1]
		after = store.Place{DocumentID: last.DocumentID, Ordinal: last.Ordinal}
	}
}

// put makes and stores the vectors of some chunks.
func (f *filling) put(ctx context.Context, chunks []store.Chunk) error {
	if err := f.open(ctx); err != nil {
		return err
	}
	if err := f.task.embed(ctx, chunks); err != nil {
		return err
	}
	entries := make([]store.VectorEntry, len(chunks))
	for i, chunk := range chunks {
		entries[i] = store.VectorEntry{ID: chunk.ID, Vector: chunk.Vector}
	}
	if err := f.keepUp(ctx); err != nil {
		return err
	}
	f.done = min(f.done+len(chunks), f.total)
	if err := f.cfg.Records.PutVectors(ctx, f.change.ID, entries, f.done, f.total); err != nil {
		return err
	}
	if f.report != nil {
		f.report(f.done, f.total)
	}
	return nil
}

// open gets the embedder when it is needed.
func (f *filling) open(ctx context.Context) error {
	if f.task != nil {
		return nil
	}
	e, err := f.embedder(ctx, f.change.Embedder)
	if err != nil {
		return err
	}
	if e.Fingerprint() != f.change.Fingerprint {
		return fmt.Errorf("%w: the embedder %s is %s now, and the vectors that were made are of %s: discard them",
			store.ErrOtherEmbedder, e.Name(), e.Fingerprint(), f.change.Fingerprint)
	}
	f.task = &task{Service: f.Service, embedder: e}
	return nil
}

// countShare is for how many times as long as counting takes progress may be
// told without it.
const countShare = 10

// keepUp lets the progress follow the documents that came and went. Which of
// those that went had vectors already only counting tells: that is done now and
// then.
func (f *filling) keepUp(ctx context.Context) error {
	kb, err := f.cfg.Records.KnowledgeBase(ctx, f.change.KnowledgeBaseID)
	if err != nil || kb.ChunkCount == f.total {
		return err
	}
	if now := f.cfg.Now(); !f.counted.IsZero() && now.Sub(f.counted) > max(time.Second, countShare*f.took) {
		return f.count(ctx)
	}
	f.total = kb.ChunkCount
	f.done = min(f.done, f.total)
	return nil
}
