package storetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/store"
)

// vectorLikeBruteForce applies any sequence of changes and compares every
// search with all cosines, computed and sorted.
func vectorLikeBruteForce(t *testing.T, open func(t *testing.T) store.VectorIndex) {
	rapid.Check(t, func(r *rapid.T) {
		x := open(t)
		m := &vectorModel{dim: rapid.SampledFrom([]int{4, 16, 33, 96}).Draw(r, "dim"), vectors: map[string][]float32{}}
		if err := x.CreateCollection(context.Background(), vectorCollection, m.dim); err != nil {
			r.Fatal(err)
		}
		r.Repeat(map[string]func(*rapid.T){
			"":       func(r *rapid.T) { m.checkIDs(r, x) },
			"apply":  func(r *rapid.T) { m.apply(r, x) },
			"load":   func(r *rapid.T) { m.load(r, x) },
			"search": func(r *rapid.T) { m.search(r, x) },
		})
		if err := x.DeleteCollection(context.Background(), vectorCollection); err != nil {
			r.Fatal(err)
		}
	})
}

// vectorModel is what the index should hold.
type vectorModel struct {
	dim     int
	vectors map[string][]float32
}

// drawID draws from few ids, so that they meet often.
func drawID(r *rapid.T) string { return fmt.Sprintf("c%d", rapid.IntRange(0, 120).Draw(r, "id")) }

