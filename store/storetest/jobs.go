package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"ragagent/store"
)

func testLease(t *testing.T, open func(t *testing.T) Records) {
	t.Run("oldest first", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		_, err := f.Lease(f.ctx, at(10), time.Minute)
		f.wantErr(err, store.ErrNotFound)
		for _, n := range []int{2, 1, 3} {
			f.queue("kb_1", n)
		}
		want := sampleJob(sampleDocument("kb_1", 1), 1)
		want.Status, want.Attempts = store.StatusRunning, 1
		want.StartedAt, want.UpdatedAt, want.LeaseUntil = at(10), at(10), at(12)
		job, err := f.Lease(f.ctx, at(10), 2*time.Minute)
		f.must(err)
		f.equal("leased", want, job)
		f.equal("stored", want, f.job(job.ID))
		f.equal("its document", store.StatusRunning, f.document("doc_0001").Status)
		f.equal("the next document", store.StatusQueued, f.document("doc_0002").Status)
		for _, id := range []string{"job_0002", "job_0003"} {
			job, err := f.Lease(f.ctx, at(11), time.Hour)
			f.must(err)
			f.equal("next", id, job.ID)
		}
		_, err = f.Lease(f.ctx, at(11), time.Hour)
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("by turns", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		next := func(want int64) {
			t.Helper()
			turn, err := f.NextTurn(f.ctx)
			f.must(err)
			f.equal("next turn", want, turn)
		}
		next(0)
		for n, turn := range []int64{3, 1, 2, 1} {
			doc := sampleDocument("kb_1", n)
			job := sampleJob(doc, n)
			job.Turn = turn
			f.add(doc, job)
		}
		for _, want := range []struct {
			id   string
			turn int64
		}{{"job_0001", 1}, {"job_0003", 1}, {"job_0002", 2}, {"job_0000", 3}} {
			next(want.turn)
			job, err := f.Lease(f.ctx, at(11), time.Hour)
			f.must(err)
			f.equal("leased", want.id, job.ID)
			f.equal("its turn", want.turn, job.Turn)
		}
		next(3)
	})
	t.Run("some are passed over", func(t *testing.T) {
		f := newFixture(t, open)
		for n, kb := range []string{"kb_1", "kb_2", "kb_3"} {
			f.addKnowledgeBase(kb)
			f.queue(kb, n+1)
		}
		job, err := f.Lease(f.ctx, at(10), 0, "kb_1", "kb_2") // it expires at once
		f.must(err)
		f.equal("leased", "job_0003", job.ID)
		job, err = f.Lease(f.ctx, at(11), time.Hour, "kb_3", "kb_1")
		f.must(err)
		f.equal("nor one whose lease has ended", "job_0002", job.ID)
		_, err = f.Lease(f.ctx, at(11), time.Hour, "kb_1", "kb_3")
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("an expired lease can be taken", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		_, job := f.start("kb_1", 1) // until at(11)
		f.queue("kb_1", 2)
		second, err := f.Lease(f.ctx, at(11).Add(-time.Nanosecond), time.Hour)
		f.must(err)
		f.equal("not yet", "job_0002", second.ID)
		again, err := f.Lease(f.ctx, at(11), time.Minute)
		f.must(err)
		f.equal("taken", job.ID, again.ID)
		f.equal("attempts", 2, again.Attempts)
		f.equal("started", at(11), again.StartedAt)
	})
	t.Run("one job, one worker", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		const jobs, workers = 40, 8
		for n := range jobs {
			f.queue("kb_1", n)
		}
		var mu sync.Mutex
		leased := map[string]int{}
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for {
					job, err := f.Lease(f.ctx, at(10), time.Hour)
					if err != nil {
						f.wantErr(err, store.ErrNotFound)
						return
					}
					mu.Lock()
					leased[job.ID]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		want := map[string]int{}
		for n := range jobs {
			want[fmt.Sprintf("job_%04d", n)] = 1
		}
		f.equal("times leased", want, leased)
	})
	t.Run("heartbeat", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		progress := store.Progress{Stage: store.StageChunk, Done: 3, Total: 9}
		f.must(f.Heartbeat(f.ctx, job.ID, at(30), progress))
		got := f.job(job.ID)
		f.equal("progress", progress, got.Progress)
		f.equal("lease", at(30), got.LeaseUntil)
		_, err := f.Lease(f.ctx, at(29), time.Minute)
		f.wantErr(err, store.ErrNotFound)

		_, queued := f.queue("kb_1", 2)
		f.wantErr(f.Heartbeat(f.ctx, queued.ID, at(30), progress), store.ErrConflict)
		_, err = f.CancelJob(f.ctx, job.ID)
		f.must(err)
		f.wantErr(f.Heartbeat(f.ctx, job.ID, at(30), progress), store.ErrConflict)
		_, err = f.DeleteDocument(f.ctx, "", doc.ID)
		f.must(err)
		f.wantErr(f.Heartbeat(f.ctx, job.ID, at(30), progress), store.ErrConflict)
	})
	t.Run("requeue", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		all := sampleChunks(doc, 1, 0, 3)
		f.must(f.PutChunks(f.ctx, job.ID, all, store.Progress{Stage: store.StageEmbed, Done: 3, Total: 9}))
		f.must(f.Requeue(f.ctx, job.ID))
		got := f.job(job.ID)
		f.equal("status", store.StatusQueued, got.Status)
		f.equal("attempts", 0, got.Attempts)
		f.equal("lease", time.Time{}, got.LeaseUntil)
		f.equal("document", store.StatusQueued, f.document(doc.ID).Status)
		n, _, err := f.ChunkJournal(f.ctx, doc.ID, 1)
		f.must(err)
		f.equal("journal kept", 3, n)
		f.must(f.Requeue(f.ctx, job.ID)) // queued already
		f.equal("attempts still", 0, f.job(job.ID).Attempts)
		f.must(f.Requeue(f.ctx, "job_none"))
		again, err := f.Lease(f.ctx, at(12), time.Minute)
		f.must(err)
		f.equal("leased again", job.ID, again.ID)
		f.must(f.Fail(f.ctx, job.ID, "broken"))
		f.must(f.Requeue(f.ctx, job.ID))
		f.equal("an ended job stays", store.StatusFailed, f.job(job.ID).Status)
		f.equal("and its document", store.StatusFailed, f.document(doc.ID).Status)
	})
	t.Run("requeue all", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.finish("kb_1", 1, 1)
		f.start("kb_1", 2)
		f.start("kb_1", 3)
		f.queue("kb_1", 4)
		n, err := f.RequeueAll(f.ctx, suspects)
		f.must(err)
		f.equal("given back", 2, n)
		counts, err := f.CountJobs(f.ctx)
		f.must(err)
		f.equal("counts", map[store.Status]int{store.StatusReady: 1, store.StatusQueued: 3}, counts)
		f.equal("the crash counts as an attempt", 1, f.job("job_0002").Attempts)
		f.equal("document", store.StatusQueued, f.document("doc_0003").Status)
		f.equal("the ready one", store.StatusReady, f.document("doc_0001").Status)
		n, err = f.RequeueAll(f.ctx, suspects)
		f.must(err)
		f.equal("nothing is left to give back", 0, n)
	})
	t.Run("suspects wait", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		f.queue("kb_1", 2)
		cutOff := func(now int) store.Job {
			t.Helper()
			_, err := f.RequeueAll(f.ctx, store.Suspects{Attempts: 3, From: at(now + 10), Apart: 2 * time.Second})
			f.must(err)
			leased, err := f.Lease(f.ctx, at(now), time.Hour)
			f.must(err)
			return leased
		}
		f.equal("second attempt", [2]any{job.ID, 2}, idAttempts(cutOff(20)))
		f.equal("third attempt", [2]any{job.ID, 3}, idAttempts(cutOff(30)))
		f.equal("another comes first", [2]any{"job_0002", 1}, idAttempts(cutOff(40)))
		f.equal("it is queued", store.StatusQueued, f.job(job.ID).Status)
		f.equal("and waits again", [2]any{"job_0002", 2}, idAttempts(cutOff(49)))
		_, err := f.Lease(f.ctx, at(58), time.Hour)
		f.wantErr(err, store.ErrNotFound)
		cutOff(51)
		_, err = f.Lease(f.ctx, at(60), time.Hour)
		f.wantErr(err, store.ErrNotFound)
		_, err = f.RequeueAll(f.ctx, store.Suspects{Attempts: 3, From: at(70), Apart: 2 * time.Minute})
		f.must(err)
		f.equal("both wait", [2]time.Time{at(70), at(72)}, [2]time.Time{f.job(job.ID).LeaseUntil, f.job("job_0002").LeaseUntil})
		leased, err := f.Lease(f.ctx, at(71), time.Hour)
		f.must(err)
		f.equal("its turn", [2]any{job.ID, 4}, idAttempts(leased))
		f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(doc, 1, 0, 3), store.Progress{Stage: store.StageEmbed, Done: 3, Total: 9}))
		f.equal("it got further", 0, f.job(job.ID).Attempts)
		f.equal("and is none any more", [2]any{job.ID, 1}, idAttempts(cutOff(71)))
	})
}

