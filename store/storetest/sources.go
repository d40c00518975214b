package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ragagent/store"
)

// content is an upload of the m-th content from a source.
func content(source store.Source, m, n int) (store.Document, store.Job) {
	doc := sampleDocument("kb_1", n)
	doc.SHA256, doc.Sources = hash(m), []store.Source{source}
	return doc, sampleJob(doc, n)
}

func testSources(t *testing.T, open func(t *testing.T) Records) {
	a, b := store.Source{Path: "docs/a.md"}, store.Source{Origin: "sync:/home/ada", Path: "docs/a.md"}
	t.Run("what sources have in common is one document", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		first := f.add(content(a, 1, 1))
		second := f.add(content(b, 1, 2))
		f.equal("duplicate", [2]any{true, first.Document.ID}, [2]any{second.Duplicate, second.Document.ID})
		f.equal("leaves none", "", first.Left+second.Left+f.add(content(b, 1, 2)).Left)
		f.equal("its sources", []store.Source{a, b}, second.Document.Sources)
		third := f.add(content(b, 2, 3)) // goes a way of its own
		f.equal("a new document", [3]any{false, "doc_0003", "doc_0001"}, [3]any{third.Duplicate, third.Document.ID, third.Left})
		f.equal("its sources", []store.Source{b}, third.Document.Sources)
		f.equal("what the other keeps", []store.Source{a}, f.document("doc_0001").Sources)
		fourth := f.add(content(b, 1, 4)) // and comes back
		f.equal("back", [3]any{true, "doc_0001", ""}, [3]any{fourth.Duplicate, fourth.Document.ID, fourth.Left})
		if fourth.Removed == nil || fourth.Removed.ID != "doc_0003" {
			t.Errorf("removed %+v, want doc_0003", fourth.Removed)
		}
		f.wantErr(errorOf(f.Document(f.ctx, "", "doc_0003")), store.ErrNotFound)
		f.used(false, hash(2))
	})
	t.Run("remove", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.add(content(a, 1, 1))
		f.add(content(b, 1, 2))
		_, _, err := f.RemoveSource(f.ctx, "kb_1", "doc_0001", store.Source{Path: "docs/b.md"})
		f.wantErr(err, store.ErrNotFound)
		_, gone, err := f.RemoveSource(f.ctx, "kb_1", "doc_0001", a)
		f.must(err)
		f.equal("gone", false, gone)
		_, _, err = f.RemoveSource(f.ctx, "kb_1", "doc_0001", a)
		f.wantErr(err, store.ErrNotFound)
		was, gone, err := f.RemoveSource(f.ctx, "kb_1", "doc_0001", b)
		f.must(err)
		f.equal("gone in the end", [2]any{true, []string{hash(1)}}, [2]any{gone, was.Blobs()})
		f.wantErr(errorOf(f.Document(f.ctx, "", "doc_0001")), store.ErrNotFound)
	})
	t.Run("what cannot be a source", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		long := string(make([]byte, store.MaxPath+1))
		for _, s := range [][]store.Source{{{}}, {{Path: long}}, {{Path: "a", Origin: long}}, {a, b}} {
			doc, job := content(a, 1, 1)
			doc.Sources = s
			f.wantErr(errorOf(f.AddDocument(f.ctx, doc, job)), store.ErrInvalid)
		}
		doc, job := content(a, 1, 1)
		doc.Sources = nil
		f.equal("none is its name", []store.Source{{Path: doc.Name}}, f.add(doc, job).Document.Sources)
	})
	t.Run("many of one document", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		var want []string
		for i := range store.MaxShownSources + 20 {
			s := store.Source{Origin: "sync:x", Path: fmt.Sprintf("%03d", i)}
			f.add(content(s, 1, i))
			want = append(want, s.Path)
		}
		f.equal("shown", store.MaxShownSources, len(f.document("doc_0000").Sources))
		var got []string
		page := store.Page{Limit: 7}
		for {
			all, err := f.Sources(f.ctx, "kb_1", "sync:x", page)
			f.must(err)
			for _, s := range all {
				f.equal("state", store.SourceState{
					Source: store.Source{Origin: "sync:x", Path: s.Path}, DocumentID: "doc_0000", SHA256: hash(1), Status: store.StatusQueued,
				}, s)
				got = append(got, s.Path)
			}
			if len(all) < page.Size() {
				break
			}
			page.After = got[len(got)-1]
		}
		f.equal("listed", want, got)
	})
	t.Run("any sequence", func(t *testing.T) { testSequences(t, open) })
}

