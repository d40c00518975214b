package calibrate_test

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ragagent/rerank/lexical"
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/retrieval/calibrate"
	"ragagent/retrieval/embed"
	"ragagent/retrieval/eval"
	"ragagent/store"
	"ragagent/store/chromem"
)

// mostLost is what vectors may take from the nDCG@10 of words alone, on any
// collection and with any embedder.
const mostLost = .003

// TestEmbedders measures collections with embedders from useless to good, each
// with the weight that it is given, beside words alone:
//
//	RAGAGENT_QUALITY=all go test -v -run TestEmbedders -timeout 30m ./retrieval/calibrate
//	RAGAGENT_QUALITY=cranfield,xquad/de go test ...
//
// Of larger collections the first 1,000 questions are asked.
func TestEmbedders(t *testing.T) {
	chosen := os.Getenv("RAGAGENT_QUALITY")
	if chosen == "" {
		t.Skip("RAGAGENT_QUALITY is not set: it takes minutes")
	}
	static, err := embed.NewStatic()
	check(t, err)
	for _, name := range []string{"cranfield", "hotpotqa-100", "cmrc2018-dev", "pubmedqa", "squad-mix", "squad-dev", "xquad/de", "xquad/es", "xquad/ru", "xquad/ar"} {
		if chosen != "all" && !slices.Contains(strings.Split(chosen, ","), name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			set := openSet(t, name)
			for _, e := range embedders(static) {
				b := newBench(t, set, e)
				words := b.ndcg(t, 0)
				w := b.calibrated(t)
				both := b.ndcg(t, w.Weight)
				t.Logf("%-13s agreement %5.2f +- %.2f, weight %.3f (x spread %.4f): ndcg@10 %.4f, words alone %.4f, %+.4f",
					e.name, w.Agreement, w.Error, w.Weight, w.Weight*w.Spread, both, words, both-words)
				if both < words-mostLost {
					t.Errorf("%s takes %.4f from words alone", e.name, words-both)
				}
				if strings.HasPrefix(e.name, "random") && w.Weight*w.Spread > .002 {
					t.Errorf("%s weighs %.4f", e.name, w.Weight)
				}
			}
		})
	}
}

// madeEmbedder gives a text what vector makes of it.
type madeEmbedder struct {
	name   string
	vector func(text string) []float64
}

func embedders(static *embed.Static) []madeEmbedder {
	builtin := func(text string) []float64 {
		v, _ := static.EmbedQuery(context.Background(), text) // it never fails
		out := make([]float64, static.Dim())
		for i, x := range v {
			out[i] = float64(x)
		}
		return out
	}
	random := func(dim int, draw func(*rand.Rand) float64) func(string) []float64 {
		return func(text string) []float64 { return drawn(text, dim, draw) }
	}
	normal, uniform := (*rand.Rand).NormFloat64, (*rand.Rand).Float64
	return []madeEmbedder{
		{"random 8", random(8, normal)},
		{"random 64", random(64, normal)},
		{"random 384", random(384, normal)},
		{"random, all positive", random(64, uniform)},
		{"words", func(text string) []float64 { return summed(strings.Fields(strings.ToLower(text)), 64) }},
		{"trigrams", func(text string) []float64 { return summed(trigrams(text), 256) }},
		{"noisy", func(text string) []float64 { // half built-in, half random
			v, noise := builtin(text), normalised(drawn(text, static.Dim(), normal))
			for i := range v {
				v[i] += float64(noise[i])
			}
			return v
		}},
		{"built-in", builtin},
		{"narrow", func(text string) []float64 { return append(builtin(text), 1.5) }}, // all cosines above .6
	}
}

func drawn(seed string, dim int, draw func(*rand.Rand) float64) []float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed))
	r := rand.New(rand.NewPCG(h.Sum64(), 7))
	v := make([]float64, dim)
	for i := range v {
		v[i] = draw(r)
	}
	return v
}

// summed adds up random directions, one for each part of a text.
func summed(parts []string, dim int) []float64 {
	v := make([]float64, dim)
	for _, p := range parts {
		for i, x := range drawn(p, dim, (*rand.Rand).NormFloat64) {
			v[i] += x
		}
	}
	return v
}

func trigrams(text string) (out []string) {
	runes := []rune(strings.ToLower(text))
	for i := 0; i+3 <= len(runes); i++ {
		out = append(out, string(runes[i:i+3]))
	}
	return out
}

func normalised(v []float64) []float32 {
	norm := 0.
	for _, x := range v {
		norm += x * x
	}
	if norm == 0 {
		return nil
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(norm))
	}
	return out
}

func (e madeEmbedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return normalised(e.vector(text)), nil
}

