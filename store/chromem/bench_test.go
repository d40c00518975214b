package chromem

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"ragagent/store"
)

// benchMillion names the variable that adds a million vectors to BenchmarkSearch:
// 3 GB of memory and about two minutes.
const benchMillion = "RAGAGENT_BENCH_MILLION"

// BenchmarkSearch searches for the top 10 of clustered vectors in every way,
// beside what it is compared with. Each is a median of the same run, taken in
// turns, in milliseconds:
//
//	search-ms   a search as the product asks: exact up to DefaultExactUpTo
//	p99-ms      of these, the slowest but one in a hundred
//	exact-ms    a search with Exact
//	among-ms    a search among one id in a hundred, drawn at random
//	chromem-ms  chromem-go's own QueryEmbedding of the same documents
//	float-ms    an exact scan of the float vectors with the same kernel
//	floor-ms    reading the codes once
//	recall      share of the exact ten that the search found
//	same        of the exact ten, how many chromem-go's query found as well
//	add/s       vectors added in one change, indexes included
//	B/vector    memory of an entry: vector, codes, sketch, id, table, document
func BenchmarkSearch(b *testing.B) {
	type size struct{ rows, dim int }
	sizes := []size{{10_000, 256}, {10_000, 384}, {100_000, 256}, {100_000, 384}, {100_000, 768}}
	if os.Getenv(benchMillion) != "" {
		sizes = append(sizes, size{1_000_000, 384})
	}
	for _, s := range sizes {
		b.Run(fmt.Sprintf("%dx%d", s.rows, s.dim), func(b *testing.B) { benchmarkSearch(b, s.rows, s.dim) })
	}
}

func benchmarkSearch(b *testing.B, rows, dim int) {
	before := heap()
	draw := clusters(dim)
	x := New(Config{})
	if err := x.CreateCollection(context.Background(), testCollection, dim); err != nil {
		b.Fatal(err)
	}
	adding := addInParts(b, x, rows, draw)
	memory := heap() - before
	queries := make([][]float32, 200)
	for i := range queries {
		queries[i] = draw()
	}
	c := comparison{index: x, rows: rows}
	for i := 0; b.Loop(); i++ {
		c.round(b, queries[i*inARow%len(queries):][:inARow], i)
	}
	c.report(b)
	b.ReportMetric(float64(memory)/float64(rows), "B/vector")
	b.ReportMetric(float64(rows)/adding.Seconds(), "add/s")
}

// addInParts adds vectors 20,000 at a time, so that the benchmark itself holds
// few, and returns the time it took.
func addInParts(b *testing.B, x *Index, rows int, draw func() []float32) (adding time.Duration) {
	for from := 0; from < rows; from += 20_000 {
		entries := make([]store.VectorEntry, min(20_000, rows-from))
		for i := range entries {
			entries[i] = store.VectorEntry{ID: benchID(from + i), Vector: draw()}
		}
		start := time.Now()
		if err := x.Apply(context.Background(), testCollection, store.VectorChange{Add: entries}); err != nil {
			b.Fatal(err)
		}
		adding += time.Since(start)
	}
	return adding
}

func benchID(i int) string { return fmt.Sprintf("chunk%07d", i) }

// clusters draws unit vectors around 200 centres, which is how texts lie.
func clusters(dim int) (draw func() []float32) {
	r := rand.New(rand.NewPCG(7, 7))
	centres := make([][]float32, 200)
	for i := range centres {
		centres[i] = unitVector(gauss(r, dim))
	}
	return func() []float32 { return near(r, centres[r.IntN(len(centres))], .8) }
}

// comparison holds the times of every way to search, and what they found.
type comparison struct {
	index *Index
	rows  int

	search, exact, among, chromem, float, floor []time.Duration
	found, same, wanted, compared               int
}

const (
	// inARow: so many searches of a kind follow each other, or each would find
	// the caches full of what another kind has read.
	inARow = 10
	// slowEvery: the slow ways are measured in one round of so many.
	slowEvery = 5
)

