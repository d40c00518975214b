package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
)

// entries yields entries whose vector is used again for the next one, then err
// if it is not nil.
func entries(err error, all ...store.VectorEntry) iter.Seq2[store.VectorEntry, error] {
	return func(yield func(store.VectorEntry, error) bool) {
		var vector []float32
		for _, e := range all {
			vector = append(vector[:0], e.Vector...)
			if !yield(store.VectorEntry{ID: e.ID, Vector: vector}, nil) {
				return
			}
		}
		if err != nil {
			yield(store.VectorEntry{}, err)
		}
	}
}

func vectorLoad(t *testing.T, x store.VectorIndex) {
	ctx := t.Context()
	load := func(dim int, all ...store.VectorEntry) {
		t.Helper()
		if err := x.Load(ctx, vectorCollection, dim, entries(nil, all...)); err != nil {
			t.Fatal(err)
		}
	}
	load(4, store.VectorEntry{ID: "b", Vector: east}, store.VectorEntry{ID: "a", Vector: east},
		store.VectorEntry{ID: "c", Vector: west})
	wantLines(t, "a collection that was not there", found(t, x, east, 9, nil), "a 1", "b 1", "c -1")
	load(4, store.VectorEntry{ID: "a", Vector: west}, store.VectorEntry{ID: "d", Vector: north},
		store.VectorEntry{ID: "a", Vector: half}, store.VectorEntry{ID: "e", Vector: east},
		store.VectorEntry{ID: "a", Vector: half})
	wantLines(t, "in the place of another, an id three times", found(t, x, east, 9, nil), "e 1", "a 0.5", "d 0")
	applyVectors(t, x, store.VectorChange{Remove: []string{"e"}, Add: []store.VectorEntry{{ID: "d", Vector: west}}})
	wantLines(t, "changed after it", found(t, x, east, 9, nil), "a 0.5", "d -1")
	load(4)
	wantLines(t, "of nothing", found(t, x, east, 9, nil))
	load(2, store.VectorEntry{ID: "z", Vector: []float32{0, 1}})
	hits, err := x.Search(ctx, vectorCollection, store.VectorQuery{Vector: []float32{0, 2}, K: 1})
	if diff := cmp.Diff([]store.VectorHit{{ID: "z", Score: 1}}, hits); diff != "" || err != nil {
		t.Errorf("another dimension: %v (-want +got):\n%s", err, diff)
	}
}

func vectorRefusedLoad(t *testing.T, x store.VectorIndex) {
	good := []store.VectorEntry{{ID: "b", Vector: north}, {ID: "c", Vector: east}}
	bad := func(e store.VectorEntry) iter.Seq2[store.VectorEntry, error] {
		return entries(nil, slices.Concat(good, []store.VectorEntry{e}, good)...)
	}
	var dim *store.DimensionError
	unread := errors.New("the record cannot be read")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	refused := func() {
		t.Helper()
		wantError(t, "zero vector", x.Load(t.Context(), vectorCollection, 4, bad(store.VectorEntry{ID: "d", Vector: make([]float32, 4)})), store.ErrInvalid)
		wantError(t, "too long", x.Load(t.Context(), vectorCollection, 4, bad(store.VectorEntry{ID: "d", Vector: []float32{1.00001, 0, 0, 0}})), store.ErrInvalid)
		wantError(t, "no id", x.Load(t.Context(), vectorCollection, 4, bad(store.VectorEntry{Vector: east})), store.ErrInvalid)
		wantError(t, "no dimension", x.Load(t.Context(), vectorCollection, 0, entries(nil)), store.ErrInvalid)
		wantError(t, "no name", x.Load(t.Context(), "", 4, entries(nil)), store.ErrInvalid)
		wantError(t, "iterator", x.Load(t.Context(), vectorCollection, 4, entries(unread, good...)), unread)
		wantError(t, "cancelled", x.Load(cancelled, vectorCollection, 4, entries(nil, good...)), context.Canceled)
		err := x.Load(t.Context(), vectorCollection, 4, bad(store.VectorEntry{ID: "d", Vector: []float32{1, 0}}))
		if !errors.As(err, &dim) || *dim != (store.DimensionError{Want: 4, Got: 2}) {
			t.Errorf("dimension: %v", err)
		}
	}
	refused()
	_, err := x.Count(t.Context(), vectorCollection)
	wantError(t, "a refused load made a collection", err, store.ErrNotFound)
	newVectorCollection(t, x, store.VectorEntry{ID: "a", Vector: east})
	refused()
	wantLines(t, "after refused loads", found(t, x, east, 9, nil), "a 1")
}

// vectorLoadsAreWhole loads a collection again and again while others read
// it: each reader sees the vectors of one load.
func vectorLoadsAreWhole(t *testing.T, x store.VectorIndex) {
	const rows, loads, readers = 300, 60, 2
	load := func(n int) error {
		return x.Load(context.Background(), vectorCollection, 4, func(yield func(store.VectorEntry, error) bool) {
			for i := range rows {
				if !yield(store.VectorEntry{ID: fmt.Sprintf("%d-%d", n, i), Vector: [][]float32{east, west}[n%2]}, nil) {
					return
				}
			}
		})
	}
	if err := load(0); err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for last := false; !last; {
				last = done.Load()
				hits, err := x.Search(context.Background(), vectorCollection, store.VectorQuery{Vector: east, K: 2 * rows})
				if err != nil || len(hits) != rows || hits[0].Score != hits[rows-1].Score {
					t.Errorf("%d hits, %v", len(hits), err)
					return
				}
			}
		})
	}
	for n := 1; n <= loads; n++ {
		if err := load(n); err != nil {
			t.Error(err)
			break
		}
	}
	done.Store(true)
	wg.Wait()
	if ids, err := x.IDs(context.Background(), vectorCollection); err != nil || len(ids) != rows || ids[0] != fmt.Sprintf("%d-0", loads) {
		t.Errorf("after the last load: %d ids, %v", len(ids), err)
	}
}