func (e madeEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = normalised(e.vector(text))
	}
	return out, nil
}

func (e madeEmbedder) Dim() int            { return len(e.vector("dimension")) }
func (e madeEmbedder) Name() string        { return "made/" + e.name }
func (e madeEmbedder) Fingerprint() string { return e.name }

// bench is a collection in a pipeline, one chunk a document.
type bench struct {
	set      *eval.Dataset
	kb       store.KnowledgeBase
	chunks   map[string]store.Chunk
	index    *retrieval.Index
	pipeline *retrieval.Pipeline
	weight   float64
}

func openSet(t *testing.T, name string) *eval.Dataset {
	t.Helper()
	shared := os.Getenv("RAGAGENT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(shared, "data", filepath.FromSlash(name))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no test collection: %v", err)
	}
	set, err := eval.OpenDataset(dir, "")
	check(t, err)
	set.Queries = set.Queries[:min(len(set.Queries), 1000)]
	return set
}

func newBench(t *testing.T, set *eval.Dataset, e retrieval.Embedder) *bench {
	t.Helper()
	b := &bench{
		set: set, chunks: make(map[string]store.Chunk),
		kb: store.KnowledgeBase{ID: "kb_1", Name: set.Name, Embedder: e.Name(), Fingerprint: e.Fingerprint()},
	}
	analyzer := analysis.New()
	words, err := bm25.New(bm25.Config{Analyzer: analyzer})
	check(t, err)
	second, err := lexical.New(lexical.Config{Analyzer: analyzer, Statistics: words})
	check(t, err)
	b.index, err = retrieval.NewIndex(retrieval.IndexConfig{Lexical: words, Vectors: chromem.New(chromem.Config{})})
	check(t, err)
	b.pipeline, err = retrieval.NewPipeline(retrieval.PipelineConfig{
		Index: b.index, Records: b, Embedders: []retrieval.Embedder{e}, Rerankers: []retrieval.Reranker{second},
		DenseWeight: func(store.KnowledgeBase) float64 { return b.weight },
	})
	check(t, err)
	var chunks []store.Chunk
	for doc, err := range set.Corpus().Documents(t.Context()) {
		check(t, err)
		v, err := e.EmbedQuery(t.Context(), strings.TrimSpace(doc.Title+" "+doc.Text))
		check(t, err)
		c := store.Chunk{ID: doc.ID, KnowledgeBaseID: "kb_1", DocumentID: doc.ID, Revision: 1, Title: doc.Title, Text: doc.Text, Vector: v}
		b.chunks[c.ID] = c
		chunks = append(chunks, c)
	}
	b.kb.ChunkCount = len(chunks)
	check(t, b.index.Load(t.Context(), b.kb, func(yield func(store.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}))
	return b
}

func (b *bench) KnowledgeBase(context.Context, string) (store.KnowledgeBase, error) { return b.kb, nil }

func (b *bench) KnowledgeBases(context.Context, store.Page) ([]store.KnowledgeBase, error) {
	return []store.KnowledgeBase{b.kb}, nil
}

func (b *bench) DocumentsByID(_ context.Context, ids []string) (out []store.Document, err error) {
	for _, id := range ids {
		out = append(out, store.Document{ID: id, KnowledgeBaseID: b.kb.ID})
	}
	return out, nil
}

func (b *bench) ChunksByID(_ context.Context, ids []string) (out []store.Chunk, err error) {
	for _, id := range ids {
		out = append(out, b.chunks[id])
	}
	return out, nil
}

func (b *bench) calibrated(t *testing.T) retrieval.DenseWeight {
	t.Helper()
	c, err := calibrate.New(calibrate.Config{Space: b.pipeline, Records: b, Sample: b.index.Sample})
	check(t, err)
	check(t, c.Ensure(t.Context(), b.kb))
	return c.Weight(b.kb)
}

// ndcg asks all questions with a weight.
func (b *bench) ndcg(t *testing.T, weight float64) float64 {
	t.Helper()
	b.weight = weight
	run, judged := make(eval.Run), make(eval.Qrels)
	for _, q := range b.set.Queries {
		found, err := b.pipeline.Retrieve(t.Context(), retrieval.Query{Text: q.Text, KnowledgeBases: []string{"kb_1"}, TopK: 10})
		check(t, err)
		for _, h := range found.Hits {
			run[q.ID] = append(run[q.ID], eval.Scored{ID: h.DocumentID, Score: h.Score})
		}
		judged[q.ID] = b.set.Qrels[q.ID]
	}
	ndcg10 := eval.Measure{Kind: eval.NDCG, Cut: 10}
	scores, err := eval.Evaluate(judged, run, []eval.Measure{ndcg10})
	check(t, err)
	return scores.Mean(ndcg10)
}
