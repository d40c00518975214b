package embed_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"ragagent/retrieval"
	"ragagent/retrieval/embed"
	"ragagent/store"
)

// replaceable is an embedder whose server gets another model.
type replaceable struct {
	retrieval.Embedder
	same bool
}

func (r *replaceable) Same(context.Context) (bool, error) { return r.same, nil }

func TestRegistry(t *testing.T) {
	now := time.Unix(0, 0)
	opened := map[string]int{}
	var failure error
	inner := &replaceable{same: true}
	r, err := embed.NewRegistry(embed.RegistryConfig{
		Now: func() time.Time { return now },
		Open: func(_ context.Context, name string) (retrieval.Embedder, error) {
			opened[name]++
			return inner, failure
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := r.Embedder(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if opened["a"] != 1 {
		t.Errorf("opened %d times for 8 who asked at once", opened["a"])
	}

	inner.same, now = false, now.Add(30*time.Second)
	_, _ = r.Embedder(t.Context(), "a")
	if opened["a"] != 1 {
		t.Error("looked again too early")
	}
	now = now.Add(30 * time.Second)
	if _, err = r.Embedder(t.Context(), "a"); err != nil || opened["a"] != 2 {
		t.Errorf("another model was not seen: opened %d times, %v", opened["a"], err)
	}

	failure = store.ErrUnavailable
	for range 3 {
		if _, err := r.Embedder(t.Context(), "b"); !errors.Is(err, store.ErrUnavailable) {
			t.Error(err)
		}
	}
	if opened["b"] != 1 {
		t.Errorf("tried %d times within two seconds", opened["b"])
	}
	now, failure = now.Add(2*time.Second), nil
	if _, err := r.Embedder(t.Context(), "b"); err != nil || opened["b"] != 2 {
		t.Errorf("opened %d times, %v", opened["b"], err)
	}
}

// TestRegistryGivenUp: one who gives up does not spoil it for the others.
func TestRegistryGivenUp(t *testing.T) {
	begun, proceed := make(chan struct{}), make(chan struct{})
	r, err := embed.NewRegistry(embed.RegistryConfig{
		Open: func(ctx context.Context, _ string) (retrieval.Embedder, error) {
			close(begun)
			<-proceed
			return &replaceable{same: true}, ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := r.Embedder(ctx, "a")
		gone <- err
	}()
	<-begun
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(proceed)
	if _, err := r.Embedder(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}
