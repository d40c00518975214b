package retrieval_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/store"
	"ragagent/store/chromem"
)

// mirrored is the embedder of another space: of the signs' vectors, the order
// of the dimensions is turned round, so that mixing the two finds the wrong ones.
type mirrored struct {
	signEmbedder
	asked func() // at the first question
}

func (m mirrored) Fingerprint() string { return "mirrored" }
func (m mirrored) Name() string        { return "test/mirrored" }

func (m mirrored) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if m.asked != nil {
		m.asked()
	}
	v, err := m.signEmbedder.EmbedQuery(ctx, text)
	return turned(v), err
}

func turned(v []float32) []float32 {
	var out []float32
	for i := range v {
		out = append(out, v[len(v)-1-i])
	}
	return out
}

// TestSwitch: a shadow is found by who names it only; after the switch everybody
// finds it, and a question that is under way ends with what it began with.
func TestSwitch(t *testing.T) {
	var during func()
	other := mirrored{asked: func() {
		if during != nil {
			during()
			during = nil
		}
	}}
	w := newWorld(t, func(c *retrieval.PipelineConfig) { c.Embedders = append(c.Embedders, other) })
	for _, sign := range signs {
		w.put(t, "kb_1", "doc_"+sign, sign)
	}
	before, ctx := w.bases["kb_1"], t.Context()
	after := before
	after.Embedder, after.Fingerprint = "test/mirrored", "mirrored"
	check(t, w.index.LoadShadow(ctx, after, func(yield func(store.VectorEntry, error) bool) {
		for _, sign := range signs {
			v, _ := signEmbedder{}.EmbedQuery(ctx, sign)
			if !yield(store.VectorEntry{ID: store.ChunkID("doc_"+sign, 1, 0, sign), Vector: turned(v)}, nil) {
				return
			}
		}
	}))
	nearest := func(r retrieval.Retriever, sign string) []string {
		t.Helper()
		got, err := r.Retrieve(ctx, retrieval.Query{Text: sign, KnowledgeBases: []string{"kb_1"}, TopK: 1, Mode: retrieval.Dense})
		check(t, err)
		if len(got.Degraded) > 0 {
			t.Errorf("degraded: %q", got.Degraded)
		}
		return documents(got)
	}
	all := func(r retrieval.Retriever) {
		t.Helper()
		for _, sign := range signs {
			if diff := cmp.Diff([]string{"doc_" + sign}, nearest(r, sign)); diff != "" {
				t.Error(diff)
			}
		}
	}
	all(w.pipeline)
	all(w.pipeline.As(after))

	// Switched while a question is embedded: it was to the shadow, which stays.
	during = func() {
		w.bases["kb_1"] = after
		check(t, w.index.Switch(ctx, after))
	}
	all(w.pipeline.As(after))
	all(w.pipeline)
	if _, err := w.vectors.Count(ctx, "kb_1@signs"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the old vectors are still there: %v", err)
	}
	// Vectors of the old space are not taken any more, and not searched.
	if err := w.index.Replace(ctx, before, "doc_late", sequence([]store.Chunk{{
		ID: "late", KnowledgeBaseID: "kb_1", DocumentID: "doc_late", Text: "late", Vector: []float32{1, 0, 0},
	}})); !errors.Is(err, store.ErrOtherEmbedder) {
		t.Errorf("vectors of two spaces were mixed: %v", err)
	}
	// A question that read the record before the switch reads it again.
	all(w.pipeline.As(after))
	if err := w.index.Switch(ctx, before); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("switched to what is not there: %v", err)
	}
}

// unhurried says that it is about to remove a collection, and takes its time.
type unhurried struct {
	store.VectorIndex
	name  string
	about chan struct{}
}

func (x unhurried) DeleteCollection(ctx context.Context, name string) error {
	if name == x.name {
		x.about <- struct{}{}
		time.Sleep(5 * time.Millisecond) // in which nobody may load it
	}
	return x.VectorIndex.DeleteCollection(ctx, name)
}

