package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"ragagent/store"
)

// second is a change of kb_1, whose second set has two dimensions.
func second(n int) store.EmbedderChange {
	return store.EmbedderChange{
		ID: fmt.Sprintf("job_change_%d", n), KnowledgeBaseID: "kb_1", State: store.ChangeFilling,
		Embedder: "test/second", Fingerprint: "second-2", Dimension: 2, Auto: true, Compare: true,
		Questions: []store.JudgedQuestion{{Text: "who?", Relevant: map[string]int{"doc_0001": 2}}},
		CreatedAt: at(20), UpdatedAt: at(20),
	}
}

// lacking lists what the second set of a change lacks, a few at a time.
func (f fixture) lacking(id, document string) (all []string) {
	f.t.Helper()
	for after := (store.Place{}); ; {
		some, err := f.MissingVectors(f.ctx, id, document, after, 2)
		f.must(err)
		for _, c := range some {
			after = store.Place{DocumentID: c.DocumentID, Ordinal: c.Ordinal}
			all = append(all, c.ID)
			if c.Vector != nil {
				f.t.Errorf("%s came with its vector", c.ID)
			}
		}
		if len(some) < 2 {
			return all
		}
	}
}

// fillSecond gives every chunk that lacks one a vector, each third none.
func (f fixture) fillSecond(id string) (stored []string) {
	f.t.Helper()
	for i, chunk := range f.lacking(id, "") {
		e := store.VectorEntry{ID: chunk}
		if i%3 != 2 {
			e.Vector = []float32{0.6, 0.8}
			stored = append(stored, chunk)
		}
		f.must(f.PutVectors(f.ctx, id, []store.VectorEntry{e}, i+1, 9))
	}
	return stored
}

// secondVectors lists the chunks that have a vector of the second set.
func (f fixture) secondVectors(id string) (all []string) {
	f.t.Helper()
	for e, err := range f.ChangeVectors(f.ctx, id) {
		f.must(err)
		if len(e.Vector) == 0 {
			f.t.Errorf("%s came without a vector", e.ID)
		}
		all = append(all, e.ID)
	}
	return all
}

func (f fixture) setState(id string, state store.ChangeState) {
	f.t.Helper()
	_, err := f.UpdateEmbedderChange(f.ctx, id, func(c *store.EmbedderChange) error {
		c.State = state
		return nil
	})
	f.must(err)
}

