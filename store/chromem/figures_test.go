package chromem

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"ragagent/store"
)

// BenchmarkFigures searches for the top 10 of clustered vectors in every way,
// beside what it is compared with, and prints a table; it takes the default
// settings. Times are medians of the same run, taken in turns, in milliseconds:
//
//	load        seconds to load the collection, everything included
//	B/row       memory of a row: vector, codes, sketch, id, table, document
//	chromem     chromem-go's own QueryEmbedding of the same documents
//	float       an exact scan of the float vectors with the same kernel
//	floor       reading the codes once, on one core
//	exact       a search with Exact, and in brackets how many times the floor
//	search      a search as the product asks, and its 99th percentile
//	chromem/s   how many times a search is faster than chromem-go
//	recall      share of the exact ten that the search found
//	same        of the exact ten, how many chromem-go found as well
//	among       a search among one id in a hundred, drawn at random
//	allow       one that asks of each id whether it may, and one in a hundred may
//	2 clients   searches that two get done, of those one does: exact, as asked
//	machine     what two goroutines of arithmetic get done, of that one does, in
//	            the same turns: what the machine itself gives two of anything,
//	            2 on two idle cores, less where they are shared
func BenchmarkFigures(b *testing.B) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "rows x dim\tload\tB/row\tchromem\tfloat\tfloor\texact\t\tsearch\tp99\tchromem/s\trecall\tsame\tamong\tallow\t2 clients\t\tmachine\t")
	for _, s := range benchSizes() {
		b.Run(fmt.Sprintf("%dx%d", s.rows, s.dim), func(b *testing.B) {
			for b.Loop() {
				figures(b, s.rows, s.dim).print(w)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	_, _ = io.WriteString(os.Stdout, table.String())
}

type benchSize struct{ rows, dim int }

func benchSizes() []benchSize {
	sizes := []benchSize{{10_000, 384}, {100_000, 384}, {100_000, 768}}
	if os.Getenv(benchMillion) != "" {
		sizes = append(sizes, benchSize{1_000_000, 384})
	}
	return sizes
}

// line is a line of the table.
type line struct {
	comparison
	dim             int
	load            time.Duration
	memory          uint64
	exactTwo, asked float64 // throughput of two clients
	machine         float64 // of two goroutines of arithmetic
}

// figures fills a collection and measures for about two seconds.
func figures(b *testing.B, rows, dim int) *line {
	before := heap()
	draw := clusters(dim)
	x := New(Config{})
	l := &line{comparison: comparison{index: x, rows: rows}, dim: dim}
	l.load = loadDrawn(b, x, rows, dim, draw)
	l.memory = heap() - before
	queries := make([][]float32, 200)
	for i := range queries {
		queries[i] = draw()
	}
	const enough = 2 * time.Second
	start := time.Now()
	for i := 0; i == 0 || time.Since(start) < enough; i++ {
		l.round(b, queries[i*inARow%len(queries):][:inARow], i)
	}
	var machine float64
	l.exactTwo, l.machine = twoClients(b, x, queries[:inARow], true)
	l.asked, machine = twoClients(b, x, queries, false)
	l.machine = (l.machine + machine) / 2
	return l
}

// loadDrawn loads so many vectors, and returns the time without the drawing.
func loadDrawn(b *testing.B, x *Index, rows, dim int, draw func() []float32) (loading time.Duration) {
	start, drawing := time.Now(), time.Duration(0)
	err := x.Load(context.Background(), testCollection, dim, func(yield func(store.VectorEntry, error) bool) {
		const batch = 1000 // reading the clock takes time too
		entries := make([]store.VectorEntry, 0, batch)
		for i := 0; i < rows; {
			pause := time.Now()
			entries = entries[:0]
			for ; i < rows && len(entries) < batch; i++ {
				entries = append(entries, store.VectorEntry{ID: benchID(i), Vector: draw()})
			}
			drawing += time.Since(pause)
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(start) - drawing
}

// twoClients tells how many times as many searches two clients get done as one,
// and beside it how much more arithmetic two goroutines get done: a search must
// not take the cores that another one needs, and a machine may not have them.
func twoClients(b *testing.B, x *Index, queries [][]float32, exact bool) (clients, machine float64) {
	client := func() {
		for _, query := range queries {
			if _, err := x.Search(context.Background(), testCollection, store.VectorQuery{Vector: query, K: 10, Exact: exact}); err != nil {
				b.Error(err)
			}
		}
	}
	var one, two, oneSum, twoSums []time.Duration
	timed(&one, client)
	sums := max(1, int(one[0]/timeOfSum())) // about as long as the searches
	arithmetic := func() {
		for range sums {
			runtime.KeepAlive(sum(sumSteps))
		}
	}
	for range 9 {
		timed(&one, client)
		timed(&two, func() { twice(client) })
		timed(&oneSum, arithmetic)
		timed(&twoSums, func() { twice(arithmetic) })
	}
	return 2 * quantile(one, .5) / quantile(two, .5), 2 * quantile(oneSum, .5) / quantile(twoSums, .5)
}

func twice(f func()) {
	var wg sync.WaitGroup
	wg.Go(f)
	wg.Go(f)
	wg.Wait()
}

// sumSteps take some ten microseconds.
const sumSteps = 10_000

// sum computes something that needs registers alone.
func sum(steps int) uint64 {
	x := uint64(steps)
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

func timeOfSum() time.Duration {
	best := time.Hour
	for range 100 {
		start := time.Now()
		runtime.KeepAlive(sum(sumSteps))
		best = min(best, time.Since(start))
	}
	return max(best, 1)
}

func (l *line) print(w io.Writer) {
	floor, exact, search := quantile(l.floor, .5), quantile(l.exact, .5), quantile(l.search, .5)
	chromem := quantile(l.chromem, .5)
	fmt.Fprintf(w, "%dx%d\t%.2fs\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t(%.1f)\t%.3f\t%.3f\t%.0f\t%.3f\t%.1f\t%.3f\t%.2f\t%.2f\t%.2f\t%.2f\t\n",
		l.rows, l.dim, l.load.Seconds(), float64(l.memory)/float64(l.rows),
		chromem, quantile(l.float, .5), floor, exact, exact/floor,
		search, quantile(l.search, .99), chromem/search, float64(l.found)/float64(l.wanted), float64(l.same)/float64(l.compared),
		quantile(l.among, .5), quantile(l.allow, .5), l.exactTwo, l.asked, l.machine)
}

// comparison holds the times of every way to search, and what they found.
type comparison struct {
	index *Index
	rows  int

	search, exact, among, allow, chromem, float, floor []time.Duration
	found, same, wanted, compared                      int
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
	ask(&c.allow, func(int) store.VectorQuery {
		return store.VectorQuery{Allow: func(id string) bool { return id[len(id)-2:] == "00" }}
	})
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

// someIDs draws one id in a hundred.
func someIDs(rows, seed int) []string {
	r := rand.New(rand.NewPCG(uint64(seed), 11))
	ids := make([]string, rows/100)
	for i := range ids {
		ids[i] = benchID(r.IntN(rows))
	}
	return ids
}
