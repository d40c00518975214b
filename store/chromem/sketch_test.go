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
		rotation := newRotation(dim)
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

// The kernels of sketches give the same bits, and these are those of the
// formula: sums of table entries, chosen by the signs of each row.
func TestSiftKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
		dim := rapid.SampledFrom([]int{64, 65, 100, 384, 1000, 5000}).Draw(t, "dim")
		quads := sketchDim(dim) / quadDims
		bits, rows := make([]byte, 2*quads*64), &estimators{gauss(r, 64), gauss(r, 64)}
		for i := range bits {
			bits[i] = byte(r.Uint32())
		}
		var q sketchQuery
		q.encode(newRotation(dim), unitVector(gauss(r, dim)))
		want, got := make([]uint32, 2), make([]uint32, 2)
		fast := fastest()
		for _, least := range []float32{float32(math.Inf(-1)), -1, 0, .3, 1, float32(math.Inf(1))} {
			siftGo(want, bits, rows, &q.whole, least, 0)
			fast.sift(got, bits, rows, &q.whole, least, 0)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("at least %v (-Go +fastest):\n%s", least, diff)
			}
		}
	})
}

// Estimates err as the slack says: raised by it, one in 160 is still too low.
func TestSlack(t *testing.T) {
	for _, kind := range []string{"gaussian", "one bundle", "equal", "one-hot"} {
		for _, dim := range []int{64, 100, 384} {
			s := fullSegment(hardVectors(kind, maxRows, dim))
			rotation := newRotation(dim)
			k := newSketch(rotation, s)
			r := rand.New(rand.NewPCG(8, 8))
			kernel := portable()
			for row, slack := range k.rows.slacks {
				if float64(slack) > 1.3*confidence/math.Sqrt(float64(dim)) {
					t.Fatalf("%s, %d dimensions: the slack of row %d is %v, it says nothing", kind, dim, row, slack)
				}
			}
			low, lowFront, n := 0, 0, 0
			for range 40 {
				unit := near(r, s.vector(r.IntN(maxRows)), []float64{.1, .5, 1, 5}[r.IntN(4)])
				var q sketchQuery
				q.encode(rotation, unit)
				base := kernel.cosine(unit, k.centre)
				for row := range maxRows {
					exact := kernel.cosine(unit, s.vector(row))
					raised := base + raisedEstimate(k.bits, &k.rows, &q.whole, row)
					n++
					if raised < exact {
						low++
					}
					if base+q.widen*raisedEstimate(k.front, &k.rows, &q.front, row) < exact {
						lowFront++
					}
					if raised > exact+3.5*k.rows.slacks[row] {
						t.Fatalf("%s, %d dimensions: %v for a cosine of %v, slack %v", kind, dim, raised, exact, k.rows.slacks[row])
					}
				}
			}
			if share := float64(low) / float64(n); share > .01 {
				t.Errorf("%s, %d dimensions: %.4f of the raised estimates are too low", kind, dim, share)
			}
			if share := float64(lowFront) / float64(n); share > .01 {
				t.Errorf("%s, %d dimensions: %.4f of those by the front are too low", kind, dim, share)
			}
		}
	}
}

// raisedEstimate reads a row's bits one by one.
func raisedEstimate(bits []byte, rows *estimators, q *tables, row int) float32 {
	block, at := row/blockRows, row%blockRows
	pairs := len(q.sums) / 32
	sum := 0
	for group := range 2 * pairs {
		b := bits[(block*pairs+group/2)*blockRows+at%16*2+at/16] >> (group % 2 * 4) & 15
		sum += int(q.sums[16*group+int(b)])
	}
	return (float32(sum)*q.step+q.shift)*rows.factors[row] + rows.slacks[row]
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
// hold, ties by score counting as hits.
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
		for _, h := range want {
			all++
			if slices.Contains(got, h) {
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
