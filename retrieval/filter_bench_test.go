package retrieval_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/store"
	"ragagent/store/chromem"
)

// randomEmbedder gives each text a direction of its own.
type randomEmbedder struct{ signEmbedder }

const randomDim = 384

func (randomEmbedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	seed := uint64(14695981039346656037)
	for _, b := range []byte(text) {
		seed = (seed ^ uint64(b)) * 1099511628211
	}
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // test data
	v, sum := make([]float32, randomDim), 0.
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v, nil
}

func (randomEmbedder) Dim() int { return randomDim }

// BenchmarkFilter asks the same questions with filters that keep more and more
// documents. RAGAGENT_FILTER_DOCS says how many there are.
//
//	RAGAGENT_FILTER_DOCS=100000 go test -run '^$' -bench Filter -benchtime 1x ./retrieval
func BenchmarkFilter(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("RAGAGENT_FILTER_DOCS"))
	if err != nil {
		n = 2000
	}
	w := newTagged(b)
	w.pipeline, err = retrieval.NewPipeline(retrieval.PipelineConfig{
		Index: w.index, Records: w, Embedders: []retrieval.Embedder{randomEmbedder{}},
	})
	check(b, err)
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // test data
	vocabulary := rand.NewZipf(r, 1.1, 20, 30_000)
	text := func(words int) string {
		out := make([]string, words)
		for i := range out {
			out[i] = "w" + strconv.FormatUint(vocabulary.Uint64(), 36)
		}
		return strings.Join(out, " ")
	}
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		id, body := fmt.Sprintf("doc_%032d", i), text(80)
		vector, err := randomEmbedder{}.EmbedQuery(b.Context(), body)
		check(b, err)
		w.add(store.Chunk{ID: store.ChunkID(id, 1, 0, body), KnowledgeBaseID: "kb_1", DocumentID: id, Revision: 1, Text: body, Vector: vector})
		w.describe(id, store.Metadata{
			"number": float64(i), "percent": float64(r.IntN(100)), "half": r.IntN(2) == 0,
			"author": fmt.Sprint("author ", r.IntN(1000)), "tags": []string{fmt.Sprint(r.IntN(100)), fmt.Sprint(r.IntN(100))},
		})
		d := w.documents[id]
		d.Name, d.MIME, d.Bytes = id+".md", "text/markdown", int64(r.IntN(1e6))
		d.CreatedAt, d.UpdatedAt = day.Add(time.Duration(i)*time.Minute), day.Add(time.Duration(i)*time.Minute)
		w.documents[id] = d
	}
	w.reload(b)
	perDocument := float64(w.index.Bytes()-indexBytes(b, w)) / float64(n)
	questions := make([]string, 200)
	for i := range questions {
		questions[i] = text(5)
	}
	var table strings.Builder
	for b.Loop() {
		table.Reset()
		base := time.Duration(0)
		for _, c := range []struct{ name, filter string }{
			{"none", ``},
			{"1 document", fmt.Sprintf(`{"number":%d}`, n/2)},
			{"1 %", `{"percent":7}`},
			{"1 %, string in list", `{"tags":["7"]}`},
			{"10 %", `{"percent":{"lt":10}}`},
			{"50 %", `{"half":true}`},
			{"50 %, time", fmt.Sprintf(`{"created_at":{"ge":%q}}`, day.Add(time.Duration(n/2)*time.Minute).Format(time.RFC3339))},
			{"all", `{"number":{"ge":0}}`},
			{"all but one", fmt.Sprintf(`{"number":{"ne":%d}}`, n/2)},
			{"part of a name", `{"name":{"contains":"77"}}`},
			{"four conditions", `{"half":true,"percent":{"ge":50},"or":[{"tags":"7"},{"author":{"ne":"author 7"}}]}`},
		} {
			q := retrieval.Query{KnowledgeBases: []string{"kb_1"}, TopK: 10, Filter: parsed(b, c.filter)}
			var times []time.Duration
			for round := range 2 {
				times = times[:0]
				for _, q.Text = range questions[:len(questions)>>(1-round)] {
					started := time.Now()
					w.find(b, q)
					times = append(times, time.Since(started))
				}
			}
			slices.Sort(times)
			p50, p95 := times[len(times)/2], times[len(times)*95/100]
			if c.filter == "" {
				base = p50
			}
			fmt.Fprintf(&table, "\n%-20s p50 %8.3f ms  p95 %8.3f ms  %5.2f times the p50 without", c.name, ms(p50), ms(p95), float64(p50)/float64(base))
		}
	}
	b.ReportMetric(perDocument, "metadata-B/doc")
	fmt.Fprintln(os.Stderr, table.String()) // a benchmark's log is cut after ten lines
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// indexBytes is what the words and vectors take in an index without metadata.
func indexBytes(b *testing.B, w *tagged) int64 {
	words, err := bm25.New(bm25.Config{Analyzer: analysis.New()})
	check(b, err)
	plain := &tagged{&world{records: w.records}}
	plain.index, err = retrieval.NewIndex(retrieval.IndexConfig{Lexical: words, Vectors: chromem.New(chromem.Config{})})
	check(b, err)
	plain.reload(b)
	return plain.index.Bytes()
}
