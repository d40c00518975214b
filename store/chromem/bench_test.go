package chromem

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"ragagent/store"
)

// BenchmarkAgainstChromem compares a search for the top 10 with chromem-go's
// own query over the same documents, with an exact scan of the float vectors,
// and with the time it takes to read the codes once. All medians come from the
// same run:
//
//	ms         a search
//	chromem    chromem-go's QueryEmbedding takes so many times as long
//	float      an exact scan with the float kernel takes so many times as long
//	floor      a search takes so many times as long as reading the codes
//	same       of the ten ids, how many chromem-go's query found as well
//	rescored   rows scored from their exact vectors
//	B/vector   memory of an entry: vector, codes, id, table, chromem-go's document
func BenchmarkAgainstChromem(b *testing.B) {
	for _, size := range []struct{ rows, dim int }{{10_000, 256}, {10_000, 384}, {100_000, 256}, {100_000, 384}, {100_000, 768}} {
		b.Run(fmt.Sprintf("%dx%d", size.rows, size.dim), func(b *testing.B) {
			before := heap()
			x, queries := clusteredIndex(b, size.rows, size.dim)
			memory := heap() - before
			compareWithChromem(b, x, queries)
			b.ReportMetric(float64(memory)/float64(size.rows), "B/vector")
		})
	}
}

// BenchmarkTwoClients tells how many times as many searches two clients get
// done as one: a search must not take the cores that another one needs.
func BenchmarkTwoClients(b *testing.B) {
	x, queries := clusteredIndex(b, 100_000, 384)
	search := func(n int) {
		for i := range n {
			if _, err := x.Search(context.Background(), testCollection, store.VectorQuery{Vector: queries[i%len(queries)], K: 10}); err != nil {
				b.Error(err)
			}
		}
	}
	var one, two time.Duration
	for b.Loop() {
		start := time.Now()
		search(20)
		one += time.Since(start)
		start = time.Now()
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { search(20) })
		}
		wg.Wait()
		two += time.Since(start)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(2*float64(one)/float64(two), "throughput")
}

// BenchmarkApply adds 256 vectors of 384 dimensions to a collection of
// thousands, replacing as many.
func BenchmarkApply(b *testing.B) {
	const batch = 256
	entries := entriesOf(hardVectors("gaussian", 20*batch, 384))
	x := newTestIndex(b, Config{}, fastest(), 384, entries)
	i := 0
	for b.Loop() {
		part := entries[i%20*batch:][:batch]
		if err := x.Apply(context.Background(), testCollection, store.VectorChange{Add: part}); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(batch*float64(b.N)/b.Elapsed().Seconds(), "vectors/s")
}

// clusteredIndex holds unit vectors around 200 centres, which is how texts lie.
func clusteredIndex(b *testing.B, rows, dim int) (*Index, [][]float32) {
	r := rand.New(rand.NewPCG(7, 7))
	centres := make([][]float32, 200)
	for i := range centres {
		centres[i] = unitVector(gauss(r, dim))
	}
	draw := func(n int) [][]float32 {
		vectors := make([][]float32, n)
		for i := range vectors {
			vectors[i] = near(r, centres[r.IntN(len(centres))], .8)
		}
		return vectors
	}
	return newTestIndex(b, Config{}, fastest(), dim, entriesOf(draw(rows))), draw(64)
}

// heap returns the bytes of what is reachable.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func compareWithChromem(b *testing.B, x *Index, queries [][]float32) {
	ctx, c := context.Background(), x.collections[testCollection]
	var ours, theirs, exact, floor []time.Duration
	same, rescored, compared := 0, 0, 0
	timed := func(to *[]time.Duration, f func()) {
		start := time.Now()
		f()
		*to = append(*to, time.Since(start))
	}
	i := 0
	for b.Loop() {
		query := queries[i%len(queries)]
		var ids []string
		timed(&ours, func() {
			hits, err := x.Search(ctx, testCollection, store.VectorQuery{Vector: query, K: 10})
			if err != nil {
				b.Fatal(err)
			}
			for _, h := range hits {
				ids = append(ids, h.ID)
			}
		})
		if i++; i > 5*len(queries) || i%5 != 0 {
			continue
		}
		timed(&theirs, func() {
			results, err := c.docs.QueryEmbedding(ctx, query, 10, nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			for _, r := range results {
				if slices.Contains(ids, r.ID) {
					same++
				}
			}
			compared++
		})
		timed(&exact, func() { exactScan(x, query) })
		timed(&floor, func() { readCodes(b, c.snapshot.Load()) })
		rescored += countRescored(x, query)
	}
	ms := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2]) / 1e6
	}
	if compared == 0 {
		return // the framework's first, single iteration
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(ours), "ms")
	b.ReportMetric(ms(theirs)/ms(ours), "chromem")
	b.ReportMetric(ms(exact)/ms(ours), "float")
	b.ReportMetric(ms(ours)/ms(floor), "floor")
	b.ReportMetric(float64(same)/float64(compared), "same")
	b.ReportMetric(float64(rescored)/float64(compared), "rescored")
}

// exactScan is what a search without codes would do at best.
func exactScan(x *Index, query []float32) {
	s := x.collections[testCollection].snapshot.Load()
	unit := unitVector(query)
	var top best[hit]
	top.reset(10, func(a, b hit) int { return compareHits(b, a) })
	for at := range s.all() {
		top.offer(hit{at, x.kernels.cosine(unit, s.vector(at)), s.id(at)})
	}
}

// readCodes looks for a byte that is no code: the fastest loop over memory the
// standard library has.
func readCodes(b *testing.B, s *snapshot) {
	for i := range s.views {
		codes := s.views[i].codes
		if bytes.IndexByte(unsafe.Slice((*byte)(unsafe.Pointer(&codes[0])), len(codes)), 0x80) >= 0 {
			b.Fatal("-128 is no code")
		}
	}
}

func countRescored(x *Index, query []float32) int {
	n := 0
	counting := New(Config{Workers: x.workers})
	counting.collections = x.collections
	counting.kernels.dot = func(a, b []float32) float32 { n++; return x.kernels.dot(a, b) }
	if _, err := counting.Search(context.Background(), testCollection, store.VectorQuery{Vector: query, K: 10}); err != nil {
		panic(err)
	}
	return n
}