func testEmbedderChanges(t *testing.T, open func(t *testing.T) Records) {
	t.Run("begin, edit, list", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		_, err := f.EmbedderChange(f.ctx, "kb_1")
		f.wantErr(err, store.ErrNotFound)
		c := second(1)
		f.must(f.BeginEmbedderChange(f.ctx, c))
		got, err := f.EmbedderChange(f.ctx, "kb_1")
		f.must(err)
		f.equal("stored", c, got)
		f.wantErr(f.BeginEmbedderChange(f.ctx, second(2)), store.ErrConflict)
		other := second(3)
		other.KnowledgeBaseID = "kb_none"
		f.wantErr(f.BeginEmbedderChange(f.ctx, other), store.ErrNotFound)

		refused := errors.New("refused")
		_, err = f.UpdateEmbedderChange(f.ctx, c.ID, func(c *store.EmbedderChange) error { c.Done = 5; return refused })
		f.wantErr(err, refused)
		c.Comparison = &store.Comparison{Questions: 1, Overlap: 0.5}
		c.State, c.Done, c.Total, c.Error = store.ChangeFailed, 3, 4, "why"
		got, err = f.UpdateEmbedderChange(f.ctx, c.ID, func(e *store.EmbedderChange) error {
			e.State, e.Done, e.Total, e.Error, e.Comparison = c.State, c.Done, c.Total, c.Error, c.Comparison
			e.Fingerprint = "cannot be changed"
			return nil
		})
		f.must(err)
		c.UpdatedAt = got.UpdatedAt
		f.equal("edited", c, got)
		all, err := f.EmbedderChanges(f.ctx)
		f.must(err)
		f.equal("listed", []store.EmbedderChange{c}, all)
		f.equal("as a job", store.StatusFailed, f.job(c.ID).Status)
		_, err = f.UpdateEmbedderChange(f.ctx, "job_none", func(*store.EmbedderChange) error { return nil })
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("fill", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.addKnowledgeBase("kb_2")
		one, _ := f.finish("kb_1", 1, 5)
		two, _ := f.finish("kb_1", 2, 4)
		f.finish("kb_2", 3, 2)
		c := second(1)
		f.must(f.BeginEmbedderChange(f.ctx, c))
		id := func(c store.Chunk) string { return c.ID }
		visible := ids(f.visible("kb_1", ""), id)
		f.equal("lacks all", visible, f.lacking(c.ID, ""))
		f.equal("of one document", ids(f.visible("kb_1", two.ID), id), f.lacking(c.ID, two.ID))
		f.equal("of none", []string(nil), f.lacking(c.ID, "doc_none"))

		put := func(chunk string, v ...float32) error {
			return f.PutVectors(f.ctx, c.ID, []store.VectorEntry{{ID: chunk, Vector: v}}, 1, 9)
		}
		f.wantErr(put(visible[0], 1), store.ErrInvalid)
		f.must(put(visible[0], 1, 0))
		f.must(put(visible[0], 0, 1)) // what is there is left
		f.must(put("chunk that is gone", 0, 1))
		f.must(put(visible[6]))
		missing, total, err := f.CountMissing(f.ctx, c.ID)
		f.must(err)
		f.equal("missing of all", [2]int{7, 9}, [2]int{missing, total})
		f.equal("lacks the others", append(visible[1:6:6], visible[7:]...), f.lacking(c.ID, ""))
		for e, err := range f.ChangeVectors(f.ctx, c.ID) {
			f.must(err)
			f.equal("the only vector", store.VectorEntry{ID: visible[0], Vector: []float32{1, 0}}, e)
		}
		_, err = f.DeleteDocument(f.ctx, "kb_1", one.ID)
		f.must(err)
		f.equal("after a deletion", append(visible[5:6:6], visible[7:]...), f.lacking(c.ID, ""))
		for _, err := range []error{errorOf(f.MissingVectors(f.ctx, "job_none", "", store.Place{}, 1)),
			f.PutVectors(f.ctx, "job_none", nil, 0, 0), f.ClearVectors(f.ctx, "job_none")} {
			f.wantErr(err, store.ErrNotFound)
		}
	})
	t.Run("switch and back", func(t *testing.T) {
		f := newFixture(t, open)
		before := f.addKnowledgeBase("kb_1")
		f.finish("kb_1", 1, 6)
		f.start("kb_1", 2)
		c := second(1)
		f.must(f.BeginEmbedderChange(f.ctx, c))
		_, err := f.SwitchEmbedder(f.ctx, c.ID)
		f.wantErr(err, store.ErrConflict) // it is being filled
		f.setState(c.ID, store.ChangeReady)
		_, err = f.SwitchEmbedder(f.ctx, c.ID)
		f.wantErr(err, store.ErrConflict) // it lacks everything
		visible := f.visible("kb_1", "")
		stored := f.fillSecond(c.ID)
		f.equal("of the second set", stored, f.secondVectors(c.ID))
		f.equal("still searched", visible, f.visible("kb_1", ""))

		kb, err := f.SwitchEmbedder(f.ctx, c.ID)
		f.must(err)
		f.equal("embedder", [3]any{"test/second", "second-2", 2}, [3]any{kb.Embedder, kb.Fingerprint, kb.Dimension})
		var now []string
		for _, chunk := range f.visible("kb_1", "") {
			if len(chunk.Vector) == 2 {
				now = append(now, chunk.ID)
			}
		}
		f.equal("searched now", stored, now)
		back, err := f.EmbedderChange(f.ctx, "kb_1")
		f.must(err)
		f.equal("the second set is the old one", [3]any{store.ChangeSwitched, before.Embedder, before.Fingerprint},
			[3]any{back.State, back.Embedder, back.Fingerprint})
		// Chunks that came without a vector may have got none from this embedder.
		for _, chunk := range f.lacking(c.ID, "") {
			f.must(f.PutVectors(f.ctx, c.ID, []store.VectorEntry{{ID: chunk}}, 6, 6))
		}

		kb, err = f.SwitchEmbedder(f.ctx, c.ID)
		f.must(err)
		f.equal("rolled back to", before.Embedder, kb.Embedder)
		f.equal("with its vectors", visible, f.visible("kb_1", ""))
	})
	t.Run("discard either set", func(t *testing.T) {
		for _, switched := range []bool{false, true} {
			f := newFixture(t, open)
			f.addKnowledgeBase("kb_1")
			f.finish("kb_1", 1, 700) // more than one transaction
			f.finish("kb_1", 2, 3)
			c := second(1)
			f.must(f.BeginEmbedderChange(f.ctx, c))
			var entries []store.VectorEntry
			for _, chunk := range f.visible("kb_1", "") {
				entries = append(entries, store.VectorEntry{ID: chunk.ID, Vector: []float32{1, 0}})
			}
			f.must(f.PutVectors(f.ctx, c.ID, entries, 703, 703))
			f.setState(c.ID, store.ChangeReady)
			if switched {
				f.must(errorOf(f.SwitchEmbedder(f.ctx, c.ID)))
			}
			f.wantErr(f.ClearVectors(f.ctx, c.ID), store.ErrConflict)
			visible := f.visible("kb_1", "")
			f.setState(c.ID, store.ChangeDiscarding)
			f.wantErr(errorOf(f.EmbedderChange(f.ctx, "kb_1")), store.ErrNotFound)
			f.wantErr(f.PutVectors(f.ctx, c.ID, entries[:1], 1, 703), store.ErrConflict)
			f.must(f.ClearVectors(f.ctx, c.ID))
			f.equal("searched as before", visible, f.visible("kb_1", ""))
			f.equal("changes left", 0, len(must(f.EmbedderChanges(f.ctx))(f)))

			// The next change meets nothing of it.
			next := second(2)
			f.must(f.BeginEmbedderChange(f.ctx, next))
			f.equal("lacks all", 703, len(f.lacking(next.ID, "")))
		}
	})
	t.Run("goes with its knowledge base", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.finish("kb_1", 1, 3)
		f.must(f.BeginEmbedderChange(f.ctx, second(1)))
		f.fillSecond(second(1).ID)
		f.must(f.DeleteKnowledgeBase(f.ctx, "kb_1"))
		f.equal("changes left", 0, len(must(f.EmbedderChanges(f.ctx))(f)))
	})
	t.Run("sample", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.finish("kb_1", 1, 10)
		f.finish("kb_1", 2, 10)
		for n, want := range map[int]int{1: 1, 4: 4, 20: 20, 50: 20} {
			some := must(f.SampleChunks(f.ctx, "kb_1", n))(f)
			f.equal(fmt.Sprintf("%d of 20", n), want, len(some))
			if n == 4 && (some[0].DocumentID != "doc_0001" || some[3].DocumentID != "doc_0002") {
				f.t.Errorf("from %s to %s", some[0].ID, some[3].ID)
			}
		}
	})
	t.Run("a job among others", func(t *testing.T) {
		f := newFixture(t, open)
		f.addKnowledgeBase("kb_1")
		f.queue("kb_1", 1)
		f.must(f.BeginEmbedderChange(f.ctx, second(1)))
		jobs := must(f.Jobs(f.ctx, store.JobFilter{KnowledgeBase: "kb_1"}, store.Page{}))(f)
		f.equal("listed", []string{"job_0001", "job_change_1"}, ids(jobs, func(j store.Job) string { return j.ID }))
		_, err := f.Lease(f.ctx, at(21), time.Minute)
		f.must(err)
		_, err = f.Lease(f.ctx, at(21), time.Minute)
		f.wantErr(err, store.ErrNotFound) // a change is nobody's to lease
	})
}

// must is the result of a call that has to go well.
func must[T any](result T, err error) func(f fixture) T {
	return func(f fixture) T {
		f.t.Helper()
		f.must(err)
		return result
	}
}
