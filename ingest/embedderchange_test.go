package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
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
	if x.loading != nil {
		x.loading <- struct{}{}
		<-x.goOn
	}
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

// counting counts how often all chunks of a knowledge base were looked at.
type counting struct {
	ingest.Records
	counts atomic.Int64
}

func (r *counting) CountMissing(ctx context.Context, id string) (missing, visible int, err error) {
	r.counts.Add(1)
	return r.Records.CountMissing(ctx, id)
}

// TestFollowingLooksAtWhatChanged adds documents beside a set that is complete:
// what it lacks is made without a look at all other chunks, and its progress
// tells of them.
func TestFollowingLooksAtWhatChanged(t *testing.T) {
	var records *counting
	h := changing(t, func(c *ingest.Config) {
		records = &counting{Records: c.Records}
		c.Records = records
	})
	h.end(t, h.submit(t, "a.txt", long(3)).Job.ID)
	if _, err := h.ChangeEmbedder(t.Context(), "kb", ingest.EmbedderRequest{Embedder: "test/another"}); err != nil {
		t.Fatal(err)
	}
	chunks := func(state store.ChangeState) int {
		var c store.EmbedderChange
		waitFor(t, func() bool {
			var err error
			c, _, err = h.EmbedderChange(t.Context(), "kb")
			return err == nil && c.State == state && c.Done == c.Total && h.lacks(t, c.ID) == 0
		})
		return c.Total
	}
	total := chunks(store.ChangeReady)
	counted := records.counts.Load()
	for i := range 5 {
		s := h.submit(t, fmt.Sprintf("more-%d.txt", i), strings.Repeat("x", i+1)+long(2))
		h.end(t, s.Job.ID)
		total += must(h.records.Document(t.Context(), h.kb.ID, s.Document.ID)).ChunkCount
	}
	if got := chunks(store.ChangeReady); got != total {
		t.Errorf("of %d chunks, not %d", got, total)
	}
	if n := records.counts.Load() - counted; n != 0 {
		t.Errorf("all chunks were counted %d times for 5 documents", n)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// lacks is how many chunks the second set lacks.
func (h *house) lacks(t *testing.T, change string) int {
	t.Helper()
	chunks, err := h.records.MissingVectors(t.Context(), change, "", store.Place{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(chunks)
}

// changing is a house with two embedders and an index with room for both.
func changing(t *testing.T, change func(*ingest.Config)) *house {
	t.Helper()
	h := build(t, t.TempDir(), func(c *ingest.Config) {
		c.Indexer = &shadowed{index: c.Indexer.(*index)}
		first := c.Embedder.(*embedder)
		c.DefaultEmbedder = first.Name()
		c.OpenEmbedder = func(_ context.Context, name string) (ingest.Embedder, error) {
			if name == first.Name() {
				return first, nil
			}
			return another{&embedder{}}, nil
		}
		if change != nil {
			change(c)
		}
	})
	h.start(t)
	return h
}

// TestProgressFollowsDocuments has documents come and go while a set is filled.
func TestProgressFollowsDocuments(t *testing.T) {
	next := &embedder{stop: 5}
	h := changing(t, func(c *ingest.Config) {
		open := c.OpenEmbedder
		c.OpenEmbedder = func(ctx context.Context, name string) (ingest.Embedder, error) {
			if name == "test/another" {
				return another{next}, nil
			}
			return open(ctx, name)
		}
	})
	add := func(n int) (id string, chunks int) {
		s := h.submit(t, fmt.Sprintf("%d.txt", n), strings.Repeat("x", n)+long(n))
		h.end(t, s.Job.ID)
		return s.Document.ID, must(h.records.Document(t.Context(), h.kb.ID, s.Document.ID)).ChunkCount
	}
	first, few := add(3)
	_, more := add(5)
	if _, err := h.ChangeEmbedder(t.Context(), "kb", ingest.EmbedderRequest{Embedder: "test/another"}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return next.asked() == 2 }) // and waits for ever
	check := func(total int) {
		t.Helper()
		c, _, err := h.EmbedderChange(t.Context(), "kb")
		if err != nil || c.Done != 4 || c.Total != total {
			t.Errorf("%d of %d done, want 4 of %d; %v", c.Done, c.Total, total, err)
		}
	}
	check(few + more)
	_, last := add(7)
	check(few + more + last)
	if err := h.DeleteDocument(t.Context(), "kb", first); err != nil {
		t.Fatal(err)
	}
	check(more + last)
}

// TestChangeAfterDiscarding begins a change while the one before is being
// removed.
func TestChangeAfterDiscarding(t *testing.T) {
	h := changing(t, nil)
	h.end(t, h.submit(t, "a.txt", long(3)).Job.ID)
	for range 20 {
		if _, err := h.ChangeEmbedder(t.Context(), "kb", ingest.EmbedderRequest{Embedder: "test/another"}); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool {
			c, _, err := h.EmbedderChange(t.Context(), "kb")
			return err == nil && c.State == store.ChangeReady
		})
		if err := h.DiscardEmbedder(t.Context(), "kb"); err != nil {
			t.Fatal(err)
		}
	}
}
