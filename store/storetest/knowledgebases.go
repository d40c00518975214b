package storetest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"ragagent/store"
)

func testKnowledgeBases(t *testing.T, open func(t *testing.T) Records) {
	t.Run("create and find", func(t *testing.T) {
		f := newFixture(t, open)
		kb := sampleKnowledgeBase("kb_1", "Größe % _ 'quoted'")
		f.must(f.CreateKnowledgeBase(f.ctx, kb))
		f.equal("by id", kb, f.knowledgeBase("kb_1"))
		f.equal("by name", kb, f.knowledgeBase(kb.Name))
		for _, miss := range []string{"kb_2", "", "größe % _ 'quoted'", "%", "kb__"} {
			_, err := f.KnowledgeBase(f.ctx, miss)
			f.wantErr(err, store.ErrNotFound)
		}
	})
	t.Run("an id goes before a name", func(t *testing.T) {
		f := newFixture(t, open)
		f.must(f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase("kb_a", "kb_b")))
		f.must(f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase("kb_b", "kb_a")))
		f.equal("kb_a", "kb_a", f.knowledgeBase("kb_a").ID)
		f.equal("kb_b", "kb_b", f.knowledgeBase("kb_b").ID)
	})
	t.Run("names are unique as written", func(t *testing.T) {
		f := newFixture(t, open)
		f.must(f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase("kb_1", "docs")))
		f.wantErr(f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase("kb_2", "docs")), store.ErrConflict)
		f.wantErr(f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase("kb_1", "other")), store.ErrConflict)
		f.must(f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase("kb_2", "Docs")))
		f.wantErr(f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase("kb_3", "")), store.ErrInvalid)
		f.wantErr(f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase("kb_3", strings.Repeat("ö", 128))), store.ErrInvalid)
		f.must(f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase("kb_3", strings.Repeat("x", store.MaxName))))
	})
	t.Run("one of many creators wins", func(t *testing.T) {
		f := newFixture(t, open)
		const n = 16
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { errs[i] = f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase(store.NewID("kb"), "same")) })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, store.ErrConflict) {
				t.Errorf("error is %v, want %v", err, store.ErrConflict)
			}
		}
		f.equal("winners", 1, won)
	})
	t.Run("update", func(t *testing.T) {
		f := newFixture(t, open)
		was := f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		change := store.KnowledgeBase{
			ID: "kb_1", Name: "new", Description: "", Embedder: "other/model", Fingerprint: "other",
			Chunking: store.Chunking{Size: 64}, CreatedAt: at(90), UpdatedAt: at(91),
		}
		replace := func(kb *store.KnowledgeBase) error { *kb = change; return nil }
		got, err := f.UpdateKnowledgeBase(f.ctx, "kb_1", replace)
		f.must(err)
		want := change
		// The vectors are the old embedder's still, and the birthday is what it was.
		want.Embedder, want.Fingerprint, want.CreatedAt = was.Embedder, was.Fingerprint, was.CreatedAt
		f.equal("returned", want, got)
		f.equal("updated", want, f.knowledgeBase("kb_1"))
		_, err = f.UpdateKnowledgeBase(f.ctx, "new", replace) // its own name is not taken
		f.must(err)
		change.Name = "name of kb_2"
		_, err = f.UpdateKnowledgeBase(f.ctx, "kb_1", replace)
		f.wantErr(err, store.ErrConflict)
		f.equal("after a conflict", want, f.knowledgeBase("kb_1"))
		change.Name = ""
		_, err = f.UpdateKnowledgeBase(f.ctx, "kb_1", replace)
		f.wantErr(err, store.ErrInvalid)
		refused := errors.New("refused")
		_, err = f.UpdateKnowledgeBase(f.ctx, "kb_1", func(kb *store.KnowledgeBase) error { kb.Name = "half"; return refused })
		f.wantErr(err, refused)
		f.equal("after a refusal", want, f.knowledgeBase("kb_1"))
		_, err = f.UpdateKnowledgeBase(f.ctx, "kb_3", replace)
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("updates at once do not undo each other", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		const each = 20
		count := func(field func(*store.KnowledgeBase) *int) {
			for range each {
				if _, err := f.UpdateKnowledgeBase(f.ctx, "kb_1", func(kb *store.KnowledgeBase) error { *field(kb)++; return nil }); err != nil {
					t.Error(err)
				}
			}
		}
		was := f.knowledgeBase("kb_1")
		var wg sync.WaitGroup
		for _, field := range []func(*store.KnowledgeBase) *int{
			func(kb *store.KnowledgeBase) *int { return &kb.Chunking.Size },
			func(kb *store.KnowledgeBase) *int { return &kb.Chunking.Overlap },
			func(kb *store.KnowledgeBase) *int { return &kb.Retrieval.TopK },
			func(kb *store.KnowledgeBase) *int { return &kb.Retrieval.TopK },
		} {
			wg.Go(func() { count(field) })
		}
		wg.Wait()
		want := was
		want.Chunking.Size, want.Chunking.Overlap, want.Retrieval.TopK = was.Chunking.Size+each, was.Chunking.Overlap+each, was.Retrieval.TopK+2*each
		f.equal("all updates", want, f.knowledgeBase("kb_1"))
	})
	t.Run("counts", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		counts := func() [4]int {
			one, two := f.knowledgeBase("kb_1"), f.knowledgeBase("kb_2")
			return [4]int{one.DocumentCount, one.ChunkCount, two.DocumentCount, two.ChunkCount}
		}
		f.finish("kb_1", 1, 5)
		f.finish("kb_1", 2, 3)
		f.finish("kb_2", 3, 2)
		f.equal("ready documents", [4]int{2, 8, 1, 2}, counts())
		doc, job := f.start("kb_1", 4)
		f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(doc, 1, 0, 4), store.Progress{}))
		f.equal("an unfinished one counts as a document only", [4]int{3, 8, 1, 2}, counts())
		f.must(f.Publish(f.ctx, job.ID, parsed(doc), nil))
		f.equal("published", [4]int{3, 12, 1, 2}, counts())
		_, err := f.CancelJob(f.ctx, job.ID)
		f.must(err)
		f.equal("cancelled", [4]int{3, 8, 1, 2}, counts())
		_, err = f.DeleteDocument(f.ctx, "kb_1", "doc_0001")
		f.must(err)
		f.equal("deleted", [4]int{2, 3, 1, 2}, counts())
		kbs, err := f.KnowledgeBases(f.ctx, store.Page{})
		f.must(err)
		f.equal("listed counts", [2]int{2, 3}, [2]int{kbs[0].DocumentCount, kbs[0].ChunkCount})
	})
	t.Run("delete takes everything", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		doc, job := f.finish("kb_1", 1, 4)
		other, _ := f.finish("kb_2", 1001, 4)
		_, running := f.start("kb_1", 2)
		f.must(f.DeleteKnowledgeBase(f.ctx, "kb_1"))
		_, err := f.KnowledgeBase(f.ctx, "kb_1")
		f.wantErr(err, store.ErrNotFound)
		_, err = f.Document(f.ctx, "", doc.ID)
		f.wantErr(err, store.ErrNotFound)
		for _, id := range []string{job.ID, running.ID} {
			_, err = f.Job(f.ctx, id)
			f.wantErr(err, store.ErrNotFound)
		}
		chunks, err := f.ChunksByID(f.ctx, []string{sampleChunks(doc, 1, 0, 1)[0].ID})
		f.must(err)
		f.equal("chunks left", 0, len(chunks))
		f.equal("chunks left to see", 0, len(f.visible("kb_1", "")))
		f.equal("chunks of the other", sampleChunks(other, 1, 0, 4), f.visible("kb_2", ""))
		f.wantErr(f.DeleteKnowledgeBase(f.ctx, "kb_1"), store.ErrNotFound)
		f.wantErr(f.PutChunks(f.ctx, running.ID, nil, store.Progress{}), store.ErrNotFound)
		f.must(f.CreateKnowledgeBase(f.ctx, sampleKnowledgeBase("kb_9", "name of kb_1")))
	})
}