func (c *comparison) round(b *testing.B, queries [][]float32, i int) {
	ctx := context.Background()
	ask := func(to *[]time.Duration, how func(j int) store.VectorQuery) (answers [inARow][]string) {
		for j, query := range queries {
			q := how(j)
			q.Vector, q.K = query, 10
			timed(to, func() {
				hits, err := c.index.Search(ctx, testCollection, q)
				if err != nil {
					b.Fatal(err)
				}
				for _, h := range hits {
					answers[j] = append(answers[j], h.ID)
				}
			})
		}
		return answers
	}
	var some [inARow][]string
	for j := range some {
		some[j] = someIDs(c.rows, i*inARow+j)
	}
	got := ask(&c.search, func(int) store.VectorQuery { return store.VectorQuery{} })
	exact := ask(&c.exact, func(int) store.VectorQuery { return store.VectorQuery{Exact: true} })
	ask(&c.among, func(j int) store.VectorQuery { return store.VectorQuery{Among: some[j]} })
	for j, want := range exact {
		c.found += common(got[j], want)
		c.wanted += len(want)
	}
	if i%slowEvery != 0 {
		return
	}
	query, want := queries[0], exact[0]
	collection := c.index.collections[testCollection]
	timed(&c.chromem, func() {
		results, err := collection.docs.QueryEmbedding(ctx, query, 10, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range results {
			c.same += common([]string{r.ID}, want)
		}
		c.compared++
	})
	timed(&c.float, func() { exactScan(c.index, query) })
	timed(&c.floor, func() { readCodes(b, collection.snapshot.Load()) })
}

func (c *comparison) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	for name, times := range map[string][]time.Duration{
		"search-ms": c.search, "exact-ms": c.exact, "among-ms": c.among,
		"chromem-ms": c.chromem, "float-ms": c.float, "floor-ms": c.floor,
	} {
		b.ReportMetric(quantile(times, .5), name)
	}
	b.ReportMetric(quantile(c.search, .99), "p99-ms")
	b.ReportMetric(float64(c.found)/float64(c.wanted), "recall")
	b.ReportMetric(float64(c.same)/float64(c.compared), "same")
}

func timed(to *[]time.Duration, f func()) {
	start := time.Now()
	f()
	*to = append(*to, time.Since(start))
}

// quantile returns milliseconds.
func quantile(times []time.Duration, q float64) float64 {
	slices.Sort(times)
	return float64(times[int(q*float64(len(times)-1))]) / 1e6
}

func common(a, b []string) int {
	n := 0
	for _, id := range a {
		if slices.Contains(b, id) {
			n++
		}
	}
	return n
}

// someIDs draws one id in a hundred.
func someIDs(rows, seed int) []string {
	r := rand.New(rand.NewPCG(uint64(seed), 11))
	ids := make([]string, rows/100)
	for i := range ids {
		ids[i] = benchID(r.IntN(rows))
	}
	return ids
}

// BenchmarkTwoClients tells how many times as many searches two clients get
// done as one, exact ones and such as may be approximate: a search must not
// take the cores that another one needs.
func BenchmarkTwoClients(b *testing.B) {
	const rows, dim, searches = 100_000, 384, 40
	x := New(Config{})
	if err := x.CreateCollection(context.Background(), testCollection, dim); err != nil {
		b.Fatal(err)
	}
	draw := clusters(dim)
	addInParts(b, x, rows, draw)
	queries := make([][]float32, searches)
	for i := range queries {
		queries[i] = draw()
	}
	for name, exact := range map[string]bool{"search": false, "exact": true} {
		b.Run(name, func(b *testing.B) {
			client := func() {
				for _, query := range queries {
					if _, err := x.Search(context.Background(), testCollection, store.VectorQuery{Vector: query, K: 10, Exact: exact}); err != nil {
						b.Error(err)
					}
				}
			}
			var one, two []time.Duration
			for b.Loop() {
				timed(&one, client)
				timed(&two, func() {
					var wg sync.WaitGroup
					wg.Go(client)
					wg.Go(client)
					wg.Wait()
				})
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(2*quantile(one, .5)/quantile(two, .5), "throughput")
		})
	}
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

// heap returns the bytes of what is reachable.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
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
