package retrieval_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/store"
	"ragagent/store/chromem"
)

// signEmbedder gives a text the vector of the first sign it holds.
type signEmbedder struct{ err error }

var signs = []string{"sun", "moon", "star"}

func (e signEmbedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if e.err != nil {
		return nil, e.err
	}
	for i, sign := range signs {
		if strings.Contains(text, sign) {
			v := make([]float32, len(signs))
			v[i] = 1
			return v, nil
		}
	}
	return nil, nil
}

func (e signEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i], _ = e.EmbedQuery(ctx, text)
	}
	return out, e.err
}

func (signEmbedder) Dim() int            { return len(signs) }
func (signEmbedder) Name() string        { return "test/signs" }
func (signEmbedder) Fingerprint() string { return "signs" }

// reverse is a reranker that turns the order round.
type reverse struct{}

func (reverse) Rerank(_ context.Context, _ string, hits []retrieval.Hit) ([]retrieval.Hit, error) {
	slices.Reverse(hits)
	return hits, nil
}

// stuck is a reranker that waits for its deadline, having spoilt its slice.
type stuck struct{}

func (stuck) Rerank(ctx context.Context, _ string, hits []retrieval.Hit) ([]retrieval.Hit, error) {
	clear(hits)
	<-ctx.Done()
	return nil, ctx.Err()
}

type rewriter func(text string, history []retrieval.Turn) (string, error)

func (r rewriter) Rewrite(_ context.Context, text string, history []retrieval.Turn) (string, error) {
	return r(text, history)
}

// world is a small set of knowledge bases behind a pipeline.
type world struct {
	*records
	index    *retrieval.Index
	vectors  *chromem.Index
	pipeline *retrieval.Pipeline
}

func newWorld(t *testing.T, change func(*retrieval.PipelineConfig)) *world {
	t.Helper()
	words, err := bm25.New(bm25.Config{Analyzer: analysis.New()})
	check(t, err)
	w := &world{records: newRecords(), vectors: chromem.New(chromem.Config{})}
	w.index, err = retrieval.NewIndex(retrieval.IndexConfig{Lexical: words, Vectors: w.vectors})
	check(t, err)
	cfg := retrieval.PipelineConfig{Index: w.index, Records: w, Embedders: []retrieval.Embedder{signEmbedder{}}}
	if change != nil {
		change(&cfg)
	}
	w.pipeline, err = retrieval.NewPipeline(cfg)
	check(t, err)
	for _, id := range []string{"kb_1", "kb_2"} {
		w.bases[id] = store.KnowledgeBase{ID: id, Name: "name of " + id, Embedder: "test/signs", Fingerprint: "signs"}
	}
	return w
}

// put stores and indexes a document with one chunk a text.
func (w *world) put(t *testing.T, kb, document string, texts ...string) {
	t.Helper()
	var chunks []store.Chunk
	for i, text := range texts {
		vector, err := signEmbedder{}.EmbedQuery(t.Context(), text)
		check(t, err)
		chunks = append(chunks, store.Chunk{
			ID: store.ChunkID(document, 1, i, text), KnowledgeBaseID: kb, DocumentID: document,
			Revision: 1, Ordinal: i, Text: text, Vector: vector,
		})
	}
	w.remove(document)
	w.add(chunks...)
	check(t, w.index.Replace(t.Context(), w.bases[kb], document, sequence(chunks)))
}

func (w *world) retrieve(t *testing.T, q retrieval.Query) retrieval.Result {
	t.Helper()
	if q.KnowledgeBases == nil {
		q.KnowledgeBases = []string{"kb_1"}
	}
	r, err := w.pipeline.Retrieve(t.Context(), q)
	check(t, err)
	return r
}

func documents(r retrieval.Result) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, h.DocumentID)
	}
	return out
}

// "words" has two of the question's words, "vector" one and its sign, "near"
// the sign only, in another form that words do not match.
func TestModes(t *testing.T) {
	w := newWorld(t, nil)
	w.put(t, "kb_1", "words", "harvest at night")
	w.put(t, "kb_1", "near", "moonlight upon everything")
	w.put(t, "kb_1", "vector", "night of the moon")
	w.put(t, "kb_1", "none", "a sun of gold")
	for mode, want := range map[retrieval.Mode][]string{
		retrieval.Lexical: {"vector", "words"},
		retrieval.Hybrid:  {"vector", "words", "near"},
		"":                {"vector", "words", "near"},
	} {
		got := documents(w.retrieve(t, retrieval.Query{Text: "moon harvest night", Mode: mode, TopK: 3}))
		slices.Sort(got[:2]) // which of the two leads is for the weights to say
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", mode, diff)
		}
	}
	got := w.retrieve(t, retrieval.Query{Text: "moon harvest night", Mode: retrieval.Dense, TopK: 2})
	if len(got.Hits) != 2 || got.Hits[0].Score != retrieval.Calibrate(1) || got.Hits[1].Score != got.Hits[0].Score ||
		got.Hits[0].ID > got.Hits[1].ID {
		t.Errorf("dense: %v", got.Hits)
	}
}

