package bm25

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ragagent/store"
)

// prose makes text whose words are as unevenly frequent as those of a language
// (Zipf), with a stop word after every other one.
type prose struct {
	words *rand.Zipf
	r     *rand.Rand
}

func newProse(seed uint64) *prose {
	r := rand.New(rand.NewPCG(seed, seed))
	return &prose{words: rand.NewZipf(r, 1.1, 30, 300_000), r: r}
}

func (p *prose) word() string {
	return wordOf(p.words.Uint64())
}

// wordOf makes the n-th most frequent word.
func wordOf(n uint64) string {
	return strconv.FormatUint(n*2654435761%1_000_003+676, 26)
}

// chunk has about 800 characters.
func (p *prose) chunk(document, n int) store.Chunk {
	var b strings.Builder
	for b.Len() < 800 {
		b.WriteString(letters(p.word()))
		b.WriteString([]string{" ", " the ", " of ", " and a "}[p.r.IntN(4)])
	}
	id := fmt.Sprintf("doc_%d", document)
	return store.Chunk{
		ID: store.ChunkID(id, 1, n, id), DocumentID: id, Ordinal: n,
		Title: letters(p.word() + " " + p.word() + " " + p.word()), Text: b.String(),
	}
}

// letters turns digits into letters, so that words can be stemmed.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r - '0' + 'q'
		}
		return r
	}, s)
}

// chunksOf makes n chunks in documents of ten.
func chunksOf(p *prose, n int) iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		for i := range n {
			if !yield(p.chunk(i/10, i%10), nil) {
				return
			}
		}
	}
}

// BenchmarkSearch asks five-word questions of 100,000 chunks of 800 characters
// (RAGAGENT_BENCH_CHUNKS sets another number) for the 100 best, and every tenth
// also of the exhaustive scoring of the tests. It prints medians and 99th
// percentiles, how many times slower the exhaustive one is, and what the index
// takes of memory per chunk as measured and as Bytes tells.
func BenchmarkSearch(b *testing.B) {
	const k = 100
	n := benchChunks()
	x := newIndex(b)
	before := heapBytes()
	started := time.Now()
	if err := x.Load(b.Context(), "kb", chunksOf(newProse(1), n)); err != nil {
		b.Fatal(err)
	}
	loaded := time.Since(started)
	size := heapBytes() - before
	p := newProse(2)
	var queries []string
	for range 1000 {
		queries = append(queries, letters(strings.Join([]string{p.word(), p.word(), p.word(), p.word(), p.word()}, " ")))
	}
	ask := func(query string, top func(*match)) time.Duration {
		started := time.Now()
		m, err := x.Search(b.Context(), []string{"kb"}, query)
		if err != nil {
			b.Fatal(err)
		}
		top(m.(*match))
		m.Release()
		return time.Since(started)
	}
	var pruned, full []time.Duration
	i := 0
	for b.Loop() {
		query := queries[i%len(queries)]
		pruned = append(pruned, ask(query, func(m *match) { m.Top(k) }))
		if i%10 == 0 {
			b.StopTimer()
			full = append(full, ask(query, func(m *match) { exhaustive(m, k) }))
			b.StartTimer()
		}
		i++
	}
	b.ReportMetric(quantile(pruned, .5), "p50_us")
	b.ReportMetric(quantile(pruned, .99), "p99_us")
	b.ReportMetric(quantile(full, .5), "exhaustive_p50_us")
	b.ReportMetric(quantile(full, .99), "exhaustive_p99_us")
	b.ReportMetric(quantile(full, .5)/quantile(pruned, .5), "times_faster")
	b.ReportMetric(float64(size)/float64(n), "heap_B/chunk")
	b.ReportMetric(float64(x.Bytes())/float64(n), "told_B/chunk")
	b.ReportMetric(float64(n)/loaded.Seconds(), "chunks_loaded/s")
}

