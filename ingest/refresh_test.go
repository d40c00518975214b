package ingest_test

import (
	"context"
	"io"
	"testing"
	"time"

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
