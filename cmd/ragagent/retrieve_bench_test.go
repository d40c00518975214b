//go:build unix

package main

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ragagent/retrieval"
	"ragagent/retrieval/embed"
	"ragagent/store"
)

// Questions of one iteration of BenchmarkRetrieve.
const (
	retrieveAsked  = 1000
	retrieveBefore = 50 // that are not measured: nothing is in any cache
)

// BenchmarkRetrieve asks questions of 100,000 chunks as the server does, without
// HTTP: rewritten, by words and vectors, reranked, with the texts from SQLite.
// One iteration is 1,000 questions, one after the other; the median and the 99th
// percentile of the whole and of every stage are metrics of their own, and the
// processor time of a question, which other work on the machine moves less.
//
//   - natural: 200,000 words by Zipf's law with exponent 1.05, stop words as
//     frequent as in English, vectors of the built-in embedder;
//   - steep: the words of BenchmarkScale, 50,000 with exponent 1.2, no stop
//     words, so that nearly every word of a question is in a large part of the
//     chunks; random vectors, none near another.
//
// RAGAGENT_BENCH_FOLDER names a folder to keep the two data folders in, and to
// find them again.
func BenchmarkRetrieve(b *testing.B) {
	embedder, err := embed.NewStatic()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		corpus *madeCorpus
		vector func(r *rand.Rand, text string) []float32
	}{
		{"natural", newMadeCorpus(200_000, 1.05, 2.7, true), func(_ *rand.Rand, text string) []float32 {
			vectors, err := embedder.Embed(b.Context(), []string{text})
			if err != nil {
				b.Error(err)
				return nil
			}
			return vectors[0]
		}},
		{"steep", newMadeCorpus(50_000, 1.2, 4, false), func(r *rand.Rand, _ string) []float32 {
			return scaleVector(r, embedder.Dim())
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := appConfig{data: filepath.Join(benchFolder(b), c.name), models: modelFlags{}, log: slog.New(slog.DiscardHandler)}
			if !exists(cfg.data) {
				fillMade(b, cfg, c.corpus, c.vector)
			}
			a, _ := startScale(b, cfg)
			defer func() {
				if err := a.Close(); err != nil {
					b.Error(err)
				}
			}()
			kb, err := a.records.KnowledgeBase(b.Context(), "scale")
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(3, 4))
			for b.Loop() {
				askMade(b, a, kb, c.corpus, r)
			}
		})
	}
}

func benchFolder(b *testing.B) string {
	if dir := os.Getenv("RAGAGENT_BENCH_FOLDER"); dir != "" {
		return dir
	}
	return b.TempDir()
}

// askMade asks questions about the documents and reports how long they took.
func askMade(b *testing.B, a *app, kb store.KnowledgeBase, corpus *madeCorpus, r *rand.Rand) {
	var whole []time.Duration
	var stages [len(retrieval.Timings{})][]time.Duration
	queries := make([]retrieval.Query, retrieveBefore+retrieveAsked)
	for i := range queries {
		text := corpus.document(r.IntN(scaleDocuments), scaleText*scaleChunks)
		at := scaleText * r.IntN(scaleChunks)
		queries[i] = retrieval.Query{Text: question(r, text[at:at+scaleText]), KnowledgeBases: []string{kb.ID}}
	}
	var before time.Duration
	for i, query := range queries {
		if i == retrieveBefore {
			before = processorTime(b)
		}
		begin := time.Now()
		result, err := a.retriever.Retrieve(b.Context(), query)
		took := time.Since(begin)
		if err != nil {
			b.Fatal(err)
		}
		if len(result.Hits) == 0 || len(result.Degraded) > 0 {
			b.Fatalf("%q: %d hits, %v", query.Text, len(result.Hits), result.Degraded)
		}
		if i < retrieveBefore {
			continue
		}
		whole = append(whole, took)
		for stage, d := range result.Timings {
			stages[stage] = append(stages[stage], d)
		}
	}
	b.ReportMetric(ms(processorTime(b)-before)/retrieveAsked, "cpu-ms/question")
	report := func(name string, times []time.Duration) {
		b.ReportMetric(ms(percentile(times, 50)), name+"-p50-ms")
		b.ReportMetric(ms(percentile(times, 99)), name+"-p99-ms")
	}
	report("retrieve", whole)
	for stage, times := range stages {
		report(retrieval.Stage(stage).String(), times)
	}
}

// processorTime is what this process has used of all processors.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// fillMade writes 10,000 documents of 10 chunks as ingestion does, without
// reading files. Many at a time share a sync of the disk.
func fillMade(b *testing.B, cfg appConfig, corpus *madeCorpus, vector func(*rand.Rand, string) []float32) {
	b.Helper()
	a, err := openApp(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	kb, err := a.service.CreateKnowledgeBase(b.Context(), store.KnowledgeBase{Name: "scale"})
	if err != nil {
		b.Fatal(err)
	}
	atOnce(b, func(n int) error {
		doc := madeDocument(kb, n)
		_, err := a.records.AddDocument(b.Context(), doc, store.Job{ID: store.NewID("job"), Kind: store.JobIngest, Revision: 1})
		return err
	})
	atOnce(b, func(int) error {
		job, err := a.records.Lease(b.Context(), time.Now(), time.Hour)
		if err != nil {
			return err
		}
		var n int
		if _, err := fmt.Sscanf(job.DocumentID, "doc_%d", &n); err != nil {
			return err
		}
		doc := madeDocument(kb, n)
		if err := a.records.Publish(b.Context(), job.ID, doc, madeChunks(doc, n, corpus, vector)); err != nil {
			return err
		}
		return a.records.Finish(b.Context(), job.ID)
	})
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}
}

func madeDocument(kb store.KnowledgeBase, n int) store.Document {
	sum := fmt.Sprintf("%064x", n)
	return store.Document{
		ID: fmt.Sprintf("doc_%d", n), KnowledgeBaseID: kb.ID, Name: fmt.Sprintf("%d.txt", n), SHA256: sum,
		TextSHA256: sum, TextBytes: scaleText * scaleChunks, Revision: 1, ChunkCount: scaleChunks,
	}
}

func madeChunks(doc store.Document, n int, corpus *madeCorpus, vector func(*rand.Rand, string) []float32) []store.Chunk {
	r := rand.New(rand.NewPCG(5, uint64(n)))
	text, title := corpus.document(n, scaleText*scaleChunks), corpus.document(-1-n, 30)
	chunks := make([]store.Chunk, scaleChunks)
	for c := range chunks {
		span := store.Span{Start: c * scaleText, End: (c + 1) * scaleText}
		body := text[span.Start:span.End]
		chunks[c] = store.Chunk{
			ID: store.ChunkID(doc.ID, 1, c, body), KnowledgeBaseID: doc.KnowledgeBaseID, DocumentID: doc.ID, Revision: 1, Ordinal: c,
			Title: title, Span: span, Text: body, Vector: vector(r, body),
		}
	}
	return chunks
}

// atOnce calls work for every document, 64 at a time.
func atOnce(b *testing.B, work func(n int) error) {
	b.Helper()
	var next atomic.Int64
	var workers sync.WaitGroup
	errs := make([]error, 64)
	for w := range errs {
		workers.Go(func() {
			for n := next.Add(1) - 1; n < scaleDocuments && errs[w] == nil; n = next.Add(1) - 1 {
				errs[w] = work(int(n))
			}
		})
	}
	workers.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		b.Fatal(errs[i])
	}
}