// BenchmarkQuestions asks for the 100 best of as many chunks, what users type:
// ten to twenty words, two in five of them stop words; and five of the forty most
// frequent words. It prints medians and 99th percentiles.
func BenchmarkQuestions(b *testing.B) {
	x := newIndex(b)
	if err := x.Load(b.Context(), "kb", chunksOf(newProse(1), benchChunks())); err != nil {
		b.Fatal(err)
	}
	p := newProse(2)
	r := rand.New(rand.NewPCG(5, 6))
	stops := strings.Fields("the of what is in a and")
	var typed, frequent []string
	for range 500 {
		words := make([]string, 10+r.IntN(11))
		for i := range words {
			if words[i] = letters(p.word()); r.IntN(5) < 2 {
				words[i] = stops[r.IntN(len(stops))]
			}
		}
		typed = append(typed, strings.Join(words, " "))
		words = words[:5]
		for i := range words {
			words[i] = letters(wordOf(r.Uint64N(40)))
		}
		frequent = append(frequent, strings.Join(words, " "))
	}
	for name, queries := range map[string][]string{"typed": typed, "frequent": frequent} {
		b.Run(name, func(b *testing.B) {
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				started := time.Now()
				m, err := x.Search(b.Context(), []string{"kb"}, queries[i%len(queries)])
				if err != nil {
					b.Fatal(err)
				}
				m.Top(100)
				m.Release()
				times = append(times, time.Since(started))
			}
			b.ReportMetric(quantile(times, .5), "p50_us")
			b.ReportMetric(quantile(times, .99), "p99_us")
		})
	}
}

// quantile returns a quantile of times in microseconds.
func quantile(times []time.Duration, q float64) float64 {
	slices.Sort(times)
	return float64(times[int(q*float64(len(times)-1))].Nanoseconds()) / 1e3
}

// BenchmarkDelete deletes 10,000 documents of ten chunks one by one, and prints
// what one takes.
func BenchmarkDelete(b *testing.B) {
	n := benchChunks()
	for b.Loop() {
		b.StopTimer()
		x := newIndex(b)
		if err := x.Load(b.Context(), "kb", chunksOf(newProse(1), n)); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		var times []time.Duration
		for d := range n / 10 {
			started := time.Now()
			if err := x.Replace(b.Context(), "kb", fmt.Sprintf("doc_%d", d), sequence()); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(started))
		}
		total := time.Duration(0)
		for _, t := range times {
			total += t
		}
		b.ReportMetric(total.Seconds(), "all_s")
		b.ReportMetric(quantile(times, .5), "p50_us")
		b.ReportMetric(quantile(times, .99), "p99_us")
		b.ReportMetric(quantile(times, 1), "max_us")
	}
}

// benchChunks is how many chunks benchmarks work on.
func benchChunks() int {
	if n, err := strconv.Atoi(os.Getenv("RAGAGENT_BENCH_CHUNKS")); err == nil {
		return n
	}
	return 100_000
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkRestore saves and restores 100,000 chunks, and prints how long both
// take beside loading the texts.
func BenchmarkRestore(b *testing.B) {
	x := newIndex(b)
	started := time.Now()
	if err := x.Load(b.Context(), "kb", chunksOf(newProse(1), benchChunks())); err != nil {
		b.Fatal(err)
	}
	loaded := time.Since(started)
	started = time.Now()
	saved := save(b, x, "kb")
	b.ReportMetric(time.Since(started).Seconds()*1e3, "save-ms")
	best := loaded
	for b.Loop() {
		started := time.Now()
		if err := x.Restore(b.Context(), "kb", saved); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(started))
	}
	b.ReportMetric(loaded.Seconds()*1e3, "load-ms")
	b.ReportMetric(best.Seconds()*1e3, "best-restore-ms")
	b.ReportMetric(loaded.Seconds()/best.Seconds(), "times-faster-than-loading")
	b.ReportMetric(float64(len(saved))/float64(benchChunks()), "file-bytes/chunk")
}
