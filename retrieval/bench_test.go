package retrieval_test

import (
	"context"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ragagent/rerank/lexical"
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/retrieval/embed"
	"ragagent/retrieval/eval"
	"ragagent/retrieval/lsa"
	"ragagent/retrieval/rewrite"
	"ragagent/store"
	"ragagent/store/chromem"
)

// openSet opens a collection of the shared data, or skips the test.
func openSet(t testing.TB, name string) *eval.Dataset {
	t.Helper()
	shared := os.Getenv("RAGAGENT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	dir := filepath.Join(shared, "data", filepath.FromSlash(name))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no test collection: %v", err)
	}
	data, err := eval.OpenDataset(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// records is a record store in memory.
type records struct {
	mu        sync.Mutex
	bases     map[string]store.KnowledgeBase
	documents map[string]store.Document
	chunks    map[string]store.Chunk
}

func newRecords() *records {
	return &records{
		bases:     make(map[string]store.KnowledgeBase),
		documents: make(map[string]store.Document),
		chunks:    make(map[string]store.Chunk),
	}
}

func (r *records) KnowledgeBase(_ context.Context, id string) (store.KnowledgeBase, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kb, ok := r.bases[id]
	if !ok {
		return kb, store.ErrNotFound
	}
	return kb, nil
}

func (r *records) Document(_ context.Context, _, id string) (store.Document, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	doc, ok := r.documents[id]
	if !ok {
		return doc, store.ErrNotFound
	}
	return doc, nil
}

func (r *records) DocumentsByID(_ context.Context, ids []string) (out []store.Document, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		if doc, ok := r.documents[id]; ok {
			out = append(out, doc)
		}
	}
	return out, nil
}

func (r *records) ChunksByID(_ context.Context, ids []string) ([]store.Chunk, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []store.Chunk
	for _, id := range ids {
		if c, ok := r.chunks[id]; ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// add stores the chunks of one document.
func (r *records) add(chunks ...store.Chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked(chunks)
}

func (r *records) addLocked(chunks []store.Chunk) {
	for _, c := range chunks {
		r.chunks[c.ID] = c
		r.documents[c.DocumentID] = store.Document{ID: c.DocumentID, KnowledgeBaseID: c.KnowledgeBaseID, Name: c.DocumentID, Revision: c.Revision}
	}
}

// replace puts chunks in the place of those of a document, in one step.
func (r *records) replace(documentID string, chunks ...store.Chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeLocked(documentID)
	r.addLocked(chunks)
}

// remove forgets a document with its chunks.
func (r *records) remove(documentID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeLocked(documentID)
}

func (r *records) removeLocked(documentID string) {
	delete(r.documents, documentID)
	maps.DeleteFunc(r.chunks, func(_ string, c store.Chunk) bool { return c.DocumentID == documentID })
}

// bench is a collection loaded into a pipeline with the built-in parts.
type bench struct {
	data     *eval.Dataset
	analyzer *analysis.Analyzer
	index    *retrieval.Index
	pipeline *retrieval.Pipeline
	load     time.Duration
	settle   time.Duration // what topics took
}

func newBench(t testing.TB, data *eval.Dataset) *bench {
	t.Helper()
	embedder, err := embed.NewStatic()
	check(t, err)
	analyzer := analysis.New()
	words, err := bm25.New(bm25.Config{Analyzer: analyzer})
	check(t, err)
	topics, err := lsa.New(lsa.Config{Words: words})
	check(t, err)
	config := retrieval.IndexConfig{Lexical: words, Vectors: chromem.New(chromem.Config{}), Topics: topics}
	if os.Getenv("RAGAGENT_TOPICS") == "none" {
		config.Topics = nil
	}
	index, err := retrieval.NewIndex(config)
	check(t, err)
	reranker, err := lexical.New(lexical.Config{Analyzer: analyzer, Statistics: words})
	check(t, err)
	rec := newRecords()
	kb := store.KnowledgeBase{ID: "kb_1", Name: data.Name, Embedder: embedder.Name(), Fingerprint: embedder.Fingerprint()}
	rec.bases[kb.ID] = kb
	pipeline, err := retrieval.NewPipeline(retrieval.PipelineConfig{
		Index:     index,
		Records:   rec,
		Embedders: []retrieval.Embedder{embedder},
		Rewriter:  rewrite.New(rewrite.Config{Analyzer: analyzer}),
		Rerankers: []retrieval.Reranker{reranker},
	})
	check(t, err)
	chunks := corpusChunks(t, data, kb, embedder)
	for _, c := range chunks {
		rec.add(c)
	}
	started := time.Now()
	check(t, index.Load(t.Context(), kb, sequence(chunks)))
	loaded := time.Since(started)
	check(t, topics.Settle(t.Context()))
	return &bench{data: data, analyzer: analyzer, index: index, pipeline: pipeline, load: loaded, settle: time.Since(started) - loaded}
}

// corpusChunks makes one chunk of every document of a collection.
func corpusChunks(t testing.TB, data *eval.Dataset, kb store.KnowledgeBase, e retrieval.Embedder) []store.Chunk {
	t.Helper()
	var chunks []store.Chunk
	for doc, err := range data.Corpus().Documents(t.Context()) {
		check(t, err)
		vectors, err := e.Embed(t.Context(), []string{strings.TrimSpace(doc.Title + " " + doc.Text)})
		check(t, err)
		chunks = append(chunks, store.Chunk{
			ID: doc.ID, KnowledgeBaseID: kb.ID, DocumentID: doc.ID, Revision: 1,
			Title: doc.Title, Text: doc.Text, Vector: vectors[0],
		})
	}
	return chunks
}

// run asks all questions of the collection and measures the rankings.
func (b *bench) run(t testing.TB, q retrieval.Query) (eval.Scores, []time.Duration) {
	t.Helper()
	ranking := make(eval.Run)
	var times []time.Duration
	for _, question := range b.data.Queries {
		q.Text, q.KnowledgeBases, q.TopK = question.Text, []string{"kb_1"}, 100
		result, err := b.pipeline.Retrieve(t.Context(), q)
		check(t, err)
		times = append(times, result.Elapsed)
		for _, hit := range retrieval.Unfold(result.Hits) {
			ranking[question.ID] = append(ranking[question.ID], eval.Scored{ID: hit.DocumentID, Score: hit.Score})
		}
	}
	scores, err := eval.Evaluate(b.data.Qrels, ranking, []eval.Measure{ndcg10, recall10, recall100, complete10})
	check(t, err)
	return scores, times
}

func sequence(chunks []store.Chunk) iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
