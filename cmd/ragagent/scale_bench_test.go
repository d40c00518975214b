package main

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ragagent/retrieval"
	"ragagent/retrieval/embed"
	"ragagent/store"
)

// A data folder for the benchmarks: 10,000 documents of 10 chunks, 800
// characters and one vector of the built-in embedder's dimension each.
const (
	scaleDocuments = 10_000
	scaleChunks    = 10 // of a document
	scaleText      = 800
)

// BenchmarkScale measures, on 100,000 chunks, writing them durably, a start
// from the texts and one with side files, searches, a backup, and the deletion
// of every document one by one. One iteration is the whole; the figures are
// metrics of their own.
func BenchmarkScale(b *testing.B) {
	for b.Loop() {
		scale(b)
	}
}

func scale(b *testing.B) {
	cfg := appConfig{data: filepath.Join(b.TempDir(), "data"), models: modelFlags{}, log: slog.New(slog.DiscardHandler)}
	a, err := openApp(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	kb, err := a.service.CreateKnowledgeBase(b.Context(), store.KnowledgeBase{Name: "scale"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(fillScale(b, a, kb), "documents-written/s")
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}

	a, took := startScale(b, cfg)
	b.ReportMetric(took.Seconds(), "start-from-texts-s")
	begin := time.Now()
	if err := a.Close(); err != nil { // writes the side file
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(begin).Seconds(), "close-s")
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, took = startScale(b, cfg)
	b.ReportMetric(took.Seconds(), "start-with-side-files-s")
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(scaleDocuments*scaleChunks), "heap-bytes/chunk")
	b.ReportMetric(float64(a.index.Bytes())/(scaleDocuments*scaleChunks), "told-bytes/chunk")
	searchScale(b, a, kb)

	begin = time.Now()
	f, err := os.Create(filepath.Join(b.TempDir(), "backup"))
	if err != nil {
		b.Fatal(err)
	}
	if err := a.writeBackup(b.Context(), f); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(begin).Seconds(), "backup-s")
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}

	begin = time.Now()
	page := store.Page{Limit: store.MaxPage}
	for {
		docs, err := a.records.Documents(b.Context(), kb.ID, page)
		if err != nil {
			b.Fatal(err)
		}
		if len(docs) == 0 {
			break
		}
		for _, d := range docs {
			if err := a.service.DeleteDocument(b.Context(), kb.ID, d.ID); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(time.Since(begin).Seconds(), "delete-10k-documents-s")
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}
}

// startScale opens a data folder and lets it serve.
func startScale(b *testing.B, cfg appConfig) (*app, time.Duration) {
	b.Helper()
	begin := time.Now()
	a, err := openApp(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	if err := a.start(b.Context()); err != nil {
		b.Fatal(err)
	}
	return a, time.Since(begin)
}

// searchScale asks 500 questions of five words, one after the other, as the
// server does: rewritten, by words and vectors, reranked.
func searchScale(b *testing.B, a *app, kb store.KnowledgeBase) {
	b.Helper()
	words := rand.NewZipf(rand.New(rand.NewPCG(3, 4)), 1.2, 4, 50_000)
	took := make([]time.Duration, 500)
	for i := range took {
		text := scaleWords(words, 200)
		query := retrieval.Query{Text: strings.Join(strings.Fields(text)[:5], " "), KnowledgeBases: []string{kb.ID}}
		begin := time.Now()
		result, err := a.retriever.Retrieve(b.Context(), query)
		if err != nil {
			b.Fatal(err)
		}
		if took[i] = time.Since(begin); len(result.Hits) == 0 {
			b.Fatalf("%q finds nothing", query.Text)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "retrieve-p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "retrieve-p99-ms")
}

// fillScale writes the documents as ingestion does, without reading files and
// embedding, and returns how many it wrote in a second.
func fillScale(b *testing.B, a *app, kb store.KnowledgeBase) float64 {
	embedder, err := embed.NewStatic()
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(r, 1.2, 4, 50_000)
	spent := time.Duration(0)
	for i := range scaleDocuments {
		text := scaleWords(words, scaleText*scaleChunks)
		staged, err := a.blobs.Stage(b.Context(), strings.NewReader(text), int64(len(text)))
		if err != nil {
			b.Fatal(err)
		}
		if err := staged.Commit(); err != nil {
			b.Fatal(err)
		}
		doc := store.Document{
			ID: store.NewID("doc"), KnowledgeBaseID: kb.ID, Name: fmt.Sprintf("%d.txt", i), SHA256: staged.SHA256(),
			TextSHA256: staged.SHA256(), TextBytes: staged.Size(), Revision: 1, ChunkCount: scaleChunks,
		}
		chunks := make([]store.Chunk, scaleChunks)
		for c := range chunks {
			span := store.Span{Start: c * scaleText, End: (c + 1) * scaleText}
			body := text[span.Start:span.End]
			chunks[c] = store.Chunk{
				ID: store.ChunkID(doc.ID, 1, c, body), KnowledgeBaseID: kb.ID, DocumentID: doc.ID, Revision: 1, Ordinal: c,
				Title: doc.Name, Span: span, Text: body, Vector: scaleVector(r, embedder.Dim()),
			}
		}
		begin := time.Now()
		if _, err := a.records.AddDocument(b.Context(), doc, store.Job{ID: store.NewID("job"), Kind: store.JobIngest, Revision: 1}); err != nil {
			b.Fatal(err)
		}
		if err := staged.Discard(); err != nil { // a record refers to it now
			b.Fatal(err)
		}
		job, err := a.records.Lease(b.Context(), time.Now(), time.Hour)
		if err != nil {
			b.Fatal(err)
		}
		if err := a.records.Publish(b.Context(), job.ID, doc, chunks); err != nil {
			b.Fatal(err)
		}
		if err := a.records.Finish(b.Context(), job.ID); err != nil {
			b.Fatal(err)
		}
		spent += time.Since(begin)
	}
	return scaleDocuments / spent.Seconds()
}

// scaleWords makes a text of made-up words, the frequent ones short.
func scaleWords(words *rand.Zipf, size int) string {
	var text strings.Builder
	for text.Len() < size {
		n := words.Uint64()
		for n += 27; n > 0; n /= 26 {
			text.WriteByte('a' + byte(n%26))
		}
		text.WriteByte(' ')
	}
	return text.String()[:size]
}

func scaleVector(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	sum := 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}
