package ingest_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"ragagent/ingest"
	"ragagent/store"
)

// another is an embedder of another space.
type another struct{ *embedder }

func (another) Name() string        { return "test/another" }
func (another) Fingerprint() string { return "test-another-2" }

// shadowed is an index with a second set of vectors, whose loading a test can
// hold up.
type shadowed struct {
	*index
	loading chan struct{} // receives when one is being loaded
	goOn    chan struct{}
	at      string // embedder that was switched to
}

func (x *shadowed) LoadShadow(_ context.Context, _ store.KnowledgeBase, vectors iter.Seq2[store.VectorEntry, error]) error {
	x.loading <- struct{}{}
	<-x.goOn
	for _, err := range vectors {
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *shadowed) DropShadow(context.Context, string) error { return nil }

func (x *shadowed) Switch(_ context.Context, kb store.KnowledgeBase) error {
	x.at = kb.Embedder
	return nil
}

// TestSwitchTwiceAtOnce has two callers ask for the same switch: the second must
// not take it back.
func TestSwitchTwiceAtOnce(t *testing.T) {
	x := &shadowed{loading: make(chan struct{}), goOn: make(chan struct{})}
	h := build(t, t.TempDir(), func(c *ingest.Config) {
		x.index = c.Indexer.(*index)
		c.Indexer = x
		first := c.Embedder.(*embedder)
		c.DefaultEmbedder = first.Name()
		c.OpenEmbedder = func(_ context.Context, name string) (ingest.Embedder, error) {
			if name == first.Name() {
				return first, nil
			}
			return another{first}, nil
		}
	})
	h.start(t)
	h.end(t, h.submit(t, "a.txt", long(3)).Job.ID)
	if _, err := h.ChangeEmbedder(t.Context(), "kb", ingest.EmbedderRequest{Embedder: "test/another"}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		c, _, err := h.EmbedderChange(t.Context(), "kb")
		return err == nil && c.State == store.ChangeReady
	})
	ended := make(chan error, 2)
	ask := func() { ended <- second(h.SwitchEmbedder(t.Context(), "kb")) }
	go ask()
	<-x.loading
	go ask()
	waitFor(t, func() bool { return h.Awaiting(h.kb.ID) == 2 })
	close(x.goOn)
	go func() {
		for range x.loading { // of one that should not be
		}
	}()
	defer close(x.loading)
	conflicts := 0
	for range 2 {
		switch err := <-ended; {
		case errors.Is(err, store.ErrConflict):
			conflicts++
		case err != nil:
			t.Error(err)
		}
	}
	kb, err := h.records.KnowledgeBase(t.Context(), h.kb.ID)
	if err != nil || conflicts != 1 || kb.Embedder != "test/another" || x.at != kb.Embedder {
		t.Errorf("%v, %d conflicts; embedder %s, of the index %s", err, conflicts, kb.Embedder, x.at)
	}
}