// TestLoadedWhileTheLastQuestionEnds has vectors loaded again, to go back to
// them, while the last question to them ends, after which they are to go.
func TestLoadedWhileTheLastQuestionEnds(t *testing.T) {
	ctx := t.Context()
	vectors := unhurried{chromem.New(chromem.Config{}), "kb_1@mirrored", make(chan struct{}, 1)}
	during := func() {}
	var index *retrieval.Index
	w := newWorld(t, func(c *retrieval.PipelineConfig) {
		words, err := bm25.New(bm25.Config{Analyzer: analysis.New()})
		check(t, err)
		index, err = retrieval.NewIndex(retrieval.IndexConfig{Lexical: words, Vectors: vectors})
		check(t, err)
		c.Index, c.Embedders = index, append(c.Embedders, mirrored{asked: func() { during() }})
	})
	v, _ := signEmbedder{}.EmbedQuery(ctx, signs[0])
	chunk := store.Chunk{ID: store.ChunkID("doc", 1, 0, signs[0]), KnowledgeBaseID: "kb_1", DocumentID: "doc", Revision: 1, Text: signs[0], Vector: turned(v)}
	w.add(chunk)
	one := func(v []float32) func(func(store.VectorEntry, error) bool) {
		return func(yield func(store.VectorEntry, error) bool) {
			yield(store.VectorEntry{ID: chunk.ID, Vector: v}, nil)
		}
	}
	old, next := w.bases["kb_1"], w.bases["kb_1"]
	old.Embedder, old.Fingerprint = "test/mirrored", "mirrored"
	w.bases["kb_1"] = old
	check(t, index.Replace(ctx, old, "doc", sequence([]store.Chunk{chunk})))
	check(t, index.LoadShadow(ctx, next, one(v)))
	during = func() {
		during = func() {}
		w.bases["kb_1"] = next
		check(t, index.Switch(ctx, next))
	}
	loaded := make(chan error, 1)
	go func() {
		<-vectors.about
		loaded <- index.LoadShadow(ctx, old, one(turned(v)))
	}()
	ask := func(when string) {
		t.Helper()
		got := w.retrieve(t, retrieval.Query{Text: signs[0], Mode: retrieval.Dense})
		if diff := cmp.Diff([]string{"doc"}, documents(got)); diff != "" || len(got.Degraded) > 0 {
			t.Errorf("%s: %s %q", when, diff, got.Degraded)
		}
	}
	ask("while it is switched")
	check(t, <-loaded)
	w.bases["kb_1"] = old
	check(t, index.Switch(ctx, old))
	ask("after going back")
}

// TestSwitchWhileAsked: the old vectors stay until the last question to them has
// ended.
func TestSwitchWhileAsked(t *testing.T) {
	ctx := t.Context()
	var during func()
	other := mirrored{asked: func() {
		if during != nil {
			during()
			during = nil
		}
	}}
	w := newWorld(t, func(c *retrieval.PipelineConfig) { c.Embedders = append(c.Embedders, other) })
	now := w.bases["kb_1"]
	now.Embedder, now.Fingerprint = "test/mirrored", "mirrored"
	w.bases["kb_1"] = now
	v, _ := signEmbedder{}.EmbedQuery(ctx, signs[0])
	chunk := store.Chunk{ID: store.ChunkID("doc", 1, 0, signs[0]), KnowledgeBaseID: "kb_1", DocumentID: "doc", Revision: 1, Text: signs[0], Vector: turned(v)}
	w.add(chunk)
	check(t, w.index.Replace(ctx, now, "doc", sequence([]store.Chunk{chunk})))
	next := now
	next.Embedder, next.Fingerprint = "test/signs", "signs"
	check(t, w.index.LoadShadow(ctx, next, func(yield func(store.VectorEntry, error) bool) {
		yield(store.VectorEntry{ID: chunk.ID, Vector: v}, nil)
	}))
	during = func() {
		w.bases["kb_1"] = next
		check(t, w.index.Switch(ctx, next))
		if n, err := w.vectors.Count(ctx, "kb_1@mirrored"); err != nil || n != 1 {
			t.Errorf("taken away from a question under way: %d, %v", n, err)
		}
	}
	got := w.retrieve(t, retrieval.Query{Text: signs[0], Mode: retrieval.Dense})
	if diff := cmp.Diff([]string{"doc"}, documents(got)); diff != "" || len(got.Degraded) > 0 {
		t.Error(diff, got.Degraded)
	}
	if _, err := w.vectors.Count(ctx, "kb_1@mirrored"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the old vectors are still there: %v", err)
	}
}
