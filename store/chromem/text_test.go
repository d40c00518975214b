package chromem_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ragagent/retrieval/embed"
	"ragagent/store"
	"ragagent/store/chromem"
)

// textSets are the collections in the shared data that texts are taken from.
var textSets = []string{"squad-mix", "squad-dev", "hotpotqa-100", "pubmedqa", "cranfield", "cmrc2018-dev"}

// BenchmarkText searches vectors of real sentences for those of real questions,
// as the built-in embedder makes them: questions lie elsewhere than sentences,
// which is what approximate indexes find hard. Median and 99th percentile in
// milliseconds, and the share of the exact ten that was found.
func BenchmarkText(b *testing.B) {
	x, questions := textIndex(b, 100_000, chromem.Config{})
	var approximate, exact []time.Duration
	found, wanted := 0, 0
	for b.Loop() {
		for _, question := range questions {
			query := store.VectorQuery{Vector: question, K: 10}
			start := time.Now()
			got, err := x.Search(b.Context(), "text", query)
			approximate = append(approximate, time.Since(start))
			if err != nil {
				b.Fatal(err)
			}
			query.Exact = true
			start = time.Now()
			want, err := x.Search(b.Context(), "text", query)
			exact = append(exact, time.Since(start))
			if err != nil {
				b.Fatal(err)
			}
			found, wanted = found+inBoth(got, want), wanted+len(want)
		}
	}
	at := func(times []time.Duration, q float64) float64 {
		slices.Sort(times)
		return float64(times[int(q*float64(len(times)-1))]) / 1e6
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(at(approximate, .5), "search-ms")
	b.ReportMetric(at(approximate, .99), "p99-ms")
	b.ReportMetric(at(exact, .5), "exact-ms")
	b.ReportMetric(float64(found)/float64(wanted), "recall")
}

// Real questions find at least 99 of 100 of what an exact search finds.
func TestRecallOnText(t *testing.T) {
	x, questions := textIndex(t, 20_000, chromem.Config{ExactUpTo: 5000})
	for _, k := range []int{1, 10, 100} {
		found, wanted := 0, 0
		for i := 0; i < len(questions); i += 7 {
			query := store.VectorQuery{Vector: questions[i], K: k}
			got, err := x.Search(t.Context(), "text", query)
			if err != nil {
				t.Fatal(err)
			}
			query.Exact = true
			want, err := x.Search(t.Context(), "text", query)
			if err != nil {
				t.Fatal(err)
			}
			found, wanted = found+inBoth(got, want), wanted+len(want)
		}
		if recall := float64(found) / float64(wanted); recall < .99 {
			t.Errorf("recall at %d: %v of %d", k, recall, wanted)
		}
	}
}

func inBoth(a, b []store.VectorHit) int {
	n := 0
	for _, h := range a {
		if slices.Contains(b, h) {
			n++
		}
	}
	return n
}

// textIndex returns an index of so many passages, sentences and pairs of
// sentences, and the vectors of questions.
func textIndex(t testing.TB, rows int, config chromem.Config) (*chromem.Index, [][]float32) {
	t.Helper()
	shared := os.Getenv("RAGAGENT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	seen := make(map[string]bool)
	var texts []string
	var questions []string
	for _, set := range textSets {
		for _, passage := range readTexts(t, filepath.Join(shared, "data", set, "corpus.jsonl")) {
			for _, text := range pieces(passage) {
				if len(texts) < rows && !seen[text] {
					seen[text] = true
					texts = append(texts, text)
				}
			}
		}
		all := readTexts(t, filepath.Join(shared, "data", set, "queries.jsonl"))
		questions = append(questions, all[:min(len(all), 200)]...)
	}
	embedder, err := embed.NewStatic()
	if err != nil {
		t.Fatal(err)
	}
	x := chromem.New(config)
	if err := x.CreateCollection(t.Context(), "text", embedder.Dim()); err != nil {
		t.Fatal(err)
	}
	var change store.VectorChange
	for batch := range slices.Chunk(texts, 256) {
		vectors, err := embedder.Embed(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vectors {
			if v != nil {
				change.Add = append(change.Add, store.VectorEntry{ID: fmt.Sprintf("chunk%07d", len(change.Add)), Vector: v})
			}
		}
	}
	if err := x.Apply(t.Context(), "text", change); err != nil {
		t.Fatal(err)
	}
	var queries [][]float32
	for _, question := range questions {
		v, err := embedder.EmbedQuery(t.Context(), question)
		if err != nil {
			t.Fatal(err)
		}
		if v != nil {
			queries = append(queries, v)
		}
	}
	return x, queries
}

// pieces are a passage, its sentences and its pairs of sentences.
func pieces(passage string) []string {
	all := []string{passage}
	last := ""
	for sentence := range strings.SplitAfterSeq(strings.ReplaceAll(passage, "。", "。. "), ". ") {
		if len(sentence) < 20 {
			continue
		}
		all = append(all, sentence)
		if last != "" {
			all = append(all, last+sentence)
		}
		last = sentence
	}
	return all
}

// readTexts returns the field "text" of each line.
func readTexts(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no test collection: %v", err)
	}
	var texts []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var record struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, record.Text)
	}
	return texts
}
