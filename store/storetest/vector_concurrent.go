package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ragagent/store"
)

// vectorChangesAreWhole changes all vectors again and again while others read:
// each reader sees one generation, never two and never a part.
func vectorChangesAreWhole(t *testing.T, x store.VectorIndex) {
	const rows, generations, readers = 40, 200, 3
	// In generation g there are g-0..g-39, and both-0..both-39 lie to the east
	// if g is even, to the west if it is odd.
	change := func(g int) (c store.VectorChange) {
		for i := range rows {
			c.Remove = append(c.Remove, fmt.Sprintf("%d-%d", g-1, i))
			c.Add = append(c.Add,
				store.VectorEntry{ID: fmt.Sprintf("%d-%d", g, i), Vector: north},
				store.VectorEntry{ID: fmt.Sprintf("both-%d", i), Vector: [][]float32{east, west}[g%2]})
		}
		return c
	}
	newVectorCollection(t, x)
	applyVectors(t, x, change(0))

	var done atomic.Bool
	var seen atomic.Int64
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for last := false; !last; {
				last = done.Load()
				if err := readGeneration(x, rows); err != nil {
					t.Error(err)
					return
				}
				seen.Add(1)
			}
		})
	}
	for g := 1; g <= generations; g++ {
		if err := x.Apply(context.Background(), vectorCollection, change(g)); err != nil {
			t.Error(err)
			break
		}
	}
	done.Store(true)
	wg.Wait()
	if seen.Load() < readers {
		t.Errorf("%d reads by %d readers", seen.Load(), readers)
	}
}

// readGeneration reads in every way and fails if it sees parts of two.
func readGeneration(x store.VectorIndex, rows int) error {
	ctx := context.Background()
	hits, err := x.Search(ctx, vectorCollection, store.VectorQuery{Vector: north, K: 10 * rows})
	if err != nil {
		return err
	}
	if err := oneGeneration(hits, rows); err != nil {
		return err
	}
	n, err := x.Count(ctx, vectorCollection)
	if err != nil {
		return err
	}
	ids, err := x.IDs(ctx, vectorCollection)
	if err != nil {
		return err
	}
	if n != 2*rows || len(ids) != 2*rows {
		return fmt.Errorf("count %d, %d ids, want %d", n, len(ids), 2*rows)
	}
	both := make([]string, rows)
	for i := range both {
		both[i] = fmt.Sprintf("both-%d", i)
	}
	cosines, err := x.Cosines(ctx, vectorCollection, east, both)
	if err != nil {
		return err
	}
	for _, c := range cosines {
		if c != cosines[0] || c != 1 && c != -1 {
			return fmt.Errorf("cosines of two generations: %v", cosines)
		}
	}
	return nil
}

// oneGeneration wants the rows of one generation first, then those that are in
// all of them.
func oneGeneration(hits []store.VectorHit, rows int) error {
	if len(hits) != 2*rows {
		return fmt.Errorf("%d hits, want %d", len(hits), 2*rows)
	}
	generation, _, _ := strings.Cut(hits[0].ID, "-")
	for i, h := range hits {
		g, _, _ := strings.Cut(h.ID, "-")
		if want := i >= rows; (g == "both") != want || !want && g != generation {
			return fmt.Errorf("hit %d is %s, the first is %s", i, h.ID, hits[0].ID)
		}
	}
	return nil
}

// vectorCollectionVanishes deletes and makes a collection while others work in
// it: they work on all of it, or it is not there.
func vectorCollectionVanishes(t *testing.T, x store.VectorIndex) {
	newVectorCollection(t, x, store.VectorEntry{ID: "a", Vector: east})
	ctx := context.Background()
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !done.Load() {
			err := x.Apply(ctx, vectorCollection, store.VectorChange{Add: []store.VectorEntry{{ID: "a", Vector: east}}})
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("apply: %v", err)
				return
			}
		}
	})
	wg.Go(func() {
		for !done.Load() {
			hits, err := x.Search(ctx, vectorCollection, store.VectorQuery{Vector: east, K: 2})
			if err != nil && !errors.Is(err, store.ErrNotFound) || len(hits) > 1 {
				t.Errorf("search: %v, %v", hits, err)
				return
			}
		}
	})
	for range 200 {
		if err := x.DeleteCollection(ctx, vectorCollection); err != nil {
			t.Errorf("delete: %v", err)
		}
		if err := x.CreateCollection(ctx, vectorCollection, 4); err != nil {
			t.Errorf("create: %v", err)
		}
	}
	done.Store(true)
	wg.Wait()
}