// A question the embedder has nothing to say about is ranked by words; by
// vectors alone it finds nothing, and the result says why.
func TestQuestionWithoutVector(t *testing.T) {
	w := newWorld(t, nil)
	w.put(t, "kb_1", "a", "a clear night")
	got := w.retrieve(t, retrieval.Query{Text: "clear night"})
	if diff := cmp.Diff([]string{"a"}, documents(got)); diff != "" || got.Degraded != nil {
		t.Error(diff, got.Degraded)
	}
	got = w.retrieve(t, retrieval.Query{Text: "clear night", Mode: retrieval.Dense})
	if len(got.Hits) != 0 || len(got.Degraded) != 1 {
		t.Error(documents(got), got.Degraded)
	}
}

func TestValidation(t *testing.T) {
	w := newWorld(t, nil)
	base := retrieval.Query{Text: "sun", KnowledgeBases: []string{"kb_1"}}
	for field, change := range map[string]func(*retrieval.Query){
		"query":           func(q *retrieval.Query) { q.Text = " \n" },
		"knowledge_bases": func(q *retrieval.Query) { q.KnowledgeBases = nil },
		"top_k":           func(q *retrieval.Query) { q.TopK = store.MaxTopK + 1 },
		"score_threshold": func(q *retrieval.Query) { q.ScoreThreshold = math.NaN() },
		"mode":            func(q *retrieval.Query) { q.Mode = "guess" },
	} {
		q := base
		change(&q)
		_, err := w.pipeline.Retrieve(t.Context(), q)
		var invalid *store.FieldError
		if !errors.As(err, &invalid) || invalid.Field != field || !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", field, err)
		}
	}
	q := base
	q.Text = strings.Repeat("a", retrieval.MaxQueryBytes+1)
	if _, err := w.pipeline.Retrieve(t.Context(), q); !errors.Is(err, store.ErrInvalid) {
		t.Error(err)
	}
	q = base
	q.KnowledgeBases = []string{"kb_9"}
	if _, err := w.pipeline.Retrieve(t.Context(), q); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

func TestDeletedIsNeverReturned(t *testing.T) {
	w := newWorld(t, nil)
	w.put(t, "kb_1", "a", "sun one", "sun two")
	w.put(t, "kb_1", "b", "sun three")
	w.put(t, "kb_1", "a") // deleted everywhere
	got := w.retrieve(t, retrieval.Query{Text: "sun"})
	if diff := cmp.Diff([]string{"b"}, documents(got)); diff != "" {
		t.Error(diff)
	}
	n, err := w.vectors.Count(t.Context(), "kb_1@signs")
	check(t, err)
	if n != 1 {
		t.Errorf("%d vectors are left", n)
	}
	w.remove("b") // deleted from the truth, not yet from the indexes
	if got := w.retrieve(t, retrieval.Query{Text: "sun"}); len(got.Hits) != 0 {
		t.Error(documents(got))
	}
}

func TestCutsAndNames(t *testing.T) {
	w := newWorld(t, nil)
	for _, d := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		w.put(t, "kb_1", d, "sun over "+d+d+d)
	}
	if got := w.retrieve(t, retrieval.Query{Text: "sun"}); len(got.Hits) != retrieval.DefaultTopK {
		t.Errorf("%d hits by default", len(got.Hits))
	}
	kb := w.bases["kb_1"]
	kb.Retrieval = store.RetrievalSettings{TopK: 2}
	w.bases["kb_1"] = kb
	got := w.retrieve(t, retrieval.Query{Text: "sun bbb"})
	if diff := cmp.Diff([]string{"b"}, documents(got)[:1]); diff != "" || len(got.Hits) != 2 {
		t.Error(documents(got))
	}
	first := got.Hits[0]
	if first.DocumentName != "b" || first.KnowledgeBaseName != "name of kb_1" || first.Text != "sun over bbb" || first.Vector != nil {
		t.Errorf("%+v", first)
	}
	threshold := (got.Hits[0].Score + got.Hits[1].Score) / 2
	got = w.retrieve(t, retrieval.Query{Text: "sun bbb", ScoreThreshold: threshold})
	if diff := cmp.Diff([]string{"b"}, documents(got)); diff != "" {
		t.Error(diff)
	}
	for _, h := range w.retrieve(t, retrieval.Query{Text: "sun over bbb", TopK: 9}).Hits {
		if h.Score <= 0 || h.Score > 1 {
			t.Errorf("score %v", h.Score)
		}
	}
}

