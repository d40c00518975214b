package sqlite

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ragagent/store"
)

// A chunk of the benchmarks: 800 characters and 384 floats.
const (
	benchText  = 800
	benchDim   = 384
	benchBatch = 256
)

func benchChunks(doc store.Document, revision, from, n int) []store.Chunk {
	rng := rand.New(rand.NewPCG(uint64(from), 1))
	text := strings.Repeat("lorem ipsum dolor sit amet consectetur. ", benchText/40)
	chunks := make([]store.Chunk, n)
	for i := range chunks {
		v := make([]float32, benchDim)
		var sum float64
		for d := range v {
			v[d] = float32(rng.NormFloat64())
			sum += float64(v[d]) * float64(v[d])
		}
		for d := range v {
			v[d] = float32(float64(v[d]) / math.Sqrt(sum))
		}
		ordinal := from + i
		chunks[i] = store.Chunk{
			ID: store.ChunkID(doc.ID, revision, ordinal, text), KnowledgeBaseID: doc.KnowledgeBaseID, DocumentID: doc.ID,
			Revision: revision, Ordinal: ordinal, Title: "A title of some length", Headings: []string{"One", "Two"},
			Span: store.Span{Start: ordinal * benchText, End: (ordinal + 1) * benchText}, Text: text, Vector: v,
		}
	}
	return chunks
}

func benchDB(b *testing.B) *DB {
	b.Helper()
	db, err := Open(context.Background(), Config{Path: filepath.Join(b.TempDir(), "bench.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

// benchJob makes a knowledge base with one document whose job is running.
func benchJob(b *testing.B, db *DB, kb string) (store.Document, store.Job) {
	b.Helper()
	ctx := context.Background()
	if err := db.CreateKnowledgeBase(ctx, store.KnowledgeBase{ID: kb, Name: kb}); err != nil {
		b.Fatal(err)
	}
	doc := store.Document{
		ID: store.NewID("doc"), KnowledgeBaseID: kb, Name: "bench.txt", SHA256: fmt.Sprintf("%064d", 1),
		TextSHA256: fmt.Sprintf("%064d", 2), TextBytes: 1 << 40,
	}
	job := store.Job{ID: store.NewID("job"), Kind: store.JobIngest, Revision: 1}
	if _, err := db.AddDocument(ctx, doc, job); err != nil {
		b.Fatal(err)
	}
	if _, err := db.Lease(ctx, time.Now(), time.Hour); err != nil {
		b.Fatal(err)
	}
	return doc, job
}

// fill stores n chunks in batches, as ingestion does.
func fill(b *testing.B, db *DB, doc store.Document, job store.Job, n int) {
	b.Helper()
	for at := 0; at < n; at += benchBatch {
		size := min(benchBatch, n-at)
		b.StopTimer()
		chunks := benchChunks(doc, 1, at, size)
		b.StartTimer()
		if err := db.PutChunks(context.Background(), job.ID, chunks, store.Progress{Stage: store.StageEmbed, Done: at + size, Total: n}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutChunks is the durable write path: 256 chunks and one sync a batch.
func BenchmarkPutChunks(b *testing.B) {
	db := benchDB(b)
	doc, job := benchJob(b, db, "kb_bench")
	b.ResetTimer()
	fill(b, db, doc, job, b.N*benchBatch)
	b.ReportMetric(float64(b.N*benchBatch)/b.Elapsed().Seconds(), "chunks/s")
}

// BenchmarkVisibleChunks is what a start reads: every chunk with its vector.
func BenchmarkVisibleChunks(b *testing.B) {
	const n = 20_000
	db := benchDB(b)
	doc, job := benchJob(b, db, "kb_bench")
	fill(b, db, doc, job, n)
	if err := db.Publish(context.Background(), job.ID, doc, nil); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		seen := 0
		for _, err := range db.VisibleChunks(context.Background(), "kb_bench", "") {
			if err != nil {
				b.Fatal(err)
			}
			seen++
		}
		if seen != n {
			b.Fatalf("%d chunks, not %d", seen, n)
		}
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "chunks/s")
}

// BenchmarkDeleteKnowledgeBase removes 20,000 chunks at a time.
func BenchmarkDeleteKnowledgeBase(b *testing.B) {
	const n = 20_000
	db := benchDB(b)
	for i := range b.N {
		b.StopTimer()
		kb := fmt.Sprintf("kb_%d", i)
		doc, job := benchJob(b, db, kb)
		fill(b, db, doc, job, n)
		b.StartTimer()
		if err := db.DeleteKnowledgeBase(context.Background(), kb); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "chunks/s")
}

// BenchmarkSmallDocument is all that a document of one chunk costs: it is added,
// leased, parsed, published and finished, a sync each.
func BenchmarkSmallDocument(b *testing.B) {
	ctx := context.Background()
	db := benchDB(b)
	if err := db.CreateKnowledgeBase(ctx, store.KnowledgeBase{ID: "kb_1", Name: "one"}); err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		doc := store.Document{
			ID: store.NewID("doc"), KnowledgeBaseID: "kb_1", Name: fmt.Sprint(i), SHA256: fmt.Sprintf("%064d", i),
			TextSHA256: fmt.Sprintf("%063dx", i), TextBytes: 1 << 40,
		}
		if _, err := db.AddDocument(ctx, doc, store.Job{ID: store.NewID("job"), Kind: store.JobIngest, Revision: 1}); err != nil {
			b.Fatal(err)
		}
		job, err := db.Lease(ctx, time.Now(), time.Hour)
		if err != nil {
			b.Fatal(err)
		}
		if err := db.SetParsed(ctx, job.ID, doc); err != nil {
			b.Fatal(err)
		}
		if err := db.Publish(ctx, job.ID, doc, benchChunks(doc, 1, 0, 1)); err != nil {
			b.Fatal(err)
		}
		if err := db.Finish(ctx, job.ID); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "documents/s")
}
