package queue

import (
	"context"
	"sync"
	"time"

	"ragagent/retrieval"
)

// Traffic is a Retriever that knows whether it is being asked, so that
// questions in the background can wait until it is not.
type Traffic struct {
	inner retrieval.Retriever

	mu    sync.Mutex
	asked int
	quiet chan struct{} // closed while nobody asks
}

var _ retrieval.Retriever = (*Traffic)(nil)

// NewTraffic wraps a retriever, the one that people's questions go to.
func NewTraffic(inner retrieval.Retriever) *Traffic {
	quiet := make(chan struct{})
	close(quiet)
	return &Traffic{inner: inner, quiet: quiet}
}

// Retrieve implements retrieval.Retriever.
func (t *Traffic) Retrieve(ctx context.Context, q retrieval.Query) (retrieval.Result, error) {
	t.begin()
	defer t.end()
	return t.inner.Retrieve(ctx, q)
}

func (t *Traffic) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked++; t.asked == 1 {
		t.quiet = make(chan struct{})
	}
}

func (t *Traffic) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked--; t.asked == 0 {
		close(t.quiet)
	}
}

// Wait returns when nobody asks, or after patience, or with the error of ctx.
func (t *Traffic) Wait(ctx context.Context, patience time.Duration) error {
	t.mu.Lock()
	quiet := t.quiet
	t.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-quiet:
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