// draw makes a unit vector: of four or sixteen equal components, whose cosines
// are exact and often equal, or of any direction, or close to such a one.
func (m *vectorModel) draw(r *rapid.T) []float32 {
	v := make([]float32, m.dim)
	kind := rapid.IntRange(0, 3).Draw(r, "kind")
	switch {
	case kind == 0 || m.dim < 16:
		for i := range 4 {
			v[i*m.dim/4] = rapid.SampledFrom([]float32{.5, -.5}).Draw(r, "component")
		}
		return v
	case kind == 1:
		for i := range 16 {
			v[i*m.dim/16] = rapid.SampledFrom([]float32{.25, -.25}).Draw(r, "component")
		}
		return v
	case kind == 2:
		v[rapid.IntRange(0, m.dim-1).Draw(r, "peak")] = 100
	}
	seed := rapid.Uint64().Draw(r, "seed")
	var sum float64
	for i := range v {
		seed = seed*6364136223846793005 + 1442695040888963407
		v[i] += float32(int32(seed>>32)) / (1 << 31)
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

func (m *vectorModel) apply(r *rapid.T, x store.VectorIndex) {
	var change store.VectorChange
	for range rapid.IntRange(0, 40).Draw(r, "removals") {
		change.Remove = append(change.Remove, drawID(r))
	}
	for range rapid.IntRange(0, 40).Draw(r, "additions") {
		change.Add = append(change.Add, store.VectorEntry{ID: drawID(r), Vector: m.draw(r)})
	}
	if err := x.Apply(context.Background(), vectorCollection, change); err != nil {
		r.Fatal(err)
	}
	for _, id := range change.Remove {
		delete(m.vectors, id)
	}
	for _, e := range change.Add {
		m.vectors[e.ID] = e.Vector
	}
}

// load loads what is there, in any order, with some of it twice and some new.
func (m *vectorModel) load(r *rapid.T, x store.VectorIndex) {
	all := make([]store.VectorEntry, 0, len(m.vectors))
	for id, vector := range m.vectors {
		all = append(all, store.VectorEntry{ID: id, Vector: vector})
	}
	slices.SortFunc(all, func(a, b store.VectorEntry) int { return strings.Compare(a.ID, b.ID) })
	all = rapid.Permutation(all).Draw(r, "order")
	for range rapid.IntRange(0, 5).Draw(r, "again or new") {
		all = append(all, store.VectorEntry{ID: drawID(r), Vector: m.draw(r)})
	}
	if err := x.Load(context.Background(), vectorCollection, m.dim, entries(nil, all...)); err != nil {
		r.Fatal(err)
	}
	for _, e := range all {
		m.vectors[e.ID] = e.Vector
	}
}

func (m *vectorModel) checkIDs(r *rapid.T, x store.VectorIndex) {
	want := make([]string, 0, len(m.vectors))
	for id := range m.vectors {
		want = append(want, id)
	}
	slices.Sort(want)
	got, err := x.IDs(context.Background(), vectorCollection)
	if err != nil {
		r.Fatal(err)
	}
	if diff := cmp.Diff(want, append([]string{}, got...)); diff != "" {
		r.Fatalf("ids (-want +got):\n%s", diff)
	}
	if n, err := x.Count(context.Background(), vectorCollection); err != nil || n != len(want) {
		r.Fatalf("count %d, %v; want %d", n, err, len(want))
	}
}

func (m *vectorModel) search(r *rapid.T, x store.VectorIndex) {
	query, k := m.draw(r), rapid.IntRange(1, 150).Draw(r, "k")
	var allow func(string) bool
	if ending := rapid.SampledFrom([]string{"", "7", "11", "none"}).Draw(r, "allow"); ending != "" {
		allow = func(id string) bool { return strings.HasSuffix(id, ending) }
	}
	q := store.VectorQuery{Vector: query, K: k, Allow: allow, Exact: rapid.Bool().Draw(r, "exact")}
	may := allow
	if rapid.Bool().Draw(r, "among") {
		q.Among = make([]string, rapid.IntRange(0, 60).Draw(r, "chosen"))
		for i := range q.Among {
			q.Among[i] = drawID(r)
		}
		may = func(id string) bool { return slices.Contains(q.Among, id) && (allow == nil || allow(id)) }
	}
	got, err := x.Search(context.Background(), vectorCollection, q)
	if err != nil {
		r.Fatal(err)
	}
	m.checkHits(r, query, k, may, got)

	ids := []string{drawID(r), drawID(r)}
	cosines, err := x.Cosines(context.Background(), vectorCollection, query, ids)
	if err != nil || len(cosines) != len(ids) {
		r.Fatalf("cosines %v, %v", cosines, err)
	}
	for i, id := range ids {
		if want := cosine64(query, m.vectors[id]); math.Abs(want-float64(cosines[i])) > scoreTolerance {
			r.Fatalf("cosine of %s is %v, want %v", id, cosines[i], want)
		}
	}
}

// scoreTolerance allows for the rounding of float32 sums. Cosines that are
// exact in any order differ by more, or not at all.
const scoreTolerance = 2e-6

// checkHits holds the hits against every cosine: each score is right, the
// order is that of the scores and then of the ids, and what was left out is no
// better than what is there.
func (m *vectorModel) checkHits(r *rapid.T, query []float32, k int, allow func(string) bool, hits []store.VectorHit) {
	left := map[string]float64{}
	for id, v := range m.vectors {
		if allow == nil || allow(id) {
			left[id] = cosine64(query, v)
		}
	}
	if want := min(k, len(left)); len(hits) != want {
		r.Fatalf("%d hits, want %d", len(hits), want)
	}
	for i, h := range hits {
		want, ok := left[h.ID]
		if !ok {
			r.Fatalf("hit %d: %s is twice there, removed or not allowed", i, h.ID)
		}
		delete(left, h.ID)
		if math.Abs(want-float64(h.Score)) > scoreTolerance || h.Score < -1 || h.Score > 1 {
			r.Fatalf("hit %d: %s has %v, want %v", i, h.ID, h.Score, want)
		}
		if i == 0 {
			continue
		}
		if last := hits[i-1]; last.Score < h.Score || last.Score == h.Score && last.ID > h.ID {
			r.Fatalf("hits %d and %d are in the wrong order: %v, %v", i-1, i, last, h)
		}
	}
	if len(hits) == 0 {
		return
	}
	last := hits[len(hits)-1]
	for id, cosine := range left {
		switch d := cosine - float64(last.Score); {
		case d > scoreTolerance:
			r.Fatalf("%s with %v was left out, the last hit is %v", id, cosine, last)
		case d == 0 && id < last.ID:
			r.Fatalf("%s with %v was left out before %s", id, cosine, last.ID)
		}
	}
}

// cosine64 is 0 for an id without a vector.
func cosine64(a, b []float32) float64 {
	if b == nil {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}
