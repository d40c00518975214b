package chromem

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
)

// checkState holds what the index knows of its memory against what is there,
// and chromem-go's documents against the rows.
func checkState(t *testing.T, x *Index) {
	t.Helper()
	c := x.collections[testCollection]
	s := c.snapshot.Load()
	var bytes int64
	live, dead := 0, 0
	for i := range s.views {
		v := &s.views[i]
		if v.segment == nil {
			continue
		}
		bytes += segmentBytes(v.rows(), c.dim)
		for row := range v.n {
			if v.dead.has(row) {
				dead++
			} else {
				live++
			}
		}
	}
	if live != s.live || dead != s.dead {
		t.Errorf("live %d, dead %d, counted %d and %d", s.live, s.dead, live, dead)
	}
	if used := x.budget.used.Load(); used != bytes {
		t.Errorf("%d bytes on the books, %d there", used, bytes)
	}
	if dead >= deadAtLeast && dead*deadShare > live+dead {
		t.Errorf("%d of %d rows are dead", dead, live+dead)
	}
	if n := c.docs.Count(); n != live {
		t.Errorf("%d chromem-go documents, %d rows", n, live)
	}
	if live == 0 {
		return
	}
	results, err := c.docs.QueryEmbedding(context.Background(), s.vector(firstRow(s)), live, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		at, ok := s.find(r.ID)
		if !ok {
			t.Fatalf("chromem-go holds %s, the index does not", r.ID)
		}
		if &r.Embedding[0] != &s.vector(at)[0] {
			t.Errorf("%s: the document holds a copy or an old row", r.ID)
		}
	}
}

func firstRow(s *snapshot) slot {
	for at := range s.all() {
		return at
	}
	return 0
}

// Documents are replaced and removed for ever: memory follows what is there.
func TestChurn(t *testing.T) {
	const dim, ids = 40, 3000
	r := rand.New(rand.NewPCG(4, 4))
	x := newTestIndex(t, Config{}, fastest(), dim, nil)
	var most int64
	for round := range 120 {
		var change store.VectorChange
		for range 200 {
			change.Remove = append(change.Remove, fmt.Sprint("id", r.IntN(ids)))
		}
		for range 200 {
			change.Add = append(change.Add, store.VectorEntry{ID: fmt.Sprint("id", r.IntN(ids)), Vector: unitVector(gauss(r, dim))})
		}
		if err := x.Apply(t.Context(), testCollection, change); err != nil {
			t.Fatal(err)
		}
		if round%20 == 0 {
			checkState(t, x)
		}
		most = max(most, x.budget.used.Load())
		query := gauss(r, dim)
		got, err := x.Search(t.Context(), testCollection, store.VectorQuery{Vector: query, K: 10})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(bruteForce(x, query, 10, nil), got); diff != "" {
			t.Fatalf("round %d (-exact +got):\n%s", round, diff)
		}
	}
	checkState(t, x)
	if limit := segmentBytes(2*ids, dim); most > limit {
		t.Errorf("%d bytes for at most %d vectors, more than %d", most, ids, limit)
	}
	entries := len(x.collections[testCollection].snapshot.Load().ids.entries)
	if entries > 16*ids {
		t.Errorf("%d entries in the table of %d ids", entries, ids)
	}
	all, err := x.IDs(t.Context(), testCollection)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Apply(t.Context(), testCollection, store.VectorChange{Remove: all}); err != nil {
		t.Fatal(err)
	}
	checkState(t, x)
	if used := x.budget.used.Load(); used != 0 {
		t.Errorf("%d bytes left of nothing", used)
	}
}

// A search that began before a change ends with what it began with, even when
// the segments it reads are compacted away.
func TestOldSnapshotStays(t *testing.T) {
	const dim = 16
	vectors := hardVectors("gaussian", 5000, dim)
	x := newTestIndex(t, Config{}, fastest(), dim, entriesOf(vectors))
	old := x.collections[testCollection].snapshot.Load()
	want, err := x.Search(t.Context(), testCollection, store.VectorQuery{Vector: vectors[0], K: 20})
	if err != nil {
		t.Fatal(err)
	}
	ids, err := x.IDs(t.Context(), testCollection)
	if err != nil {
		t.Fatal(err)
	}
	for len(ids) > 0 {
		n := min(500, len(ids))
		change := store.VectorChange{Remove: ids[:n], Add: []store.VectorEntry{{ID: ids[0], Vector: vectors[1]}}}
		if err := x.Apply(t.Context(), testCollection, change); err != nil {
			t.Fatal(err)
		}
		ids = ids[n:]
	}
	got, err := x.search(t.Context(), x.collections[testCollection], old, unitVector(vectors[0]), store.VectorQuery{K: 20})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	for _, h := range want {
		at, ok := old.find(h.ID)
		if !ok || old.id(at) != h.ID {
			t.Errorf("%s is no longer found", h.ID)
		}
	}
	checkState(t, x)
}

func TestCeiling(t *testing.T) {
	const dim = 8
	x := newTestIndex(t, Config{MaxBytes: segmentBytes(100, dim)}, fastest(), dim, entriesOf(hardVectors("gaussian", 40, dim)))
	more := entriesOf(hardVectors("gaussian", 200, dim))
	for i := range more {
		more[i].ID = "more" + more[i].ID
	}
	err := x.Apply(t.Context(), testCollection, store.VectorChange{Remove: []string{"chunk0000000"}, Add: more})
	if !errors.Is(err, store.ErrTooLarge) {
		t.Fatalf("error %v", err)
	}
	checkState(t, x)
	if n, err := x.Count(t.Context(), testCollection); n != 40 || err != nil {
		t.Errorf("after the refused change: %d, %v", n, err)
	}
	// Removing works at the ceiling, and what was refused left nothing behind.
	ids, err := x.IDs(t.Context(), testCollection)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(ids[len(ids)-1], "more") {
		t.Errorf("%s was refused", ids[len(ids)-1])
	}
	if err := x.Apply(t.Context(), testCollection, store.VectorChange{Remove: ids[:30], Add: more[:10]}); err != nil {
		t.Fatal(err)
	}
	checkState(t, x)
	if err := x.DeleteCollection(t.Context(), testCollection); err != nil {
		t.Fatal(err)
	}
	if used := x.budget.used.Load(); used != 0 {
		t.Errorf("%d bytes left", used)
	}
}

func TestBadCollections(t *testing.T) {
	x := New(Config{})
	for _, c := range []struct {
		name string
		dim  int
	}{{"", 4}, {"kb", 0}, {"kb", -1}, {"kb", MaxDim + 1}} {
		if err := x.CreateCollection(t.Context(), c.name, c.dim); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q of %d: %v", c.name, c.dim, err)
		}
	}
	if err := x.CreateCollection(t.Context(), "kb", 1); err != nil {
		t.Fatal(err)
	}
	err := x.Apply(t.Context(), "kb", store.VectorChange{Add: []store.VectorEntry{{Vector: []float32{1}}}})
	if !errors.Is(err, store.ErrInvalid) {
		t.Errorf("no id: %v", err)
	}
}
