package ingest_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/ingest/fetch"
	"ragagent/store"
)

// interfering calls before, if it is set, before it fetches; closed receives
// when all that came of a response has been done.
type interfering struct {
	ingest.Fetcher
	before func()
	closed chan struct{}
}

func (f *interfering) Fetch(ctx context.Context, req fetch.Request) (*fetch.Response, error) {
	if f.before == nil {
		return f.Fetcher.Fetch(ctx, req)
	}
	f.before()
	resp, err := f.Fetcher.Fetch(ctx, req)
	if err == nil {
		resp.Body = closing{resp.Body, f.closed}
	}
	return resp, err
}

type closing struct {
	io.ReadCloser
	closed chan struct{}
}

func (c closing) Close() error {
	defer close(c.closed)
	return c.ReadCloser.Close()
}

// TestDeletedWhileItIsFetchedAgain deletes a document when its URL was asked for
// again: what comes of that does not bring it back.
func TestDeletedWhileItIsFetchedAgain(t *testing.T) {
	s, c := newSite(t, map[string]string{"/a": "One."}), newClock()
	f := &interfering{closed: make(chan struct{})}
	h := build(t, t.TempDir(), func(cfg *ingest.Config) {
		fetching(t, s, c)(cfg)
		f.Fetcher, cfg.Fetcher = cfg.Fetcher, f
	})
	h.start(t)
	done := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/a", Refresh: time.Hour})
	h.end(t, done.Job.ID)
	s.set("/a", "Two, and more.")
	f.before = func() {
		if err := h.DeleteDocument(t.Context(), "kb", done.Document.ID); err != nil {
			t.Error(err)
		}
	}
	c.advance(2 * time.Hour)
	h.NudgeFetch()
	<-f.closed
	docs, err := h.records.Documents(t.Context(), h.kb.ID, store.Page{})
	if err != nil || len(docs) != 0 {
		t.Errorf("%d documents, %v", len(docs), err)
	}
	h.verify(t)
}

// TestAskedForWhileItIsFetched asks for a URL twice while its first fetch is
// under way, and twice during the fetch that follows: one more follows each.
func TestAskedForWhileItIsFetched(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "The first page."})
	wire := fetching(t, s, newClock())
	var held *holding
	h := build(t, t.TempDir(), func(cfg *ingest.Config) {
		wire(cfg)
		held = &holding{Fetcher: cfg.Fetcher, came: make(chan struct{}), release: make(chan struct{})}
		cfg.Fetcher = held
	})
	h.start(t)
	order := ingest.URLOrder{URL: s.URL + "/a"}
	done := h.submitURL(t, order)
	const last = "The third page, which is longer still."
	for _, step := range []struct {
		text string
		asks int
	}{{"The second page, and more.", 2}, {last, 2}} {
		<-held.came
		s.set("/a", step.text)
		for range step.asks {
			if again := h.submitURL(t, order); again.DuplicateOf != done.Document.ID {
				t.Fatalf("asked again: %+v", again)
			}
		}
		held.release <- struct{}{}
	}
	<-held.came
	held.release <- struct{}{}
	waitFor(t, func() bool {
		d := h.document(t, done.Document.ID)
		return d.Status == store.StatusReady && d.Bytes == int64(len(last)) && h.address(t, d.ID).NextAt.IsZero()
	})
	if diff := cmp.Diff([]string{"/a", "/a", "/a"}, s.requests()); diff != "" {
		t.Errorf("fetches: %s", diff)
	}
	h.verify(t)
}

// holding holds back what was fetched until it is released.
type holding struct {
	ingest.Fetcher
	came, release chan struct{}
}

func (f *holding) Fetch(ctx context.Context, req fetch.Request) (*fetch.Response, error) {
	resp, err := f.Fetcher.Fetch(ctx, req)
	select {
	case f.came <- struct{}{}:
	case <-ctx.Done():
		return resp, err
	}
	select {
	case <-f.release:
	case <-ctx.Done():
	}
	return resp, err
}
