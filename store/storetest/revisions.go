package storetest

import (
	"testing"
	"time"

	"ragagent/store"
)

// revision is another content of the n-th document's source, the m-th.
func revision(doc store.Document, m int) (store.Document, store.Job) {
	next := sampleDocument(doc.KnowledgeBaseID, m)
	next.Sources = doc.Sources[:1]
	next.Title, next.Metadata = "", nil
	return next, sampleJob(next, m)
}

// lease takes the next job, which has to be the one given.
func (f fixture) lease(id string) store.Job {
	f.t.Helper()
	job, err := f.Lease(f.ctx, at(30), time.Minute)
	f.must(err)
	f.equal("leased", id, job.ID)
	return job
}

// publish makes the revision of a leased job visible with n chunks.
func (f fixture) publish(job store.Job, n int) store.Document {
	f.t.Helper()
	doc := f.document(job.DocumentID).Upcoming()
	doc.Title, doc.TextSHA256, doc.TextBytes = "found", hash(2_000_000+job.Revision), 1<<20
	f.must(f.Publish(f.ctx, job.ID, doc, sampleChunks(doc, job.Revision, 0, n)))
	return f.document(doc.ID)
}

func (f fixture) used(want bool, hashes ...string) {
	f.t.Helper()
	for _, hash := range hashes {
		used, err := f.BlobInUse(f.ctx, hash)
		f.must(err)
		f.equal("use of "+hash, want, used)
	}
}

