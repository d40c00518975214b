package storetest

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"ragagent/store"
)

func testDocuments(t *testing.T, open func(t *testing.T) Records) {
	t.Run("add and find", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		want := sampleDocument("kb_1", 1)
		job := sampleJob(want, 1)
		f.equal("what became of it", store.Added{Document: want, Job: job}, f.add(want, job))
		f.equal("stored document", want, f.document(want.ID))
		f.equal("stored job", job, f.job(job.ID))
		inKB, err := f.Document(f.ctx, "kb_1", want.ID)
		f.must(err)
		f.equal("found in its knowledge base", want, inKB)
		_, err = f.Document(f.ctx, "kb_2", want.ID)
		f.wantErr(err, store.ErrNotFound)
		_, err = f.Document(f.ctx, "", "doc_none")
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("by id", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		one, _ := f.finish("kb_1", 1, 3)
		three, _ := f.finish("kb_1", 3, 1)
		two, _ := f.queue("kb_2", 2)
		got, err := f.DocumentsByID(f.ctx, []string{three.ID, "doc_none", two.ID, `"]`, one.ID})
		f.must(err)
		f.equal("in the order asked", []store.Document{f.document(three.ID), f.document(two.ID), f.document(one.ID)}, got)
		got, err = f.DocumentsByID(f.ctx, nil)
		f.must(err)
		f.equal("of no ids", 0, len(got))
	})
	t.Run("what cannot be added leaves nothing", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.queue("kb_1", 1)
		bad := func(want error, change func(*store.Document, *store.Job)) {
			t.Helper()
			doc := sampleDocument("kb_1", 2)
			job := sampleJob(doc, 2)
			change(&doc, &job)
			_, err := f.AddDocument(f.ctx, doc, job)
			f.wantErr(err, want)
		}
		bad(store.ErrNotFound, func(d *store.Document, j *store.Job) { d.KnowledgeBaseID = "kb_2"; j.KnowledgeBaseID = "kb_2" })
		bad(store.ErrConflict, func(_ *store.Document, j *store.Job) { j.ID = "job_0001" })
		bad(store.ErrConflict, func(d *store.Document, _ *store.Job) { d.ID = "doc_0001" })
		bad(store.ErrInvalid, func(d *store.Document, _ *store.Job) { d.Metadata = store.Metadata{"n": 1} })
		bad(store.ErrInvalid, func(d *store.Document, _ *store.Job) { d.Metadata = store.Metadata{"n": math.NaN()} })
		bad(store.ErrInvalid, func(d *store.Document, _ *store.Job) { d.Metadata = store.Metadata{"": "x"} })
		bad(store.ErrInvalid, func(d *store.Document, _ *store.Job) { d.Name = "" })
		bad(store.ErrInvalid, func(_ *store.Document, j *store.Job) { j.Revision = 0 })
		docs, err := f.Documents(f.ctx, "kb_1", store.Page{})
		f.must(err)
		f.equal("documents", []string{"doc_0001"}, ids(docs, func(d store.Document) string { return d.ID }))
		f.equal("counted", 1, f.knowledgeBase("kb_1").DocumentCount)
	})
	t.Run("the same bytes are one document", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		first, firstJob := f.finish("kb_1", 1, 2)
		again := sampleDocument("kb_1", 2)
		again.SHA256 = first.SHA256
		first.Sources = append(first.Sources, again.Sources...)
		f.equal("what became of it", store.Added{Document: first, Job: firstJob, Duplicate: true}, f.add(again, sampleJob(again, 2)))
		_, err := f.Document(f.ctx, "", again.ID)
		f.wantErr(err, store.ErrNotFound)
		_, err = f.Job(f.ctx, "job_0002")
		f.wantErr(err, store.ErrNotFound)

		again.KnowledgeBaseID = "kb_2"
		f.equal("duplicate in another knowledge base", false, f.add(again, sampleJob(again, 2)).Duplicate)

		// Whatever became of it, it is the same document.
		_, failed := f.queue("kb_1", 3)
		f.must(f.Fail(f.ctx, failed.ID, "no text found"))
		third := sampleDocument("kb_1", 4)
		third.SHA256 = hash(3)
		added := f.add(third, sampleJob(third, 4))
		f.equal("duplicate of a failed one", store.Added{Document: f.document("doc_0003"), Job: f.job(failed.ID), Duplicate: true}, added)

		_, err = f.DeleteDocument(f.ctx, "kb_1", "doc_0003")
		f.must(err)
		f.equal("duplicate of a deleted one", false, f.add(third, sampleJob(third, 4)).Duplicate)
	})
	t.Run("many adding the same bytes at once add one", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		const n = 32
		type outcome struct {
			doc, job  string
			duplicate bool
		}
		got := make([]outcome, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				doc := sampleDocument("kb_1", i)
				doc.SHA256 = hash(7)
				added, err := f.AddDocument(f.ctx, doc, sampleJob(doc, i))
				if err != nil {
					t.Error(err)
				}
				got[i] = outcome{added.Document.ID, added.Job.ID, added.Duplicate}
			})
		}
		wg.Wait()
		docs, err := f.Documents(f.ctx, "kb_1", store.Page{})
		f.must(err)
		if len(docs) != 1 {
			t.Fatalf("%d documents, want 1", len(docs))
		}
		added := 0
		for i, o := range got {
			if o.doc != docs[0].ID || o.job != "job_"+docs[0].ID[4:] {
				t.Errorf("caller %d got document %s and job %s, want %s", i, o.doc, o.job, docs[0].ID)
			}
			if !o.duplicate {
				added++
			}
		}
		f.equal("callers told that theirs was added", 1, added)
		counts, err := f.CountJobs(f.ctx)
		f.must(err)
		f.equal("jobs", map[store.Status]int{store.StatusQueued: 1}, counts)
	})
	t.Run("parsed", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, job := f.start("kb_1", 1)
		was := f.document(doc.ID)
		change := parsed(doc)
		change.Metadata = store.Metadata{"author": "Lovelace"}
		change.Name, change.Bytes, change.Status, change.SHA256 = "ignored", 1, store.StatusReady, hash(99)
		f.must(f.SetParsed(f.ctx, job.ID, change))
		want := was
		want.Title, want.MIME, want.TextSHA256, want.TextBytes = change.Title, change.MIME, change.TextSHA256, change.TextBytes
		want.Pages, want.Warnings, want.Metadata = change.Pages, change.Warnings, change.Metadata
		got := f.document(doc.ID)
		want.UpdatedAt = got.UpdatedAt
		f.equal("parsed document", want, got)
		if !got.UpdatedAt.After(was.CreatedAt) {
			t.Errorf("updated at %v, not after %v", got.UpdatedAt, was.CreatedAt)
		}
		f.wantErr(f.SetParsed(f.ctx, "job_none", change), store.ErrNotFound)
		other, _ := f.queue("kb_1", 2)
		f.wantErr(f.SetParsed(f.ctx, job.ID, other), store.ErrInvalid)
		f.must(f.Fail(f.ctx, job.ID, "broken"))
		f.wantErr(f.SetParsed(f.ctx, job.ID, change), store.ErrConflict)
	})
	t.Run("delete", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		doc, job := f.finish("kb_1", 1, 5)
		kept, _ := f.finish("kb_1", 2, 2)
		_, err := f.DeleteDocument(f.ctx, "kb_2", doc.ID)
		f.wantErr(err, store.ErrNotFound)
		was, err := f.DeleteDocument(f.ctx, "kb_1", doc.ID)
		f.must(err)
		f.equal("what it was", doc, was)
		_, err = f.DeleteDocument(f.ctx, "kb_1", doc.ID)
		f.wantErr(err, store.ErrNotFound)
		_, err = f.Job(f.ctx, job.ID)
		f.wantErr(err, store.ErrNotFound)
		f.equal("visible chunks", sampleChunks(kept, 1, 0, 2), f.visible("kb_1", ""))
		n, last, err := f.ChunkJournal(f.ctx, doc.ID, 1)
		f.must(err)
		f.equal("journal", [2]any{0, ""}, [2]any{n, last})
	})
	t.Run("delete many", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		one, job := f.finish("kb_1", 1, 5)
		two, _ := f.finish("kb_1", 2, 3)
		kept, _ := f.finish("kb_1", 3, 2)
		other, _ := f.finish("kb_2", 4, 1)
		gone, err := f.DeleteDocuments(f.ctx, "kb_1", []string{two.ID, one.ID, "doc_none", other.ID, two.ID})
		f.must(err)
		slices.SortFunc(gone, func(a, b store.Document) int { return strings.Compare(a.ID, b.ID) })
		f.equal("what they were", []store.Document{one, two}, gone)
		for _, none := range [][]string{nil, {one.ID, two.ID}} {
			gone, err = f.DeleteDocuments(f.ctx, "kb_1", none)
			f.must(err)
			f.equal("documents deleted again", 0, len(gone))
		}
		_, err = f.Job(f.ctx, job.ID)
		f.wantErr(err, store.ErrNotFound)
		f.equal("visible chunks", sampleChunks(kept, 1, 0, 2), f.visible("kb_1", ""))
		f.equal("chunks of the other", sampleChunks(other, 1, 0, 1), f.visible("kb_2", ""))
		kb, err := f.KnowledgeBase(f.ctx, "kb_1")
		f.must(err)
		f.equal("counts", [2]int{1, 2}, [2]int{kb.DocumentCount, kb.ChunkCount})
	})
	t.Run("blobs in use", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		doc, _ := f.finish("kb_1", 1, 1)
		f.queue("kb_1", 2)
		for hash, want := range map[string]bool{
			doc.SHA256: true, doc.TextSHA256: true, hash(2): true, hash(3): false, "": false, "%": false,
		} {
			used, err := f.BlobInUse(f.ctx, hash)
			f.must(err)
			f.equal("use of "+hash, want, used)
		}
		_, err := f.DeleteDocument(f.ctx, "", doc.ID)
		f.must(err)
		for _, hash := range []string{doc.SHA256, doc.TextSHA256} {
			used, err := f.BlobInUse(f.ctx, hash)
			f.must(err)
			f.equal("use after delete of "+hash, false, used)
		}
		unused, err := f.UnusedBlobs(f.ctx, []string{hash(3), hash(2), doc.TextSHA256})
		f.must(err)
		want := []string{hash(3), doc.TextSHA256}
		slices.Sort(want)
		slices.Sort(unused)
		f.equal("unused", want, unused)
		unused, err = f.UnusedBlobs(f.ctx, []string{hash(2)})
		f.must(err)
		f.equal("none unused", []string(nil), unused)
	})
}