func TestSeveralKnowledgeBases(t *testing.T) {
	w := newWorld(t, nil)
	w.put(t, "kb_1", "a", "the sun is far")
	w.put(t, "kb_2", "b", "the sun and the moon are far")
	got := w.retrieve(t, retrieval.Query{Text: "moon sun far", KnowledgeBases: []string{"kb_1", "kb_2", "kb_1"}})
	if diff := cmp.Diff([]string{"b", "a"}, documents(got)); diff != "" {
		t.Error(diff)
	}
	if got.Hits[0].KnowledgeBaseName != "name of kb_2" {
		t.Error(got.Hits[0].KnowledgeBaseName)
	}
	check(t, w.index.Drop(t.Context(), "kb_2"))
	got = w.retrieve(t, retrieval.Query{Text: "moon sun far", KnowledgeBases: []string{"kb_1", "kb_2"}})
	if diff := cmp.Diff([]string{"a"}, documents(got)); diff != "" {
		t.Error(diff)
	}
}

func TestDegraded(t *testing.T) {
	broken := errors.New("no such server")
	for name, test := range map[string]struct {
		change func(*retrieval.PipelineConfig)
		want   string
	}{
		"embedder fails": {func(c *retrieval.PipelineConfig) { c.Embedders = []retrieval.Embedder{signEmbedder{broken}} },
			"dense: embed the question with test/signs: no such server"},
		"embedder missing": {func(c *retrieval.PipelineConfig) { c.Embedders = nil },
			"dense: the embedder of name of kb_1, test/signs, is not available"},
		"rewriter fails": {func(c *retrieval.PipelineConfig) {
			c.Rewriter = rewriter(func(string, []retrieval.Turn) (string, error) { return "", broken })
		}, "rewrite: no such server"},
		"reranker hangs": {func(c *retrieval.PipelineConfig) {
			c.Rerankers = []retrieval.Reranker{stuck{}}
			c.RerankTimeout = time.Millisecond
		}, "rerank: context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, test.change)
			w.put(t, "kb_1", "a", "sun one")
			w.put(t, "kb_1", "b", "sun and moon")
			got := w.retrieve(t, retrieval.Query{Text: "moon sun"})
			if diff := cmp.Diff([]string{test.want}, got.Degraded); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"b", "a"}, documents(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStagesInOrder(t *testing.T) {
	w := newWorld(t, func(c *retrieval.PipelineConfig) {
		c.Rewriter = rewriter(func(text string, history []retrieval.Turn) (string, error) {
			return text + " " + history[0].Text, nil
		})
		c.Rerankers = []retrieval.Reranker{reverse{}}
	})
	w.put(t, "kb_1", "a", "sun one")
	w.put(t, "kb_1", "b", "sun and moon")
	q := retrieval.Query{Text: "sun", History: []retrieval.Turn{{Role: "user", Text: "moon"}}, Explain: true}
	got := w.retrieve(t, q)
	if got.Query != "sun" || got.Rewritten != "sun moon" {
		t.Errorf("%q, %q", got.Query, got.Rewritten)
	}
	if diff := cmp.Diff([]string{"a", "b"}, documents(got)); diff != "" {
		t.Error(diff)
	}
	q.NoRewrite, q.NoRerank = true, true
	got = w.retrieve(t, q)
	if got.Rewritten != "" || len(got.Terms) != 1 || got.Terms[0].Term != "sun" || got.Terms[0].DF != 2 {
		t.Errorf("%+v", got)
	}
	for _, h := range got.Hits {
		if want := retrieval.Calibrate(h.Explain.Value); h.Score != want {
			t.Errorf("score %v, explained %v", h.Score, want)
		}
		if sum := sumOf(h.Explain.Details); math.Abs(sum-h.Explain.Value) > 1e-12 {
			t.Errorf("parts %v of %v", sum, h.Explain.Value)
		}
	}
}

func sumOf(parts []retrieval.Explanation) float64 {
	sum := 0.
	for _, p := range parts {
		sum += p.Value
	}
	return sum
}

func TestCancelled(t *testing.T) {
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.pipeline.Retrieve(ctx, retrieval.Query{Text: "sun", KnowledgeBases: []string{"kb_1"}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCalibration(t *testing.T) {
	for _, evidence := range []float64{0, .01, .3, .7, 1.2} {
		if got := retrieval.Evidence(retrieval.Calibrate(evidence)); math.Abs(got-evidence) > 1e-12 {
			t.Errorf("%v became %v", evidence, got)
		}
	}
	if retrieval.Calibrate(-1) != 0 || math.IsInf(retrieval.Evidence(1), 1) {
		t.Error("bounds")
	}
}