func testRevisions(t *testing.T, open func(t *testing.T) Records) {
	t.Run("the old one is there until the new one is", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		old, _ := f.finish("kb_1", 1, 3)
		next, job := revision(old, 2)
		next.GivenMetadata = store.Metadata{"year": 1844.0}
		added := f.add(next, job)

		job.DocumentID, job.Revision = old.ID, 2
		f.equal("job", job, added.Job)
		want := old
		want.Status, want.UpdatedAt = store.StatusQueued, added.Document.UpdatedAt
		want.Pending = &store.Pending{
			Revision: 2, Name: next.Name, MIME: next.MIME, Bytes: next.Bytes, SHA256: hash(2),
			GivenMetadata: store.Metadata{"year": 1844.0}, CreatedAt: next.CreatedAt,
		}
		f.equal("what became of it", store.Added{Document: want, Job: job}, added)
		f.equal("visible", sampleChunks(old, 1, 0, 3), f.visible("kb_1", ""))
		f.used(true, hash(1), hash(2), old.TextSHA256)

		leased := f.lease(job.ID)
		upcoming := f.document(old.ID).Upcoming()
		f.equal("upcoming", [5]any{next.Name, hash(2), "", "", next.Bytes},
			[5]any{upcoming.Name, upcoming.SHA256, upcoming.TextSHA256, upcoming.Title, upcoming.Bytes})
		upcoming.TextSHA256, upcoming.TextBytes = hash(77), 9
		f.must(f.SetParsed(f.ctx, job.ID, upcoming))
		f.used(true, hash(77), old.TextSHA256)
		f.equal("the text that is shown", old.TextSHA256, f.document(old.ID).TextSHA256)
		f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(old, 2, 0, 2), store.Progress{}))
		f.equal("visible meanwhile", sampleChunks(old, 1, 0, 3), f.visible("kb_1", ""))

		got := f.publish(leased, 5)
		f.equal("visible", sampleChunks(old, 2, 0, 5), f.visible("kb_1", ""))
		f.equal("published", [6]any{next.Name, hash(2), next.Bytes, 2, 5, (*store.Pending)(nil)},
			[6]any{got.Name, got.SHA256, got.Bytes, got.Revision, got.ChunkCount, got.Pending})
		f.equal("given", store.Metadata{"year": 1844.0}, got.GivenMetadata)
		f.used(true, hash(2), got.TextSHA256)
		f.used(false, hash(1), old.TextSHA256, hash(77))

		// An index that has not followed yet names the old chunks.
		ids := ids(append(sampleChunks(old, 1, 0, 3), sampleChunks(old, 2, 0, 5)...), func(c store.Chunk) string { return c.ID })
		fetched, err := f.ChunksByID(f.ctx, ids)
		f.must(err)
		f.equal("fetched before finish", 8, len(fetched))
		f.wantErr(f.ClearJournal(f.ctx, old.ID, 1), store.ErrConflict)
		f.must(f.Finish(f.ctx, job.ID))
		fetched, err = f.ChunksByID(f.ctx, ids)
		f.must(err)
		f.equal("fetched after finish", withoutVectors(sampleChunks(old, 2, 0, 5)), fetched)
		f.equal("status", store.StatusReady, f.document(old.ID).Status)
		f.equal("counted", 5, f.knowledgeBase("kb_1").ChunkCount)
	})
	t.Run("what was given holds on", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc := sampleDocument("kb_1", 1)
		doc.Title, doc.Metadata, doc.GivenTitle, doc.GivenMetadata = "", nil, "Notes", store.Metadata{"a": "b"}
		added := f.add(doc, sampleJob(doc, 1))
		f.equal("at first", [2]any{"Notes", store.Metadata{"a": "b"}}, [2]any{added.Document.Title, added.Document.Metadata})
		f.lease("job_0001")
		f.publish(added.Job, 1)
		f.must(f.Finish(f.ctx, "job_0001"))
		pending := f.add(revision(doc, 2)).Document.Pending
		f.equal("in the next", [2]any{"Notes", store.Metadata{"a": "b"}}, [2]any{pending.GivenTitle, pending.GivenMetadata})
		next, job := revision(doc, 3)
		next.GivenMetadata = store.Metadata{}
		pending = f.add(next, job).Document.Pending
		f.equal("given anew", [2]any{"Notes", store.Metadata(nil)}, [2]any{pending.GivenTitle, pending.GivenMetadata})
	})
	for name, end := range map[string]func(f fixture, id string) (store.Status, string){
		"failed": func(f fixture, id string) (store.Status, string) {
			f.must(f.Fail(f.ctx, id, "no text"))
			return store.StatusFailed, "revision 2 failed: no text; revision 1 is still searched"
		},
		"cancelled": func(f fixture, id string) (store.Status, string) {
			_, err := f.CancelJob(f.ctx, id)
			f.must(err)
			return store.StatusCancelled, "revision 2 was cancelled; revision 1 is still searched"
		},
	} {
		t.Run("one that "+name+" leaves the old one", func(t *testing.T) {
			f := newFixture(t, open)
			f.addKnowledgeBase("kb_1")
			old, _ := f.finish("kb_1", 1, 3)
			next, job := revision(old, 2)
			f.add(next, job)
			f.lease(job.ID)
			f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(old, 2, 0, 2), store.Progress{}))
			status, text := end(f, job.ID)
			got := f.document(old.ID)
			f.equal("document", [3]any{status, text, 1}, [3]any{got.Status, got.Error, got.Revision})
			f.equal("visible", sampleChunks(old, 1, 0, 3), f.visible("kb_1", ""))
			n, _, err := f.ChunkJournal(f.ctx, old.ID, 2)
			f.must(err)
			f.equal("chunks left", 0, n)
			f.used(true, hash(1), hash(2))

			again := f.add(next, sampleJob(next, 3))
			f.equal("the same bytes", [2]any{true, job.ID}, [2]any{again.Duplicate, again.Job.ID})
			_, err = f.RetryJob(f.ctx, job.ID)
			f.must(err)
			f.equal("queued again", [2]any{store.StatusQueued, ""}, [2]any{f.document(old.ID).Status, f.document(old.ID).Error})
			f.publish(f.lease(job.ID), 4)
			f.must(f.Finish(f.ctx, job.ID))
			f.equal("visible in the end", sampleChunks(old, 2, 0, 4), f.visible("kb_1", ""))
		})
	}
	t.Run("one that failed after it was published is the document", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		old, _ := f.finish("kb_1", 1, 3)
		next, job := revision(old, 2)
		f.add(next, job)
		f.publish(f.lease(job.ID), 5)
		f.must(f.Fail(f.ctx, job.ID, "the index is full"))
		f.equal("visible", sampleChunks(old, 2, 0, 5), f.visible("kb_1", ""))
		got := f.document(old.ID)
		f.equal("document", [3]any{store.StatusFailed, 2, 5}, [3]any{got.Status, got.Revision, got.ChunkCount})
		both := ids(append(sampleChunks(old, 1, 0, 3), sampleChunks(old, 2, 0, 5)...), func(c store.Chunk) string { return c.ID })
		fetched := must(f.ChunksByID(f.ctx, both))(f)
		f.equal("what the index has still can be fetched", 8, len(fetched))

		f.must(errorOf(f.RetryJob(f.ctx, job.ID)))
		f.wantErr(errorOf(f.CancelJob(f.ctx, job.ID)), store.ErrConflict)
		f.lease(job.ID)
		f.must(f.Finish(f.ctx, job.ID))
		fetched = must(f.ChunksByID(f.ctx, both))(f)
		f.equal("in the end", withoutVectors(sampleChunks(old, 2, 0, 5)), fetched)
	})
	t.Run("a newer one takes the place of one under way", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		old, _ := f.finish("kb_1", 1, 3)
		second, job := revision(old, 2)
		f.add(second, job)
		f.lease(job.ID)
		f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(old, 2, 0, 2), store.Progress{}))
		upcoming := f.document(old.ID).Upcoming()
		upcoming.TextSHA256, upcoming.TextBytes = hash(77), 9
		f.must(f.SetParsed(f.ctx, job.ID, upcoming))

		third, thirdJob := revision(old, 3)
		added := f.add(third, thirdJob)
		f.equal("superseded", job.ID, added.Superseded)
		f.equal("dropped", []string{hash(2), hash(77)}, added.Dropped)
		f.equal("revision", [2]int{3, 3}, [2]int{added.Job.Revision, added.Document.Pending.Revision})
		was := f.job(job.ID)
		f.equal("the job", [2]any{store.StatusCancelled, "a newer upload took the place of this one"}, [2]any{was.Status, was.Error})
		n, _, err := f.ChunkJournal(f.ctx, old.ID, 2)
		f.must(err)
		f.equal("chunks left", 0, n)
		f.used(false, hash(2), hash(77))
		f.wantErr(f.PutChunks(f.ctx, job.ID, sampleChunks(old, 2, 0, 2), store.Progress{}), store.ErrConflict)
		f.wantErr(f.Publish(f.ctx, job.ID, parsed(old), nil), store.ErrConflict)
		f.wantErr(f.Fail(f.ctx, job.ID, "late"), store.ErrConflict)
		f.wantErr(errorOf(f.RetryJob(f.ctx, job.ID)), store.ErrConflict)
		f.equal("the document", store.StatusQueued, f.document(old.ID).Status)
		f.publish(f.lease(thirdJob.ID), 1)
		f.must(f.Finish(f.ctx, thirdJob.ID))
		f.equal("visible", sampleChunks(old, 3, 0, 1), f.visible("kb_1", ""))
		f.wantErr(errorOf(f.RetryJob(f.ctx, job.ID)), store.ErrConflict)
	})
	t.Run("one that was never visible is replaced", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		f.must(f.SetParsed(f.ctx, job.ID, parsed(doc)))
		next, nextJob := revision(doc, 2)
		added := f.add(next, nextJob)
		f.equal("superseded", job.ID, added.Superseded)
		f.equal("document", [6]any{doc.ID, next.Name, hash(2), "", 0, (*store.Pending)(nil)},
			[6]any{added.Document.ID, added.Document.Name, added.Document.SHA256, added.Document.TextSHA256, added.Document.Revision, added.Document.Pending})
		f.equal("dropped", []string{hash(1), parsed(doc).TextSHA256}, added.Dropped)
		f.equal("revision", 2, added.Job.Revision)
		f.publish(f.lease(nextJob.ID), 2)
		f.must(f.Finish(f.ctx, nextJob.ID))
		f.equal("visible", sampleChunks(doc, 2, 0, 2), f.visible("kb_1", ""))
	})
	t.Run("the visible bytes again take the pending ones back", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		old, oldJob := f.finish("kb_1", 1, 3)
		next, job := revision(old, 2)
		f.add(next, job)
		back := sampleDocument("kb_1", 1)
		back.ID = "doc_0009"
		added := f.add(back, sampleJob(back, 9))
		old.UpdatedAt = added.Document.UpdatedAt
		f.equal("what became of it", store.Added{
			Document: old, Job: oldJob, Duplicate: true, Superseded: job.ID, Dropped: []string{hash(2)},
		}, added)
		f.wantErr(errorOf(f.Lease(f.ctx, at(40), time.Minute)), store.ErrNotFound)
		f.wantErr(errorOf(f.RetryJob(f.ctx, job.ID)), store.ErrConflict)
		third, thirdJob := revision(old, 3)
		f.equal("numbers are not used again", 3, f.add(third, thirdJob).Job.Revision)
	})
	t.Run("one comes while another becomes visible", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		old, _ := f.finish("kb_1", 1, 3)
		second, job := revision(old, 2)
		f.add(second, job)
		f.publish(f.lease(job.ID), 2)
		_, err := f.CancelJob(f.ctx, job.ID)
		f.wantErr(err, store.ErrConflict) // there is no way back
		third, thirdJob := revision(old, 3)
		added := f.add(third, thirdJob)
		f.equal("superseded", "", added.Superseded)
		f.must(f.Finish(f.ctx, job.ID))
		f.equal("status", store.StatusQueued, f.document(old.ID).Status)
		f.equal("visible", sampleChunks(old, 2, 0, 2), f.visible("kb_1", ""))
		f.publish(f.lease(thirdJob.ID), 1)
		f.must(f.Finish(f.ctx, thirdJob.ID))
		f.equal("visible in the end", sampleChunks(old, 3, 0, 1), f.visible("kb_1", ""))
		f.equal("status in the end", store.StatusReady, f.document(old.ID).Status)
	})
	t.Run("another title is another revision", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		old, _ := f.finish("kb_1", 1, 3)
		added, err := f.Revise(f.ctx, "kb_1", old.ID, "A better title", sampleJob(old, 2))
		f.must(err)
		f.equal("pending", [4]any{2, hash(1), "A better title", old.Name},
			[4]any{added.Document.Pending.Revision, added.Document.Pending.SHA256, added.Document.Pending.GivenTitle, added.Document.Pending.Name})
		f.equal("shown", "found", added.Document.Title)
		f.publish(f.lease("job_0002"), 1)
		f.must(f.Finish(f.ctx, "job_0002"))
		got := f.document(old.ID)
		f.equal("in the end", [3]any{"A better title", hash(1), 2}, [3]any{got.GivenTitle, got.SHA256, got.Revision})
		f.used(true, hash(1))
		_, err = f.Revise(f.ctx, "kb_1", "doc_none", "x", sampleJob(old, 3))
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("metadata changes in place", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, _ := f.finish("kb_1", 1, 1)
		next, job := revision(doc, 2)
		f.add(next, job)
		got, err := f.UpdateDocument(f.ctx, "kb_1", doc.ID, func(d *store.Document) error {
			d.Metadata = store.Metadata{"year": 1852.0}
			d.GivenMetadata, d.Pending.GivenMetadata = d.Metadata, d.Metadata
			d.Name, d.Status, d.Revision = "ignored", store.StatusFailed, 7
			return nil
		})
		f.must(err)
		year := store.Metadata{"year": 1852.0}
		f.equal("changed", [5]any{year, year, year, doc.Name, 1},
			[5]any{got.Metadata, got.GivenMetadata, got.Pending.GivenMetadata, got.Name, got.Revision})
		f.equal("stored", got, f.document(doc.ID))
		_, err = f.UpdateDocument(f.ctx, "kb_1", doc.ID, func(*store.Document) error { return store.ErrInvalid })
		f.wantErr(err, store.ErrInvalid)
		_, err = f.UpdateDocument(f.ctx, "kb_2", doc.ID, func(*store.Document) error { return nil })
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("delete", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		old, _ := f.finish("kb_1", 1, 3)
		next, job := revision(old, 2)
		f.add(next, job)
		f.lease(job.ID)
		upcoming := f.document(old.ID).Upcoming()
		upcoming.TextSHA256, upcoming.TextBytes = hash(77), 9
		f.must(f.SetParsed(f.ctx, job.ID, upcoming))
		was, err := f.DeleteDocument(f.ctx, "kb_1", old.ID)
		f.must(err)
		f.equal("its blobs", []string{hash(1), old.TextSHA256, hash(2), hash(77)}, was.Blobs())
		f.used(false, was.Blobs()...)
		sources, err := f.Sources(f.ctx, "kb_1", "", store.Page{})
		f.must(err)
		f.equal("sources", 0, len(sources))
	})
}
