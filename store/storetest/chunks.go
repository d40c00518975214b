package storetest

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"testing"

	"ragagent/store"
)

func testChunks(t *testing.T, open func(t *testing.T) Records) {
	t.Run("journal", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		journal := func() [2]any {
			n, last, err := f.ChunkJournal(f.ctx, doc.ID, 1)
			f.must(err)
			return [2]any{n, last}
		}
		all := sampleChunks(doc, 1, 0, 10)
		f.equal("empty", [2]any{0, ""}, journal())
		progress := store.Progress{Stage: store.StageEmbed, Done: 4, Total: 10}
		f.must(f.PutChunks(f.ctx, job.ID, all[:4], progress))
		f.equal("after a batch", [2]any{4, all[3].ID}, journal())
		f.equal("progress", progress, f.job(job.ID).Progress)
		// Done again after a crash, and reaching further this time.
		f.must(f.PutChunks(f.ctx, job.ID, all[:4], progress))
		f.must(f.PutChunks(f.ctx, job.ID, all[2:7], store.Progress{Stage: store.StageEmbed, Done: 7, Total: 10}))
		f.equal("after overlapping batches", [2]any{7, all[6].ID}, journal())
		f.must(f.PutChunks(f.ctx, job.ID, nil, store.Progress{Stage: store.StageIndex}))
		f.equal("after no chunks", [2]any{7, all[6].ID}, journal())
		f.equal("progress after no chunks", store.Progress{Stage: store.StageIndex}, f.job(job.ID).Progress)
		n, last, err := f.ChunkJournal(f.ctx, doc.ID, 2)
		f.must(err)
		f.equal("another revision", [2]any{0, ""}, [2]any{n, last})
		f.equal("visible", 0, len(f.visible("kb_1", "")))
	})
	t.Run("what does not fit is refused whole", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(doc, 1, 0, 2), store.Progress{Done: 2}))
		bad := func(want error, change func([]store.Chunk)) {
			t.Helper()
			chunks := sampleChunks(doc, 1, 2, 3)
			change(chunks)
			f.wantErr(f.PutChunks(f.ctx, job.ID, chunks, store.Progress{Done: 5}), want)
		}
		bad(store.ErrInvalid, func(c []store.Chunk) { c[2].Ordinal++ })
		bad(store.ErrInvalid, func(c []store.Chunk) { c[0], c[1] = c[1], c[0] })
		bad(store.ErrInvalid, func(c []store.Chunk) { c[1].DocumentID = "doc_other" })
		bad(store.ErrInvalid, func(c []store.Chunk) { c[1].Revision = 2 })
		bad(store.ErrInvalid, func(c []store.Chunk) { c[2].Span.End++ })
		bad(store.ErrInvalid, func(c []store.Chunk) { c[2].Parent.Span = store.Span{End: c[2].Span.End - 1} })
		bad(store.ErrInvalid, func(c []store.Chunk) { c[1].Vector[0] = float32(math.NaN()) })
		bad(store.ErrInvalid, func(c []store.Chunk) { c[1].Vector = []float32{0, 0} })
		bad(store.ErrInvalid, func(c []store.Chunk) { c[1].Vector = []float32{1.0001} })
		f.wantErr(f.PutChunks(f.ctx, job.ID, sampleChunks(doc, 1, 3, 1), store.Progress{Done: 5}), store.ErrInvalid) // a gap
		other := sampleChunks(doc, 1, 1, 3)
		other[0].ID = "chk_other"
		f.wantErr(f.PutChunks(f.ctx, job.ID, other, store.Progress{Done: 5}), store.ErrConflict)
		n, _, err := f.ChunkJournal(f.ctx, doc.ID, 1)
		f.must(err)
		f.equal("stored", 2, n)
		f.equal("progress", store.Progress{Done: 2}, f.job(job.ID).Progress)
		f.wantErr(f.PutChunks(f.ctx, "job_none", nil, store.Progress{}), store.ErrNotFound)
	})
	t.Run("only a running job stores", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, queued := f.queue("kb_1", 1)
		put := func(id string) error { return f.PutChunks(f.ctx, id, sampleChunks(doc, 1, 0, 1), store.Progress{}) }
		f.wantErr(put(queued.ID), store.ErrConflict)
		_, err := f.CancelJob(f.ctx, queued.ID)
		f.must(err)
		f.wantErr(put(queued.ID), store.ErrConflict)
		_, err = f.DeleteDocument(f.ctx, "", doc.ID)
		f.must(err)
		f.wantErr(put(queued.ID), store.ErrNotFound)
	})
	t.Run("clear", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(doc, 1, 0, 6), store.Progress{}))
		f.must(f.ClearJournal(f.ctx, doc.ID, 1))
		n, last, err := f.ChunkJournal(f.ctx, doc.ID, 1)
		f.must(err)
		f.equal("journal", [2]any{0, ""}, [2]any{n, last})
		again := sampleChunks(doc, 1, 0, 3)
		again[1].ID = "chk_other"
		f.must(f.Publish(f.ctx, job.ID, parsed(doc), again))
		f.equal("visible", again, f.visible("kb_1", ""))
		f.wantErr(f.ClearJournal(f.ctx, doc.ID, 1), store.ErrConflict)
		f.wantErr(f.PutChunks(f.ctx, job.ID, nil, store.Progress{}), store.ErrConflict)
		f.equal("still visible", again, f.visible("kb_1", ""))
		f.must(f.ClearJournal(f.ctx, doc.ID, 2))
		f.wantErr(f.ClearJournal(f.ctx, "doc_none", 1), store.ErrNotFound)
	})
	t.Run("listing", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, _ := f.finish("kb_1", 1, 10)
		all := sampleChunks(doc, 1, 0, 10)
		list := func(from, limit int) []store.Chunk {
			chunks, err := f.DocumentChunks(f.ctx, doc.ID, from, limit)
			f.must(err)
			return chunks
		}
		f.equal("all", withoutVectors(all), list(0, 100))
		f.equal("a window", withoutVectors(all[3:7]), list(3, 4))
		f.equal("the end", withoutVectors(all[9:]), list(9, 4))
		f.equal("beyond", 0, len(list(10, 4)))
		f.equal("none", 0, len(list(0, 0)))
		unknown, err := f.DocumentChunks(f.ctx, "doc_none", 0, 10)
		f.must(err)
		f.equal("of an unknown document", 0, len(unknown))
	})
	t.Run("by id", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		one, _ := f.finish("kb_1", 1, 3)
		two, _ := f.finish("kb_1", 2, 3)
		hidden, job := f.start("kb_1", 3)
		f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(hidden, 1, 0, 1), store.Progress{}))
		a, b, c := sampleChunks(one, 1, 0, 3), sampleChunks(two, 1, 0, 3), sampleChunks(hidden, 1, 0, 1)
		got, err := f.ChunksByID(f.ctx, []string{b[2].ID, "chk_none", a[0].ID, c[0].ID, `"]`, b[0].ID, a[2].ID})
		f.must(err)
		f.equal("in the order asked", withoutVectors([]store.Chunk{b[2], a[0], b[0], a[2]}), got)
		got, err = f.ChunksByID(f.ctx, nil)
		f.must(err)
		f.equal("of no ids", 0, len(got))
	})
	t.Run("visible", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		// Stored in another order than that of their ids.
		two, _ := f.finish("kb_1", 2, 12)
		one, _ := f.finish("kb_1", 1, 11)
		other, _ := f.finish("kb_2", 3, 2)
		f.equal("of a knowledge base", slices.Concat(sampleChunks(one, 1, 0, 11), sampleChunks(two, 1, 0, 12)), f.visible("kb_1", ""))
		f.equal("of a document", sampleChunks(two, 1, 0, 12), f.visible("kb_1", two.ID))
		f.equal("of a document elsewhere", 0, len(f.visible("kb_1", other.ID)))
		f.equal("of nothing", 0, len(f.visible("kb_none", "")))
	})
	t.Run("what an index should hold", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		two, _ := f.finish("kb_1", 2, 12)
		one, _ := f.finish("kb_1", 1, 11)
		f.finish("kb_2", 3, 2)
		hidden, job := f.start("kb_1", 4)
		f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(hidden, 1, 0, 1), store.Progress{}))
		f.equal("documents", []store.IndexedDocument{{ID: one.ID, Revision: 1, Chunks: 11}, {ID: two.ID, Revision: 1, Chunks: 12}},
			all(f, f.VisibleDocuments(f.ctx, "kb_1")))
		f.equal("documents of nothing", 0, len(all(f, f.VisibleDocuments(f.ctx, "kb_none"))))
		var want, got []store.VectorEntry
		for _, c := range f.visible("kb_1", "") {
			if c.Vector != nil {
				want = append(want, store.VectorEntry{ID: c.ID, Vector: c.Vector})
			}
		}
		for e, err := range f.VisibleVectors(f.ctx, "kb_1") {
			f.must(err)
			got = append(got, store.VectorEntry{ID: e.ID, Vector: slices.Clone(e.Vector)})
		}
		f.equal("vectors", want, got)
		if len(got) == 0 || len(got) == 23 {
			t.Errorf("%d of 23 chunks have vectors: the samples should have some without", len(got))
		}
	})
	t.Run("visible is one moment", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		one, _ := f.finish("kb_1", 1, 8)
		var got []store.Chunk
		for c, err := range f.VisibleChunks(f.ctx, "kb_1", "") {
			f.must(err)
			if got = append(got, c); len(got) == 2 {
				f.finish("kb_1", 2, 3) // a write does not wait for the reader, nor show in it
				_, err := f.DeleteDocument(f.ctx, "kb_1", one.ID)
				f.must(err)
			}
		}
		f.equal("the rest is as it was", sampleChunks(one, 1, 0, 8), got)
		f.equal("afterwards", 3, len(f.visible("kb_1", "")))
	})
	t.Run("visible can be left early", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.finish("kb_1", 1, 8)
		for range 100 { // each leaves its reader free for the next
			for c, err := range f.VisibleChunks(f.ctx, "kb_1", "") {
				f.must(err)
				f.equal("the first", 0, c.Ordinal)
				break
			}
		}
	})
	t.Run("visible stops at a cancelled context", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.finish("kb_1", 1, 8)
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		var errs []error
		for _, err := range f.VisibleChunks(ctx, "kb_1", "") {
			errs = append(errs, err)
		}
		if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
			t.Errorf("yielded %v, want one %v", errs, context.Canceled)
		}
	})
}

// all collects a sequence.
func all[T any](f fixture, seq iter.Seq2[T, error]) (out []T) {
	for one, err := range seq {
		f.must(err)
		out = append(out, one)
	}
	return out
}
