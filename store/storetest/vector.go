package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
)

// TestVectorIndex checks every promise of store.VectorIndex. open returns a new
// empty index; what it has to close it registers with t.Cleanup.
func TestVectorIndex(t *testing.T, open func(t *testing.T) store.VectorIndex) {
	for name, test := range map[string]func(*testing.T, store.VectorIndex){
		"Collections":        vectorCollections,
		"MissingCollection":  vectorMissingCollection,
		"Search":             vectorSearch,
		"SearchBadInput":     vectorSearchBadInput,
		"Allow":              vectorAllow,
		"Among":              vectorAmong,
		"Replace":            vectorReplace,
		"RefusedChange":      vectorRefusedChange,
		"Load":               vectorLoad,
		"RefusedLoad":        vectorRefusedLoad,
		"Copies":             vectorCopies,
		"Cosines":            vectorCosines,
		"IDs":                vectorIDs,
		"CancelledContext":   vectorCancelledContext,
		"ChangesAreWhole":    vectorChangesAreWhole,
		"CollectionVanishes": vectorCollectionVanishes,
		"LoadsAreWhole":      vectorLoadsAreWhole,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
	t.Run("LikeBruteForce", func(t *testing.T) { vectorLikeBruteForce(t, open) })
}

const vectorCollection = "kb_1"

// newVectorCollection makes a collection of 4 dimensions with the entries.
func newVectorCollection(t testing.TB, x store.VectorIndex, add ...store.VectorEntry) {
	t.Helper()
	if err := x.CreateCollection(context.Background(), vectorCollection, 4); err != nil {
		t.Fatal(err)
	}
	applyVectors(t, x, store.VectorChange{Add: add})
}

func applyVectors(t testing.TB, x store.VectorIndex, change store.VectorChange) {
	t.Helper()
	if err := x.Apply(context.Background(), vectorCollection, change); err != nil {
		t.Fatal(err)
	}
}

// found searches and returns "id score" for each hit.
func found(t testing.TB, x store.VectorIndex, query []float32, k int, allow func(string) bool) []string {
	t.Helper()
	hits, err := x.Search(context.Background(), vectorCollection, store.VectorQuery{Vector: query, K: k, Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	return lines(hits)
}

func lines(hits []store.VectorHit) []string {
	var lines []string
	for _, h := range hits {
		lines = append(lines, fmt.Sprintf("%s %v", h.ID, h.Score))
	}
	return lines
}

func wantLines(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func wantError(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

// The vectors of these tests have components of 0, 1/2 and 1: their cosines
// are exact in every order of adding.
var (
	east  = []float32{1, 0, 0, 0}
	north = []float32{0, 1, 0, 0}
	west  = []float32{-1, 0, 0, 0}
	half  = []float32{.5, .5, .5, .5}
)

// vectorCopies: what was applied belongs to the caller again.
func vectorCopies(t *testing.T, x store.VectorIndex) {
	vector, entries := slices.Clone(east), make([]store.VectorEntry, 1)
	entries[0] = store.VectorEntry{ID: "a", Vector: vector}
	newVectorCollection(t, x, entries...)
	copy(vector, north)
	entries[0] = store.VectorEntry{ID: "b", Vector: west}
	wantLines(t, "after its slices were used again", found(t, x, east, 5, nil), "a 1")
}

func vectorCollections(t *testing.T, x store.VectorIndex) {
	ctx := t.Context()
	newVectorCollection(t, x, store.VectorEntry{ID: "a", Vector: east})
	if err := x.CreateCollection(ctx, vectorCollection, 4); err != nil {
		t.Errorf("the same again: %v", err)
	}
	wantLines(t, "after creating it again", found(t, x, east, 5, nil), "a 1")
	err := x.CreateCollection(ctx, vectorCollection, 8)
	var dim *store.DimensionError
	if !errors.As(err, &dim) || *dim != (store.DimensionError{Want: 4, Got: 8}) {
		t.Errorf("another dimension: %v", err)
	}
	// Another collection has its own vectors and its own dimension.
	if err := x.CreateCollection(ctx, "kb_2", 2); err != nil {
		t.Fatal(err)
	}
	if n, err := x.Count(ctx, "kb_2"); n != 0 || err != nil {
		t.Errorf("new collection: %d, %v", n, err)
	}
	hits, err := x.Search(ctx, "kb_2", store.VectorQuery{Vector: []float32{1, 0}, K: 3})
	if len(hits) != 0 || err != nil {
		t.Errorf("empty collection: %v, %v", hits, err)
	}
	for range 2 {
		if err := x.DeleteCollection(ctx, vectorCollection); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	_, err = x.Count(ctx, vectorCollection)
	wantError(t, "deleted", err, store.ErrNotFound)
	// A name can be used again, with another dimension and without the past.
	if err := x.CreateCollection(ctx, vectorCollection, 2); err != nil {
		t.Fatal(err)
	}
	if n, err := x.Count(ctx, vectorCollection); n != 0 || err != nil {
		t.Errorf("made anew: %d, %v", n, err)
	}
}

func vectorMissingCollection(t *testing.T, x store.VectorIndex) {
	ctx := t.Context()
	wantError(t, "Apply", x.Apply(ctx, "kb_9", store.VectorChange{}), store.ErrNotFound)
	_, err := x.Search(ctx, "kb_9", store.VectorQuery{Vector: east, K: 1})
	wantError(t, "Search", err, store.ErrNotFound)
	_, err = x.Cosines(ctx, "kb_9", east, nil)
	wantError(t, "Cosines", err, store.ErrNotFound)
	_, err = x.Count(ctx, "kb_9")
	wantError(t, "Count", err, store.ErrNotFound)
	_, err = x.IDs(ctx, "kb_9")
	wantError(t, "IDs", err, store.ErrNotFound)
	if err := x.DeleteCollection(ctx, "kb_9"); err != nil {
		t.Errorf("DeleteCollection: %v", err)
	}
}

func vectorSearch(t *testing.T, x store.VectorIndex) {
	newVectorCollection(t, x,
		store.VectorEntry{ID: "w", Vector: west}, store.VectorEntry{ID: "h", Vector: half},
		store.VectorEntry{ID: "e2", Vector: east}, store.VectorEntry{ID: "n", Vector: north},
		store.VectorEntry{ID: "e1", Vector: east}, store.VectorEntry{ID: "e10", Vector: east})
	all := []string{"e1 1", "e10 1", "e2 1", "h 0.5", "n 0", "w -1"}
	for k := 1; k <= 10; k++ {
		wantLines(t, fmt.Sprintf("k=%d", k), found(t, x, east, k, nil), all[:min(k, len(all))]...)
	}
	wantLines(t, "k beyond all bounds", found(t, x, east, math.MaxInt, nil), all...)
	for _, length := range []float32{1e-30, 4, 1e30} {
		wantLines(t, fmt.Sprintf("query of length %v", length), found(t, x, []float32{length, 0, 0, 0}, 4, nil), all[:4]...)
	}
}

func vectorSearchBadInput(t *testing.T, x store.VectorIndex) {
	ctx := t.Context()
	newVectorCollection(t, x, store.VectorEntry{ID: "a", Vector: east})
	for _, k := range []int{0, -1} {
		_, err := x.Search(ctx, vectorCollection, store.VectorQuery{Vector: east, K: k})
		wantError(t, fmt.Sprintf("k=%d", k), err, store.ErrInvalid)
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, query := range [][]float32{{0, 0, 0, 0}, {inf, 0, 0, 0}, {1, 0, -inf, 0}, {1, nan, 0, 0}} {
		_, err := x.Search(ctx, vectorCollection, store.VectorQuery{Vector: query, K: 1})
		wantError(t, fmt.Sprintf("query %v", query), err, store.ErrInvalid)
		_, err = x.Cosines(ctx, vectorCollection, query, []string{"a"})
		wantError(t, fmt.Sprintf("cosines with %v", query), err, store.ErrInvalid)
	}
	for _, query := range [][]float32{nil, {1}, {1, 0, 0, 0, 0}} {
		_, err := x.Search(ctx, vectorCollection, store.VectorQuery{Vector: query, K: 1})
		var dim *store.DimensionError
		if !errors.As(err, &dim) || *dim != (store.DimensionError{Want: 4, Got: len(query)}) {
			t.Errorf("query of %d: %v", len(query), err)
		}
	}
}

func vectorAllow(t *testing.T, x store.VectorIndex) {
	newVectorCollection(t, x,
		store.VectorEntry{ID: "a", Vector: east}, store.VectorEntry{ID: "b", Vector: east},
		store.VectorEntry{ID: "c", Vector: half}, store.VectorEntry{ID: "d", Vector: west})
	only := func(ids string) func(string) bool {
		return func(id string) bool { return strings.Contains(ids, id) }
	}
	wantLines(t, "some", found(t, x, east, 2, only("bcd")), "b 1", "c 0.5")
	wantLines(t, "the worst", found(t, x, east, 2, only("d")), "d -1")
	wantLines(t, "none", found(t, x, east, 2, only("")))
	wantLines(t, "all", found(t, x, east, 2, only("abcd")), "a 1", "b 1")
	applyVectors(t, x, store.VectorChange{Remove: []string{"b"}})
	wantLines(t, "a removed one", found(t, x, east, 2, only("bd")), "d -1")
}

func vectorAmong(t *testing.T, x store.VectorIndex) {
	newVectorCollection(t, x,
		store.VectorEntry{ID: "a", Vector: east}, store.VectorEntry{ID: "b", Vector: east},
		store.VectorEntry{ID: "c", Vector: half}, store.VectorEntry{ID: "d", Vector: west})
	among := func(k int, allow func(string) bool, ids ...string) []string {
		t.Helper()
		q := store.VectorQuery{Vector: east, K: k, Among: append([]string{}, ids...), Allow: allow}
		hits, err := x.Search(t.Context(), vectorCollection, q)
		if err != nil {
			t.Fatal(err)
		}
		return lines(hits)
	}
	wantLines(t, "some", among(2, nil, "d", "c", "b"), "b 1", "c 0.5")
	wantLines(t, "the worst", among(2, nil, "d"), "d -1")
	wantLines(t, "none", among(2, nil))
	wantLines(t, "twice and not there", among(9, nil, "c", "e", "c", "a", ""), "a 1", "c 0.5")
	wantLines(t, "of which not all are allowed",
		among(9, func(id string) bool { return id != "a" }, "a", "c"), "c 0.5")
	applyVectors(t, x, store.VectorChange{Remove: []string{"b"}})
	wantLines(t, "a removed one", among(9, nil, "b", "d"), "d -1")
}

func vectorReplace(t *testing.T, x store.VectorIndex) {
	newVectorCollection(t, x, store.VectorEntry{ID: "a", Vector: east}, store.VectorEntry{ID: "b", Vector: half})
	applyVectors(t, x, store.VectorChange{Add: []store.VectorEntry{{ID: "a", Vector: west}, {ID: "c", Vector: north}}})
	wantLines(t, "replaced", found(t, x, east, 9, nil), "b 0.5", "c 0", "a -1")
	applyVectors(t, x, store.VectorChange{Remove: []string{"b", "b", "not there", "a"}, Add: []store.VectorEntry{{ID: "a", Vector: half}}})
	wantLines(t, "removed, then added", found(t, x, east, 9, nil), "a 0.5", "c 0")
	applyVectors(t, x, store.VectorChange{Add: []store.VectorEntry{{ID: "a", Vector: west}, {ID: "a", Vector: east}}})
	wantLines(t, "the last of two", found(t, x, east, 9, nil), "a 1", "c 0")
	applyVectors(t, x, store.VectorChange{Remove: []string{"a", "c"}})
	wantLines(t, "nothing left", found(t, x, east, 9, nil))
	applyVectors(t, x, store.VectorChange{Add: []store.VectorEntry{{ID: "c", Vector: east}}})
	wantLines(t, "added again", found(t, x, east, 9, nil), "c 1")
}

func vectorRefusedChange(t *testing.T, x store.VectorIndex) {
	ctx := t.Context()
	newVectorCollection(t, x, store.VectorEntry{ID: "a", Vector: east})
	nan := float32(math.NaN())
	for _, vector := range [][]float32{
		{0, 0, 0, 0}, {nan, 0, 0, 0}, {1, nan, 0, 0}, {float32(math.Inf(1)), 0, 0, 0},
		{1.00001, 0, 0, 0}, {.99999, 0, 0, 0}, {1, 1, 0, 0},
	} {
		err := x.Apply(ctx, vectorCollection, store.VectorChange{
			Remove: []string{"a"},
			Add:    []store.VectorEntry{{ID: "b", Vector: north}, {ID: "c", Vector: vector}},
		})
		wantError(t, fmt.Sprintf("%v", vector), err, store.ErrInvalid)
	}
	err := x.Apply(ctx, vectorCollection, store.VectorChange{
		Remove: []string{"a"},
		Add:    []store.VectorEntry{{ID: "b", Vector: north}, {ID: "c", Vector: []float32{1, 0}}},
	})
	var dim *store.DimensionError
	if !errors.As(err, &dim) || *dim != (store.DimensionError{Want: 4, Got: 2}) {
		t.Errorf("dimension: %v", err)
	}
	wantLines(t, "after refused changes", found(t, x, east, 9, nil), "a 1")
	applyVectors(t, x, store.VectorChange{Add: []store.VectorEntry{{ID: "b", Vector: []float32{1.0000004, 0, 0, 0}}}})
	if n, err := x.Count(ctx, vectorCollection); n != 2 || err != nil {
		t.Errorf("within the tolerance: %d, %v", n, err)
	}
}

func vectorCosines(t *testing.T, x store.VectorIndex) {
	newVectorCollection(t, x,
		store.VectorEntry{ID: "a", Vector: east}, store.VectorEntry{ID: "b", Vector: half}, store.VectorEntry{ID: "c", Vector: west})
	got, err := x.Cosines(t.Context(), vectorCollection, []float32{3, 0, 0, 0}, []string{"c", "none", "b", "a", "b"})
	if diff := cmp.Diff([]float32{-1, 0, .5, 1, .5}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	applyVectors(t, x, store.VectorChange{Remove: []string{"a"}, Add: []store.VectorEntry{{ID: "b", Vector: west}}})
	got, err = x.Cosines(t.Context(), vectorCollection, east, []string{"a", "b"})
	if diff := cmp.Diff([]float32{0, -1}, got); diff != "" || err != nil {
		t.Errorf("after a change: %v (-want +got):\n%s", err, diff)
	}
	got, err = x.Cosines(t.Context(), vectorCollection, east, nil)
	if len(got) != 0 || err != nil {
		t.Errorf("no ids: %v, %v", got, err)
	}
}

func vectorIDs(t *testing.T, x store.VectorIndex) {
	newVectorCollection(t, x)
	var want []string
	for i := range 100 {
		id := fmt.Sprintf("id%d", i)
		applyVectors(t, x, store.VectorChange{Add: []store.VectorEntry{{ID: id, Vector: east}}})
		want = append(want, id)
	}
	applyVectors(t, x, store.VectorChange{Remove: want[:50]})
	want = want[50:]
	slices.Sort(want)
	got, err := x.IDs(t.Context(), vectorCollection)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if n, err := x.Count(t.Context(), vectorCollection); n != 50 || err != nil {
		t.Errorf("count %d, %v", n, err)
	}
}

func vectorCancelledContext(t *testing.T, x store.VectorIndex) {
	newVectorCollection(t, x, store.VectorEntry{ID: "a", Vector: east})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := x.Search(ctx, vectorCollection, store.VectorQuery{Vector: east, K: 1})
	wantError(t, "Search", err, context.Canceled)
	wantError(t, "Apply", x.Apply(ctx, vectorCollection, store.VectorChange{Remove: []string{"a"}}), context.Canceled)
	wantLines(t, "the cancelled change", found(t, x, east, 1, nil), "a 1")
}