// testSequences compares with a model: which content each source had last. A
// document is what sources with the same content have in common, and shows the
// last of its contents whose job did not fail.
func testSequences(t *testing.T, open func(t *testing.T) Records) {
	f := newFixture(t, open)
	f.addKnowledgeBase("kb_1")
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		f.must(f.DeleteKnowledgeBase(f.ctx, "kb_1"))
		f.addKnowledgeBase("kb_1")
		latest := map[store.Source]int{}
		rt.Repeat(map[string]func(*rapid.T){
			"upload": func(rt *rapid.T) {
				s := store.Source{
					Origin: rapid.SampledFrom([]string{"", "sync:x"}).Draw(rt, "origin"),
					Path:   rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "path"),
				}
				m := rapid.IntRange(1, 4).Draw(rt, "content")
				n++
				f.add(content(s, m, n))
				latest[s] = m
			},
			"work": func(rt *rapid.T) {
				job, err := f.Lease(f.ctx, at(30), time.Minute)
				if err != nil {
					return
				}
				switch rapid.IntRange(0, 3).Draw(rt, "end") {
				case 0:
					f.must(f.Fail(f.ctx, job.ID, "broken"))
				case 1:
					f.must(f.PutChunks(f.ctx, job.ID, sampleChunks(f.document(job.DocumentID), job.Revision, 0, 2), store.Progress{}))
					f.must(f.Requeue(f.ctx, job.ID))
				default:
					f.publish(job, 3)
					f.must(f.Finish(f.ctx, job.ID))
				}
			},
			"retry": func(*rapid.T) {
				failed, err := f.Jobs(f.ctx, store.JobFilter{Status: store.StatusFailed}, store.Page{})
				f.must(err)
				for _, job := range failed {
					if _, err := f.RetryJob(f.ctx, job.ID); err != nil {
						f.wantErr(err, store.ErrConflict)
					}
				}
			},
			"remove": func(rt *rapid.T) {
				if len(latest) == 0 {
					return
				}
				s := rapid.SampledFrom(sourcesOf(latest)).Draw(rt, "source")
				for _, state := range f.states() {
					if state.Source == s {
						_, _, err := f.RemoveSource(f.ctx, "kb_1", state.DocumentID, s)
						f.must(err)
					}
				}
				delete(latest, s)
			},
			"delete": func(rt *rapid.T) {
				docs := f.documents()
				if len(docs) == 0 {
					return
				}
				doc := rapid.SampledFrom(docs).Draw(rt, "document")
				for _, s := range doc.Sources {
					delete(latest, s)
				}
				_, err := f.DeleteDocument(f.ctx, "kb_1", doc.ID)
				f.must(err)
			},
			"": func(*rapid.T) { f.checkSources(latest) },
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
}

func sourcesOf(latest map[store.Source]int) []store.Source {
	return slices.SortedFunc(maps.Keys(latest), func(a, b store.Source) int {
		return cmp.Or(cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Path, b.Path))
	})
}

func (f fixture) documents() []store.Document {
	f.t.Helper()
	docs, err := f.Documents(f.ctx, "kb_1", store.Page{Limit: store.MaxPage})
	f.must(err)
	return docs
}

func (f fixture) states() (all []store.SourceState) {
	f.t.Helper()
	for _, origin := range []string{"", "sync:x"} {
		states, err := f.Sources(f.ctx, "kb_1", origin, store.Page{})
		f.must(err)
		all = append(all, states...)
	}
	return all
}

// checkSources compares what is stored with the model.
func (f fixture) checkSources(latest map[store.Source]int) {
	f.t.Helper()
	want := map[string][]store.Source{} // by content
	for _, s := range sourcesOf(latest) {
		want[hash(latest[s])] = append(want[hash(latest[s])], s)
	}
	got := map[string][]store.Source{}
	visible := 0
	for _, doc := range f.documents() {
		up := doc.Upcoming()
		if got[up.SHA256] != nil {
			f.t.Errorf("two documents have the content %s", up.SHA256)
		}
		got[up.SHA256] = doc.Sources
		visible += doc.ChunkCount
		if doc.Revision > 0 {
			f.equal("visible chunks of "+doc.ID, sampleChunks(doc, doc.Revision, 0, 3), f.visible("kb_1", doc.ID))
		}
		f.used(true, doc.Blobs()...)
		if doc.Status == store.StatusReady && (doc.Pending != nil || doc.Revision == 0) {
			f.t.Errorf("%s is ready at revision %d, pending %+v", doc.ID, doc.Revision, doc.Pending)
		}
		if !doc.Status.Ended() {
			jobs, err := f.Jobs(f.ctx, store.JobFilter{Status: doc.Status}, store.Page{})
			f.must(err)
			if !slices.ContainsFunc(jobs, func(j store.Job) bool { return j.DocumentID == doc.ID }) {
				f.t.Errorf("%s is %s and has no such job", doc.ID, doc.Status)
			}
		}
	}
	f.equal("sources by content", want, got)
	f.equal("visible", visible, len(f.visible("kb_1", "")))
	for _, s := range f.states() {
		f.equal("content of "+s.Path, hash(latest[s.Source]), s.SHA256)
	}
}

func errorOf[T any](_ T, err error) error { return err }
