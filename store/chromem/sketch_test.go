package chromem

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/store"
)

// fullSegment holds maxRows vectors.
func fullSegment(vectors [][]float32) *segment {
	s := newSegment(maxRows, len(vectors[0]))
	for i, v := range vectors[:maxRows] {
		s.set(i, fmt.Sprint("id", i), v)
	}
	return s
}

// A rotation keeps lengths and angles, and spreads the worst vector.
func TestRotation(t *testing.T) {
	for _, dim := range []int{1, 2, 64, 100, 384, 1000} {
		r := rand.New(rand.NewPCG(1, uint64(dim)))
		rotation := newRotation(fastest(), dim)
		a, b := unitVector(gauss(r, dim)), unitVector(gauss(r, dim))
		var want, got float64
		for i := range a {
			want += float64(a[i]) * float64(b[i])
		}
		rotation.apply(a)
		rotation.apply(b)
		for i := range a {
			got += float64(a[i]) * float64(b[i])
		}
		if math.Abs(norm(a)-1) > 1e-5 || math.Abs(got-want) > 1e-5 {
			t.Errorf("%d dimensions: length %v, cosine %v, want 1 and %v", dim, norm(a), got, want)
		}
		if dim < minSketchDim {
			continue
		}
		peak := make([]float32, dim)
		peak[dim/2] = 1
		rotation.apply(peak)
		for i, c := range peak {
			if math.Abs(float64(c)) > .5 {
				t.Errorf("%d dimensions: a peak stays one, %v at %d", dim, c, i)
			}
		}
	}
}

// The kernels of sketches give the same bits.
func TestSketchKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
		rows := blockRows * rapid.IntRange(0, 5).Draw(t, "blocks")
		pairs := 2 * rapid.IntRange(1, 40).Draw(t, "pairs of pairs")
		bits, table := make([]byte, rows*pairs), make([]byte, 32*pairs)
		for i := range bits {
			bits[i] = byte(r.Uint32())
		}
		for i := range table {
			table[i] = byte(r.IntN(math.MaxUint8/4 + 1))
		}
		want, weights := make([]uint16, rows), make([]uint16, rows)
		for i := range want {
			want[i], weights[i] = uint16(r.Uint32()>>r.IntN(16)), uint16(r.Uint32()>>r.IntN(16))
		}
		got := slices.Clone(want)
		fast := fastest()
		addGo(want, bits, table, 0)
		fast.add(got, bits, table, 64)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("sums (-Go +fastest):\n%s", diff)
		}
		wantMasks, gotMasks := make([]uint32, rows/blockRows), make([]uint32, rows/blockRows)
		limit := threshold{uint16(r.Uint32()), uint16(r.Uint32() >> r.IntN(17)), uint16(r.Uint32() >> r.IntN(17))}
		pickGo(wantMasks, want, weights, limit)
		fast.pick(gotMasks, want, weights, limit)
		if diff := cmp.Diff(wantMasks, gotMasks); diff != "" {
			t.Fatalf("%+v (-Go +fastest):\n%s", limit, diff)
		}
	})
}

// Estimates err as the slack says: raised by it, one in 160 is still too low.
func TestSlack(t *testing.T) {
	for _, kind := range []string{"gaussian", "one bundle", "equal", "one-hot"} {
		for _, dim := range []int{64, 100, 384} {
			s := fullSegment(hardVectors(kind, maxRows, dim))
			rotation := newRotation(fastest(), dim)
			k := newSketch(rotation, s)
			r := rand.New(rand.NewPCG(8, 8))
			kernel := portable()
			for row := range maxRows {
				if slack := slackOf(k, row); slack > 1.3*confidence/math.Sqrt(float64(dim)) {
					t.Fatalf("%s, %d dimensions: the slack of row %d is %v, it says nothing", kind, dim, row, slack)
				}
			}
			tooLow, n := map[string]int{}, 0
			for range 40 {
				unit := near(r, s.vector(r.IntN(maxRows)), []float64{.1, .5, 1, 5}[r.IntN(4)])
				var q sketchQuery
				q.encode(rotation, unit)
				base := kernel.cosine(unit, k.centre)
				passed := map[string][]uint32{"front": passing(k, &q, &q.front, base), "whole": passing(k, &q, &q.whole, base)}
				for row := range maxRows {
					exact := kernel.cosine(unit, s.vector(row))
					n++
					estimate, slack := q.estimate(k.record(row))
					if base+estimate+slack < exact {
						tooLow["record"]++
					}
					if base+estimate+slack > exact+3.5*slack {
						t.Fatalf("%s, %d dimensions: %v for a cosine of %v, slack %v", kind, dim, estimate, exact, slack)
					}
					for name, masks := range passed {
						if exact >= base+edge && masks[row/blockRows]>>(row%blockRows)&1 == 0 {
							tooLow[name]++
						}
					}
				}
			}
			for name, low := range tooLow {
				if share := float64(low) / float64(n); share > .01 {
					t.Errorf("%s, %d dimensions: %.4f of the rows are taken for too low by the %s", kind, dim, share, name)
				}
			}
		}
	}
}

// edge is the p·u that rows have to reach in TestSlack.
const edge = .05

