package chromem

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"ragagent/store"
)

// benchMillion names the variable that adds a million vectors to
// BenchmarkFigures: 3 GB of memory and half a minute.
const benchMillion = "RAGAGENT_BENCH_MILLION"

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
