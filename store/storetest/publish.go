package storetest

import (
	"sync"
	"testing"

	"ragagent/store"
)

func testPublish(t *testing.T, open func(t *testing.T) Records) {
	t.Run("publish shows, finish says ready", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		all := sampleChunks(doc, 1, 0, 7)
		f.must(f.PutChunks(f.ctx, job.ID, all[:5], store.Progress{Stage: store.StageEmbed, Done: 5, Total: 7}))
		f.equal("before", 0, len(f.visible("kb_1", "")))
		f.wantErr(f.Finish(f.ctx, job.ID), store.ErrConflict) // there is nothing to be found yet
		change := parsed(doc)
		f.must(f.Publish(f.ctx, job.ID, change, all[5:]))
		f.equal("visible", all, f.visible("kb_1", ""))

		want := change
		want.Status, want.Revision, want.ChunkCount = store.StatusRunning, 1, 7
		got := f.document(doc.ID)
		want.UpdatedAt = got.UpdatedAt
		f.equal("published document", want, got)
		published := f.job(job.ID)
		f.equal("job", store.StatusRunning, published.Status)
		f.equal("stage", store.StageIndex, published.Stage)

		f.must(f.Finish(f.ctx, job.ID))
		got = f.document(doc.ID)
		want.Status, want.UpdatedAt = store.StatusReady, got.UpdatedAt
		f.equal("finished document", want, got)
		f.equal("finished job", store.StatusReady, f.job(job.ID).Status)
		f.equal("still visible", all, f.visible("kb_1", ""))

		f.wantErr(f.Finish(f.ctx, job.ID), store.ErrConflict)
		f.wantErr(f.Finish(f.ctx, "job_none"), store.ErrNotFound)
		f.wantErr(f.Publish(f.ctx, job.ID, change, all), store.ErrConflict)
		f.wantErr(f.Publish(f.ctx, "job_none", change, all), store.ErrNotFound)
	})
	t.Run("in one go", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, _ := f.finish("kb_1", 1, 3)
		f.equal("visible", sampleChunks(doc, 1, 0, 3), f.visible("kb_1", ""))
		f.equal("chunk count", 3, doc.ChunkCount)
		f.equal("title", "found", doc.Title)
	})
	t.Run("the revision is the job's", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc := sampleDocument("kb_1", 1)
		job := sampleJob(doc, 1)
		job.Revision = 3
		f.add(doc, job)
		leased, err := f.Lease(f.ctx, at(10), 0)
		f.must(err)
		f.equal("leased", 3, leased.Revision)
		f.wantErr(f.Publish(f.ctx, job.ID, parsed(doc), sampleChunks(doc, 1, 0, 2)), store.ErrInvalid)
		f.must(f.Publish(f.ctx, job.ID, parsed(doc), sampleChunks(doc, 3, 0, 2)))
		f.equal("visible", sampleChunks(doc, 3, 0, 2), f.visible("kb_1", ""))
		f.equal("document", 3, f.document(doc.ID).Revision)
	})
	t.Run("twice is once", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		all := sampleChunks(doc, 1, 0, 3)
		f.must(f.Publish(f.ctx, job.ID, parsed(doc), all))
		// Killed before Finish: the next attempt does it again.
		n, err := f.RequeueAll(f.ctx, suspects)
		f.must(err)
		f.equal("requeued", 1, n)
		f.equal("document", store.StatusQueued, f.document(doc.ID).Status)
		f.equal("visible meanwhile", all, f.visible("kb_1", ""))
		_, err = f.Lease(f.ctx, at(20), 0)
		f.must(err)
		f.must(f.Publish(f.ctx, job.ID, parsed(doc), all))
		f.must(f.Finish(f.ctx, job.ID))
		f.equal("visible", all, f.visible("kb_1", ""))
		f.equal("counted", 3, f.knowledgeBase("kb_1").ChunkCount)
	})
	t.Run("what is refused changes nothing", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		other, _ := f.queue("kb_1", 2)
		doc, queued := f.queue("kb_1", 1)
		_, err := f.Lease(f.ctx, at(10), 0)
		f.must(err)
		was := f.document(doc.ID)
		f.wantErr(f.Publish(f.ctx, queued.ID, parsed(other), nil), store.ErrInvalid)
		broken := sampleChunks(doc, 1, 0, 3)
		broken[2].Ordinal = 7
		f.wantErr(f.Publish(f.ctx, queued.ID, parsed(doc), broken), store.ErrInvalid)
		f.equal("document", was, f.document(doc.ID))
		f.equal("visible", 0, len(f.visible("kb_1", "")))
		_, err = f.CancelJob(f.ctx, queued.ID)
		f.must(err)
		f.wantErr(f.Publish(f.ctx, queued.ID, parsed(doc), nil), store.ErrConflict)
		_, err = f.DeleteDocument(f.ctx, "", doc.ID)
		f.must(err)
		f.wantErr(f.Publish(f.ctx, queued.ID, parsed(doc), nil), store.ErrNotFound)
	})
	t.Run("a reader sees all of it or nothing", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		const documents, chunks = 8, 20
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				seen := map[string]int{}
				for c, err := range f.VisibleChunks(f.ctx, "kb_1", "") {
					if err != nil {
						t.Error(err)
						return
					}
					seen[c.DocumentID]++
				}
				for id, n := range seen {
					if n != chunks {
						t.Errorf("saw %d of %d chunks of %s", n, chunks, id)
					}
				}
			}
		})
		for n := range documents {
			doc, job := f.start("kb_1", n)
			all := sampleChunks(doc, 1, 0, chunks)
			f.must(f.PutChunks(f.ctx, job.ID, all[:chunks/2], store.Progress{}))
			f.must(f.Publish(f.ctx, job.ID, parsed(doc), all[chunks/2:]))
			f.must(f.Finish(f.ctx, job.ID))
		}
		close(stop)
		wg.Wait()
		f.equal("in the end", documents*chunks, len(f.visible("kb_1", "")))
	})
}