// passing returns the masks of the rows that reach base + edge by a part.
func passing(k *sketch, q *sketchQuery, p *part, base float32) []uint32 {
	sums, masks := make([]uint16, maxRows), make([]uint32, maxRows/blockRows)
	addGo(sums, k.front, q.table[:16*q.front.groups], 0)
	if p.groups > q.front.groups {
		addGo(sums, k.rest, q.table[16*q.front.groups:], 0)
	}
	pickGo(masks, sums, k.weights, q.threshold(p, k, edge))
	return masks
}

func slackOf(k *sketch, row int) float64 {
	record := k.record(row)
	return float64(math.Float32frombits(uint32(record[len(record)-1] >> 32)))
}

// Approximate searches find what exact ones find, after any changes.
func TestRecall(t *testing.T) {
	const dim, rows, k = 128, 8 * maxRows, 10
	r := rand.New(rand.NewPCG(9, 9))
	for _, kind := range []string{"gaussian", "one bundle", "near ties", "equal", "two values", "one-hot", "ascending", "clusters"} {
		t.Run(kind, func(t *testing.T) {
			vectors := hardVectors(kind, rows, dim)
			if kind == "clusters" {
				centres := hardVectors("gaussian", 40, dim)
				for i := range vectors {
					vectors[i] = near(r, centres[i%40], .8)
				}
			}
			x := newTestIndex(t, Config{ExactUpTo: 1}, fastest(), dim, entriesOf(vectors))
			if recall := recallOf(t, x, vectors, k); recall < .99 {
				t.Errorf("recall %v", recall)
			}
			churn(t, x, vectors)
			if sketched(x) == 0 {
				t.Fatal("no sketches")
			}
			if recall := recallOf(t, x, vectors, k); recall < .99 {
				t.Errorf("recall after changes: %v", recall)
			}
			checkState(t, x)
		})
	}
}

// churn replaces most vectors by others, in many changes.
func churn(t *testing.T, x *Index, vectors [][]float32) {
	entries := entriesOf(vectors)
	for i := range 30 {
		var change store.VectorChange
		for j := range len(vectors) / 20 {
			change.Remove = append(change.Remove, entries[(i*977+j*13)%len(entries)].ID)
			change.Add = append(change.Add, store.VectorEntry{
				ID: entries[(i*31+j*7)%len(entries)].ID, Vector: vectors[(i+j*11)%len(vectors)],
			})
		}
		if err := x.Apply(t.Context(), testCollection, change); err != nil {
			t.Fatal(err)
		}
	}
}

func sketched(x *Index) int {
	n := 0
	for _, v := range x.collections[testCollection].snapshot.Load().views {
		if v.sketch != nil {
			n++
		}
	}
	return n
}

// recallOf is the share of the exact answers' hits that approximate answers
// hold, ties with the last of them counting as hits.
func recallOf(t *testing.T, x *Index, vectors [][]float32, k int) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(10, 10))
	found, all := 0, 0
	for i := range 60 {
		query := store.VectorQuery{Vector: near(r, vectors[r.IntN(len(vectors))], []float64{.1, .8, 3}[i%3]), K: k}
		got, err := x.Search(context.Background(), testCollection, query)
		if err != nil {
			t.Fatal(err)
		}
		query.Exact = true
		want, err := x.Search(context.Background(), testCollection, query)
		if err != nil {
			t.Fatal(err)
		}
		all += len(want)
		for _, h := range got {
			if h.Score >= want[len(want)-1].Score {
				found++
			}
		}
	}
	return float64(found) / float64(all)
}

// A search that must be exact is, however large the collection.
func TestExactOnRequest(t *testing.T) {
	const dim = 64
	vectors := hardVectors("gaussian", 4*maxRows, dim)
	x := newTestIndex(t, Config{ExactUpTo: 1}, fastest(), dim, entriesOf(vectors))
	third := func(id string) bool { return id[len(id)-1]%3 == 0 }
	var some []string
	for _, e := range entriesOf(vectors) {
		if third(e.ID) {
			some = append(some, e.ID)
		}
	}
	for i := range 20 {
		for name, q := range map[string]store.VectorQuery{
			"exact": {Exact: true}, "allow": {Allow: third}, "among": {Among: some}, "few": {Among: some[:20*i+1]},
		} {
			q.Vector, q.K = vectors[i], 25
			got, err := x.Search(t.Context(), testCollection, q)
			if err != nil {
				t.Fatal(err)
			}
			allow := q.Allow
			if q.Among != nil {
				allow = func(id string) bool { return slices.Contains(q.Among, id) }
			}
			if diff := cmp.Diff(bruteForce(x, vectors[i], 25, allow), got); diff != "" {
				t.Fatalf("%s (-exact +got):\n%s", name, diff)
			}
		}
	}
}

// Up to Config.ExactUpTo vectors every search is exact, also where sketches
// are left from a larger time.
func TestExactUpTo(t *testing.T) {
	const dim = 64
	vectors := hardVectors("one bundle", 3*maxRows, dim)
	x := newTestIndex(t, Config{ExactUpTo: 2 * maxRows}, fastest(), dim, entriesOf(vectors))
	if sketched(x) == 0 {
		t.Fatal("no sketches")
	}
	var change store.VectorChange
	for _, e := range entriesOf(vectors)[:maxRows] {
		change.Remove = append(change.Remove, e.ID)
	}
	if err := x.Apply(t.Context(), testCollection, change); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		got, err := x.Search(t.Context(), testCollection, store.VectorQuery{Vector: vectors[i], K: 50})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(bruteForce(x, vectors[i], 50, nil), got); diff != "" {
			t.Fatalf("(-exact +got):\n%s", diff)
		}
	}
}
