package chromem

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/store"
)

// Whatever was added, replaced, removed and loaded before: the answers are
// those of an index that was made of the rest at once, and those of brute
// force; without filters above ExactUpTo, all but one in a hundred of them.
func TestHistoryLeavesNoTrace(t *testing.T) {
	const dim, limit = 64, 2 * maxRows
	found, wanted, large, small := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 12))
		centres := hardVectors("gaussian", 8, dim)
		draw := func() []float32 { return near(r, centres[r.IntN(8)], []float64{.001, .2, 1}[r.IntN(3)]) }
		there := map[string][]float32{}
		x := New(Config{ExactUpTo: limit})
		loadAll(t, x, dim, there)
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			change := drawChange(t, r, there, draw)
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				loadAll(t, x, dim, there)
			} else if err := x.Apply(t.Context(), testCollection, change); err != nil {
				t.Fatal(err)
			}
		}
		fresh := New(Config{ExactUpTo: limit})
		loadAll(t, fresh, dim, there)
		if len(there) > limit {
			large++
		} else {
			small++
		}
		some := make([]string, 0, len(there)/10)
		for i := range cap(some) {
			some = append(some, fmt.Sprint("id", 10*i))
		}
		seven := func(id string) bool { return strings.HasSuffix(id, "7") }
		for range 5 {
			query := draw()
			for name, q := range map[string]store.VectorQuery{
				"exact": {Exact: true}, "among": {Among: some}, "allow": {Allow: seven}, "as it may": {},
			} {
				q.Vector, q.K = query, 10
				got, err := x.Search(t.Context(), testCollection, q)
				if err != nil {
					t.Fatal(err)
				}
				again, err := fresh.Search(t.Context(), testCollection, q)
				if err != nil {
					t.Fatal(err)
				}
				allow := q.Allow
				if q.Among != nil {
					allow = func(id string) bool { return slices.Contains(some, id) }
				}
				want := bruteForce(fresh, query, 10, allow)
				if name == "as it may" && len(there) > limit {
					wanted += 2 * len(want)
					found += common(idsOf(got), idsOf(want)) + common(idsOf(again), idsOf(want))
					continue
				}
				if diff := cmp.Diff(want, append([]store.VectorHit{}, got...)); diff != "" {
					t.Fatalf("%s, of %d (-brute force +with a history):\n%s", name, len(there), diff)
				}
				if diff := cmp.Diff(want, append([]store.VectorHit{}, again...)); diff != "" {
					t.Fatalf("%s, of %d (-brute force +fresh):\n%s", name, len(there), diff)
				}
			}
		}
	})
	if large == 0 || small == 0 {
		t.Fatalf("%d large collections, %d small ones", large, small)
	}
	if recall := float64(found) / float64(wanted); recall < .99 {
		t.Errorf("recall %v of %d", recall, wanted)
	}
}

// drawChange draws a change of up to 2000 removals and as many additions, and
// makes it to what is there.
func drawChange(t *rapid.T, r *rand.Rand, there map[string][]float32, draw func() []float32) (change store.VectorChange) {
	const ids = 5000
	for range rapid.IntRange(0, 2000).Draw(t, "removals") {
		id := fmt.Sprint("id", r.IntN(ids))
		change.Remove = append(change.Remove, id)
		delete(there, id)
	}
	for range rapid.IntRange(0, 2000).Draw(t, "additions") {
		e := store.VectorEntry{ID: fmt.Sprint("id", r.IntN(ids)), Vector: draw()}
		change.Add = append(change.Add, e)
		there[e.ID] = e.Vector
	}
	return change
}

// loadAll loads what is there, in the order of a map: any.
func loadAll(t *rapid.T, x *Index, dim int, there map[string][]float32) {
	err := x.Load(t.Context(), testCollection, dim, func(yield func(store.VectorEntry, error) bool) {
		for id, vector := range there {
			if !yield(store.VectorEntry{ID: id, Vector: vector}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func idsOf(hits []store.VectorHit) []string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids
}
