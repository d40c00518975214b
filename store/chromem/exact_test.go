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

const testCollection = "kb"

// newTestIndex returns an index that holds the entries, added in two halves.
func newTestIndex(t testing.TB, c Config, k kernels, dim int, entries []store.VectorEntry) *Index {
	t.Helper()
	x := New(c)
	x.kernels = k
	if err := x.CreateCollection(context.Background(), testCollection, dim); err != nil {
		t.Fatal(err)
	}
	for _, part := range [][]store.VectorEntry{entries[:len(entries)/2], entries[len(entries)/2:]} {
		if err := x.Apply(context.Background(), testCollection, store.VectorChange{Add: part}); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// bruteForce scores every row exactly and sorts.
func bruteForce(x *Index, query []float32, k int, allow func(string) bool) []store.VectorHit {
	s := x.collections[testCollection].snapshot.Load()
	unit, err := unitQuery(query, len(query))
	if err != nil {
		panic(err)
	}
	var all []hit
	for at := range s.all() {
		if id := s.id(at); allow == nil || allow(id) {
			all = append(all, hit{at, x.kernels.cosine(unit, s.vector(at)), id})
		}
	}
	slices.SortFunc(all, compareHits)
	hits := []store.VectorHit{}
	for _, h := range all[:min(k, len(all))] {
		hits = append(hits, store.VectorHit{ID: h.id, Score: h.score})
	}
	return hits
}

func entriesOf(vectors [][]float32) []store.VectorEntry {
	entries := make([]store.VectorEntry, len(vectors))
	for i, v := range vectors {
		entries[i] = store.VectorEntry{ID: fmt.Sprintf("chunk%07d", (i*7919)%len(vectors)), Vector: v}
	}
	return entries
}

func unitVector(v []float32) []float32 {
	u, err := unitQuery(v, len(v))
	if err != nil {
		panic(err)
	}
	return u
}

func gauss(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// near returns a unit vector at about that distance from v.
func near(r *rand.Rand, v []float32, distance float64) []float32 {
	g := unitVector(gauss(r, len(v)))
	u := slices.Clone(v)
	for i := range u {
		u[i] += float32(distance) * g[i]
	}
	return unitVector(u)
}

// collections whose nearest rows are hard to tell apart by their codes.
func hardVectors(kind string, n, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(1, uint64(dim)))
	centre := unitVector(gauss(r, dim))
	vectors := make([][]float32, n)
	for i := range vectors {
		switch kind {
		case "gaussian":
			vectors[i] = unitVector(gauss(r, dim))
		case "one bundle": // all cosines within a few codes' errors
			vectors[i] = near(r, centre, .01)
		case "near ties": // within a few units in the last place
			vectors[i] = near(r, centre, 1e-6)
		case "equal":
			vectors[i] = centre
		case "two values": // few distinct directions, many ties
			vectors[i] = near(rand.New(rand.NewPCG(uint64(i%5), 0)), centre, .3)
		case "one-hot": // one huge component: the others' codes are all zero
			v := gauss(r, dim)
			v[i%dim] += 1000
			vectors[i] = unitVector(v)
		case "ascending": // the best come last
			vectors[i] = near(rand.New(rand.NewPCG(9, 9)), centre, 2-2*float64(i)/float64(n))
		}
	}
	return vectors
}

// The answer is that of an exact scan: same ids, same order, same bits.
func TestSearchIsExact(t *testing.T) {
	for _, kind := range []string{"gaussian", "one bundle", "near ties", "equal", "two values", "one-hot", "ascending"} {
		for _, dim := range []int{3, 32, 100, 384} {
			vectors := hardVectors(kind, 3000, dim)
			for name, k := range map[string]kernels{"portable": portable(), "fastest": fastest()} {
				x := newTestIndex(t, Config{Workers: 1}, k, dim, entriesOf(vectors))
				r := rand.New(rand.NewPCG(2, 2))
				for q := range 8 {
					query := near(r, vectors[r.IntN(len(vectors))], []float64{0, 1e-6, .1, 1}[q%4])
					k := []int{1, 10, 100, 5000}[r.IntN(4)]
					got, err := x.Search(context.Background(), testCollection, store.VectorQuery{Vector: query, K: k})
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(bruteForce(x, query, k, nil), got); diff != "" {
						t.Fatalf("%s, %d dimensions, %s kernels, k=%d (-exact +got):\n%s", kind, dim, name, k, diff)
					}
				}
			}
		}
	}
}

// Several workers and a filter give what one worker gives.
func TestWorkersAgree(t *testing.T) {
	const dim = 8
	vectors := hardVectors("one bundle", 4*workerRows, dim)
	x := newTestIndex(t, Config{Workers: 4}, fastest(), dim, entriesOf(vectors))
	job := &search{snapshot: x.collections[testCollection].snapshot.Load(), k: 1}
	job.plan()
	if n := len(x.scans(job)); n != 4 {
		t.Fatalf("%d workers, want 4", n)
	}
	asked := map[string]int{}
	third := func(id string) bool { asked[id]++; return id[len(id)-1]%3 == 0 }
	for i := range 5 {
		for _, allow := range []func(string) bool{nil, third} {
			clear(asked)
			got, err := x.Search(context.Background(), testCollection, store.VectorQuery{Vector: vectors[i], K: 50, Allow: allow})
			if err != nil {
				t.Fatal(err)
			}
			for id, n := range asked {
				if n > 1 {
					t.Fatalf("%s was asked for %d times", id, n)
				}
			}
			if diff := cmp.Diff(bruteForce(x, vectors[i], 50, allow), got); diff != "" {
				t.Fatalf("(-exact +got):\n%s", diff)
			}
		}
	}
}

// The bound of the codes' error holds for any two vectors.
func TestBoundHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.SampledFrom([]int{1, 2, 31, 32, 33, 384, 1000, MaxDim}).Draw(t, "dim")
		draw := func(label string) []float32 {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, label), 1))
			v := gauss(r, dim)
			switch rapid.IntRange(0, 3).Draw(t, label+" kind") {
			case 0: // the largest sums of products
				for i := range v {
					v[i] = 1
				}
			case 1:
				v[r.IntN(dim)] = 1e6
			case 2:
				for i := range v {
					v[i] *= v[i] * v[i] * v[i] * v[i]
				}
			}
			return unitVector(v)
		}
		a, b := draw("query"), draw("vector")
		if rapid.Bool().Draw(t, "same") {
			b = a
		}
		s := newSegment(1, dim)
		s.set(0, "id", b)
		var q queryCodes
		q.encode(a)
		var want int64
		for i, c := range q.codes {
			want += int64(c) * int64(s.codes[i])
		}
		for name, k := range map[string]kernels{"portable": portable(), "fastest": fastest()} {
			var dot [1]int32
			k.dots(dot[:], s.codes, q.codes)
			if int64(dot[0]) != want {
				t.Fatalf("%s: dot %d, want %d", name, dot[0], want)
			}
			estimate := float64(float32(dot[0]) * (q.step * s.scales[0]))
			bound := float64(q.spread*s.errors[0] + q.offset)
			if exact := float64(k.cosine(a, b)); math.Abs(exact-estimate) > bound {
				t.Fatalf("%s: cosine %v, estimate %v, bound %v", name, exact, estimate, bound)
			}
			if dim == 384 && bound > .2 {
				t.Fatalf("a bound of %v says nothing", bound)
			}
		}
	})
}