// suspects that do not wait.
var suspects = store.Suspects{Attempts: 1000}

func idAttempts(j store.Job) [2]any { return [2]any{j.ID, j.Attempts} }

func testJobs(t *testing.T, open func(t *testing.T) Records) {
	t.Run("fail", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(doc, 1, 0, 4), store.Progress{}))
		f.must(f.Fail(f.ctx, job.ID, "no text found"))
		got := f.job(job.ID)
		f.equal("job", [2]any{store.StatusFailed, "no text found"}, [2]any{got.Status, got.Error})
		stored := f.document(doc.ID)
		f.equal("document", [2]any{store.StatusFailed, "no text found"}, [2]any{stored.Status, stored.Error})
		n, _, err := f.ChunkJournal(f.ctx, doc.ID, 1)
		f.must(err)
		f.equal("chunks left", 0, n)
		f.wantErr(f.Fail(f.ctx, job.ID, "again"), store.ErrConflict)
		f.wantErr(f.Fail(f.ctx, "job_none", "again"), store.ErrNotFound)
		_, queued := f.queue("kb_1", 2)
		f.must(f.Fail(f.ctx, queued.ID, "too many attempts"))
		f.equal("a queued one", store.StatusFailed, f.document("doc_0002").Status)
	})
	t.Run("what was published before it failed stays", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		f.must(f.Publish(f.ctx, job.ID, parsed(doc), sampleChunks(doc, 1, 0, 4)))
		f.must(f.Fail(f.ctx, job.ID, "the index is full"))
		f.equal("visible", sampleChunks(doc, 1, 0, 4), f.visible("kb_1", ""))
		stored := f.document(doc.ID)
		f.equal("document", [4]any{store.StatusFailed, 1, 4, "revision 1 is stored, and the search indexes have not followed: the index is full; retry the job"},
			[4]any{stored.Status, stored.Revision, stored.ChunkCount, stored.Error})
		f.equal("job", "the index is full", f.job(job.ID).Error)

		f.must(errorOf(f.RetryJob(f.ctx, job.ID)))
		f.must(errorOf(f.Lease(f.ctx, at(20), time.Minute)))
		f.must(f.Finish(f.ctx, job.ID))
		stored = f.document(doc.ID)
		f.equal("in the end", [2]any{store.StatusReady, ""}, [2]any{stored.Status, stored.Error})
	})
	t.Run("what was published is not found when it is cancelled", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		f.must(f.Publish(f.ctx, job.ID, parsed(doc), sampleChunks(doc, 1, 0, 4)))
		f.must(errorOf(f.CancelJob(f.ctx, job.ID)))
		f.equal("visible", 0, len(f.visible("kb_1", "")))
		stored := f.document(doc.ID)
		f.equal("revision and chunks", [2]int{0, 0}, [2]int{stored.Revision, stored.ChunkCount})
	})
	t.Run("cancel", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(doc, 1, 0, 4), store.Progress{}))
		got, err := f.CancelJob(f.ctx, job.ID)
		f.must(err)
		f.equal("status", store.StatusCancelled, got.Status)
		f.equal("stored", f.job(job.ID), got)
		f.equal("document", store.StatusCancelled, f.document(doc.ID).Status)
		n, _, err := f.ChunkJournal(f.ctx, doc.ID, 1)
		f.must(err)
		f.equal("chunks left", 0, n)
		_, err = f.CancelJob(f.ctx, job.ID)
		f.wantErr(err, store.ErrConflict)
		_, err = f.CancelJob(f.ctx, "job_none")
		f.wantErr(err, store.ErrNotFound)
		_, done := f.finish("kb_1", 2, 1)
		_, err = f.CancelJob(f.ctx, done.ID)
		f.wantErr(err, store.ErrConflict)
		f.equal("the ready document", store.StatusReady, f.document("doc_0002").Status)
		_, err = f.Lease(f.ctx, at(60), time.Minute)
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("retry", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		_, err := f.RetryJob(f.ctx, job.ID)
		f.wantErr(err, store.ErrConflict)
		f.must(f.Fail(f.ctx, job.ID, "broken"))
		again, err := f.RetryJob(f.ctx, job.ID)
		f.must(err)
		f.equal("stored", f.job(job.ID), again)
		want := sampleJob(doc, 1)
		want.UpdatedAt = again.UpdatedAt
		f.equal("as if new", want, again)
		stored := f.document(doc.ID)
		f.equal("document", [2]any{store.StatusQueued, ""}, [2]any{stored.Status, stored.Error})
		leased, err := f.Lease(f.ctx, at(20), time.Minute)
		f.must(err)
		f.equal("leased", job.ID, leased.ID)
		_, err = f.CancelJob(f.ctx, job.ID)
		f.must(err)
		_, err = f.RetryJob(f.ctx, job.ID)
		f.must(err)
		_, err = f.RetryJob(f.ctx, "job_none")
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("retry all that failed", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		fail := func(kb string, n int) {
			_, job := f.start(kb, n)
			f.must(f.Fail(f.ctx, job.ID, "broken"))
		}
		for n := range 450 { // more than fit into one transaction
			fail("kb_1", n+1)
		}
		fail("kb_2", 500)
		_, cancelled := f.start("kb_2", 501)
		_, err := f.CancelJob(f.ctx, cancelled.ID)
		f.must(err)
		n, err := f.RetryFailed(f.ctx, "kb_1")
		f.must(err)
		f.equal("of one knowledge base", 450, n)
		f.equal("queued", store.StatusQueued, f.job("job_0450").Status)
		f.equal("its document", store.StatusQueued, f.document("doc_0450").Status)
		f.equal("elsewhere", store.StatusFailed, f.job("job_0500").Status)
		n, err = f.RetryFailed(f.ctx, "")
		f.must(err)
		f.equal("of all", 1, n)
		f.equal("cancelled on purpose", store.StatusCancelled, f.job("job_0501").Status)
	})
	t.Run("list and count", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.finish("kb_1", 1, 1)
		_, failed := f.start("kb_1", 2)
		f.must(f.Fail(f.ctx, failed.ID, "broken"))
		f.finish("kb_1", 3, 1)
		f.queue("kb_1", 4)
		f.addKnowledgeBase("kb_2")
		f.queue("kb_2", 5)
		list := func(filter store.JobFilter) []string {
			jobs, err := f.Jobs(f.ctx, filter, store.Page{})
			f.must(err)
			return ids(jobs, func(j store.Job) string { return j.ID })
		}
		f.equal("all", []string{"job_0001", "job_0002", "job_0003", "job_0004", "job_0005"}, list(store.JobFilter{}))
		f.equal("ready", []string{"job_0001", "job_0003"}, list(store.JobFilter{Status: store.StatusReady}))
		f.equal("cancelled", 0, len(list(store.JobFilter{Status: store.StatusCancelled})))
		f.equal("of a knowledge base", []string{"job_0005"}, list(store.JobFilter{KnowledgeBase: "kb_2"}))
		f.equal("queued there", []string{"job_0004"}, list(store.JobFilter{Status: store.StatusQueued, KnowledgeBase: "kb_1"}))
		f.equal("of a document", []string{"job_0003"}, list(store.JobFilter{Document: "doc_0003"}))
		f.equal("of a document elsewhere", 0, len(list(store.JobFilter{Document: "doc_0003", KnowledgeBase: "kb_2"})))
		latest, err := f.LatestJobs(f.ctx, []string{"doc_0005", "doc_none", "doc_0002"})
		f.must(err)
		f.equal("latest", map[string]store.Job{"doc_0002": f.job("job_0002"), "doc_0005": f.job("job_0005")}, latest)
		counts, err := f.CountJobs(f.ctx)
		f.must(err)
		f.equal("counts", map[store.Status]int{store.StatusReady: 2, store.StatusFailed: 1, store.StatusQueued: 2}, counts)
	})
}
