package storetest

import (
	"testing"
	"time"

	"ragagent/store"
)

const page = "https://a.example/page"

func sampleAddress(document string) store.Address {
	return store.Address{
		KnowledgeBaseID: "kb_1", DocumentID: document, URL: page, FinalURL: page + "/", ETag: `"tag"`,
		LastModified: "Sun, 01 Mar 2026 12:00:00 GMT", FetchedAt: at(10), Refresh: time.Hour, NextAt: at(70),
	}
}

// order queues a document whose content is still to be fetched.
func (f fixture) order(n int, kind string) (store.Document, store.Job) {
	f.t.Helper()
	job := sampleJob(sampleDocument("kb_1", n), n)
	job.Kind = kind
	added := f.add(sampleDocument("kb_1", n), job)
	return added.Document, added.Job
}

func testAddresses(t *testing.T, open func(t *testing.T) Records) {
	t.Run("put, get, change", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, _ := f.finish("kb_1", 1, 1)
		a := sampleAddress(doc.ID)
		f.must(f.PutAddress(f.ctx, a))
		f.equal("stored", a, must(f.Address(f.ctx, "kb_1", page))(f))
		f.equal("of documents", map[string]store.Address{doc.ID: a},
			must(f.DocumentAddresses(f.ctx, []string{doc.ID, "doc_none"}))(f))
		f.wantErr(errorOf(f.Address(f.ctx, "kb_1", page+"2")), store.ErrNotFound)
		f.wantErr(errorOf(f.Address(f.ctx, "kb_2", page)), store.ErrNotFound)
		lost := a
		lost.DocumentID, lost.URL = "doc_none", page+"2"
		f.wantErr(f.PutAddress(f.ctx, lost), store.ErrNotFound)

		a.Failures, a.Error, a.GoneSince, a.NextAt = 2, "404", at(80), time.Time{}
		got := must(f.UpdateAddress(f.ctx, "kb_1", page, func(b *store.Address) {
			*b = a
			b.DocumentID = "cannot be changed"
		}))(f)
		f.equal("changed", a, got)
		f.equal("stored then", a, must(f.Address(f.ctx, "kb_1", page))(f))
		f.wantErr(errorOf(f.UpdateAddress(f.ctx, "kb_1", page+"2", func(*store.Address) {})), store.ErrNotFound)

		f.must(errorOf(f.DeleteDocument(f.ctx, "kb_1", doc.ID)))
		f.wantErr(errorOf(f.Address(f.ctx, "kb_1", page)), store.ErrNotFound)
	})
	t.Run("the longest due is taken once", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		for n, next := range []time.Time{at(30), at(20), {}, at(90)} {
			doc, _ := f.finish("kb_1", n+1, 1)
			a := sampleAddress(doc.ID)
			a.URL, a.NextAt = page+string(rune('0'+n)), next
			f.must(f.PutAddress(f.ctx, a))
		}
		hold := at(60)
		for _, want := range []string{page + "1", page + "0"} {
			a := must(f.DueAddress(f.ctx, at(40), hold))(f)
			f.equal("taken", want, a.URL)
			f.equal("put off", hold, must(f.Address(f.ctx, "kb_1", want))(f).NextAt)
		}
		f.wantErr(errorOf(f.DueAddress(f.ctx, at(40), hold)), store.ErrNotFound)
		f.equal("after the hold", page+"0", must(f.DueAddress(f.ctx, at(60), at(61)))(f).URL)
	})
	t.Run("asked for again during the first fetch", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.order(1, store.JobFetch)
		f.must(f.PutAddress(f.ctx, store.Address{KnowledgeBaseID: "kb_1", DocumentID: doc.ID, URL: page}))
		f.must(errorOf(f.LeaseFetch(f.ctx, store.JobFetch, at(10), time.Minute)))
		f.must(errorOf(f.UpdateAddress(f.ctx, "kb_1", page, func(a *store.Address) { a.NextAt = at(11) })))
		f.wantErr(errorOf(f.DueAddress(f.ctx, at(20), at(30))), store.ErrNotFound) // the job does it
		got := sampleAddress(doc.ID)
		f.must(errorOf(f.PutFetched(f.ctx, job.ID, store.Fetched{Name: "page", Bytes: 7, SHA256: sampleDocument("kb_1", 9).SHA256, Address: got})))
		f.equal("due", page, must(f.DueAddress(f.ctx, at(20), at(30)))(f).URL)
		f.wantErr(errorOf(f.DueAddress(f.ctx, at(20), at(30))), store.ErrNotFound)
	})
	t.Run("fetch, postpone, put", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.order(1, store.JobFetch)
		f.wantErr(errorOf(f.Lease(f.ctx, at(10), time.Minute)), store.ErrNotFound) // nothing to parse yet
		f.wantErr(errorOf(f.LeaseFetch(f.ctx, store.JobCrawl, at(10), time.Minute)), store.ErrNotFound)
		leased := must(f.LeaseFetch(f.ctx, store.JobFetch, at(10), time.Minute))(f)
		f.equal("leased", [4]any{job.ID, store.StatusRunning, store.StageFetch, 1},
			[4]any{leased.ID, leased.Status, leased.Stage, leased.Attempts})
		f.wantErr(errorOf(f.LeaseFetch(f.ctx, store.JobFetch, at(10), time.Minute)), store.ErrNotFound)

		f.must(f.PostponeFetch(f.ctx, job.ID, at(30), "503"))
		f.equal("why", "503", f.job(job.ID).Error)
		f.wantErr(f.PostponeFetch(f.ctx, job.ID, at(30), "503"), store.ErrConflict)
		f.wantErr(f.PostponeFetch(f.ctx, "job_none", at(30), "503"), store.ErrNotFound)
		f.wantErr(errorOf(f.LeaseFetch(f.ctx, store.JobFetch, at(29), time.Minute)), store.ErrNotFound)
		f.must(errorOf(f.LeaseFetch(f.ctx, store.JobFetch, at(30), time.Minute)))

		fetched := store.Fetched{Name: "page.html", MIME: "text/html", Bytes: 7, SHA256: hash(77), Address: sampleAddress(doc.ID)}
		f.equal("duplicate", false, must(f.PutFetched(f.ctx, job.ID, fetched))(f))
		got := f.document(doc.ID)
		f.equal("document", [4]any{"page.html", "text/html", int64(7), hash(77)}, [4]any{got.Name, got.MIME, got.Bytes, got.SHA256})
		f.equal("address", sampleAddress(doc.ID), must(f.Address(f.ctx, "kb_1", page))(f))
		f.equal("attempts begin again", job.ID, must(f.Lease(f.ctx, at(31), time.Minute))(f).ID)
		f.equal("first attempt", 1, f.job(job.ID).Attempts)
	})
	t.Run("what was fetched is there already", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		there, _ := f.finish("kb_1", 1, 2)
		doc, job := f.order(2, store.JobFetch)
		f.must(errorOf(f.LeaseFetch(f.ctx, store.JobFetch, at(10), time.Minute)))
		fetched := store.Fetched{Name: "page.html", SHA256: there.SHA256, Bytes: there.Bytes, Address: sampleAddress(doc.ID)}
		f.equal("duplicate", true, must(f.PutFetched(f.ctx, job.ID, fetched))(f))
		f.wantErr(errorOf(f.Document(f.ctx, "kb_1", doc.ID)), store.ErrNotFound)
		f.equal("job", [2]any{store.StatusReady, there.ID}, [2]any{f.job(job.ID).Status, f.job(job.ID).DocumentID})
		f.equal("address", there.ID, must(f.Address(f.ctx, "kb_1", page))(f).DocumentID)
	})
	t.Run("what comes again goes where its address is", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, _ := f.finish("kb_1", 1, 1)
		f.must(f.PutAddress(f.ctx, sampleAddress(doc.ID)))
		next := func(n int) (store.Document, store.Job) {
			next, job := revision(doc, n)
			next.KnowledgeBaseID = "kb_1"
			return next, job
		}
		second, job := next(2)
		added := must(f.AddRefreshed(f.ctx, second, job, page))(f)
		f.equal("the next revision of", doc.ID, added.Document.ID)
		f.equal("its address stays", doc.ID, must(f.Address(f.ctx, "kb_1", page))(f).DocumentID)

		other, _ := f.queue("kb_1", 7)
		third, job := next(3)
		third.SHA256 = other.SHA256
		added = must(f.AddRefreshed(f.ctx, third, job, page))(f)
		f.equal("the content of another", [2]any{true, other.ID}, [2]any{added.Duplicate, added.Document.ID})
		f.wantErr(errorOf(f.Document(f.ctx, "kb_1", doc.ID)), store.ErrNotFound)
		want := sampleAddress(other.ID)
		f.equal("goes with it", want, must(f.Address(f.ctx, "kb_1", page))(f))

		f.must(errorOf(f.DeleteDocument(f.ctx, "kb_1", other.ID)))
		fourth, job := next(4)
		f.wantErr(errorOf(f.AddRefreshed(f.ctx, fourth, job, page)), store.ErrNotFound)
		f.equal("nothing has come back", 0, len(must(f.Documents(f.ctx, "kb_1", store.Page{}))(f)))
	})
	t.Run("crawl", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		_, job := f.order(1, store.JobCrawl)
		f.must(errorOf(f.LeaseFetch(f.ctx, store.JobCrawl, at(10), time.Minute)))
		start := store.CrawlPage{URL: page, Asked: true, Kept: true, Content: "aa"}
		found := []store.CrawlPage{{URL: page + "/b", Depth: 1}, {URL: page + "/a", Depth: 1}}
		f.must(f.PutCrawlPages(f.ctx, job.ID, start, found))
		asked := store.CrawlPage{URL: page + "/b", Depth: 1, Asked: true}
		f.must(f.PutCrawlPages(f.ctx, job.ID, asked, []store.CrawlPage{{URL: page, Depth: 2}, {URL: page + "/c", Depth: 2}}))
		f.equal("known, in order", []store.CrawlPage{start, asked, found[1], {URL: page + "/c", Depth: 2}},
			must(f.CrawlPages(f.ctx, job.ID))(f))
		f.must(f.EndCrawl(f.ctx, job.ID))
		f.equal("forgotten", 0, len(must(f.CrawlPages(f.ctx, job.ID))(f)))
		f.equal("a fetch by now", job.ID, must(f.LeaseFetch(f.ctx, store.JobFetch, at(11), time.Minute))(f).ID)
	})
}