// Kernels give the same bits, at any length and alignment.
func TestKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		stride := codeStep * rapid.IntRange(1, 40).Draw(t, "steps")
		rows, at := rapid.IntRange(0, 9).Draw(t, "rows"), rapid.IntRange(0, 7).Draw(t, "offset")
		codes, query := make([]int8, rows*stride+at)[at:], make([]int16, stride+at)[at:]
		for i := range codes {
			codes[i] = int8(r.IntN(2*maxCode+1) - maxCode)
		}
		top := min(math.MaxInt16, math.MaxInt32/(maxCode*stride))
		for i := range query {
			query[i] = int16(r.IntN(2*top+1) - top)
		}
		want, got := make([]int32, rows), make([]int32, rows)
		dotsGo(want, codes, query)
		fast := fastest()
		fast.dots(got, codes, query)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("dots (-Go +fastest):\n%s", diff)
		}
		dim := rapid.IntRange(1, 400).Draw(t, "dim")
		a, b := gauss(r, dim+at)[at:], gauss(r, dim+at)[at:]
		slow := portable()
		if x, y := slow.cosine(unitVector(a), unitVector(b)), fast.cosine(unitVector(a), unitVector(b)); x != y {
			t.Fatalf("cosine %v in Go, %v", x, y)
		}
		v := gauss(r, 1<<rapid.IntRange(0, 10).Draw(t, "power"))
		w := slices.Clone(v)
		by := gauss(r, len(v))
		hadamardGo(v)
		scaleGo(v[at%len(v):], by[at%len(v):])
		fast.hadamard(w)
		fast.scale(w[at%len(v):], by[at%len(v):])
		if diff := cmp.Diff(v, w); diff != "" {
			t.Fatalf("hadamard, scaled (-Go +fastest):\n%s", diff)
		}
	})
}
