package sqlite

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"ragagent/store"
)

// benchDocuments stores n documents of 10 chunks each and returns their ids.
func benchDocuments(b *testing.B, db *DB, n int) []string {
	b.Helper()
	ctx := context.Background()
	if err := db.CreateKnowledgeBase(ctx, store.KnowledgeBase{ID: "kb_1", Name: "one"}); err != nil {
		b.Fatal(err)
	}
	ids := make([]string, n)
	for i := range ids {
		doc := store.Document{
			ID: store.NewID("doc"), KnowledgeBaseID: "kb_1", Name: fmt.Sprint(i),
			SHA256:     fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, i))),
			TextSHA256: fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, -i))), TextBytes: 1 << 40,
		}
		if _, err := db.AddDocument(ctx, doc, store.Job{ID: store.NewID("job"), Kind: store.JobIngest, Revision: 1}); err != nil {
			b.Fatal(err)
		}
		job, err := db.Lease(ctx, time.Now(), time.Hour)
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Publish(ctx, job.ID, doc, benchChunks(doc, 1, 0, 10)); err != nil {
			b.Fatal(err)
		}
		if err := db.Finish(ctx, job.ID); err != nil {
			b.Fatal(err)
		}
		ids[i] = doc.ID
	}
	return ids
}

// BenchmarkDeleteDocument deletes one document of 10 chunks a time, one call
// after the other and by 8 callers at once. Run it with -benchtime 2000x: the
// documents are made first.
func BenchmarkDeleteDocument(b *testing.B) {
	for _, callers := range []int{1, 8} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			db := benchDB(b)
			ids := benchDocuments(b, db, b.N)
			var next atomic.Int64
			b.SetParallelism(max(1, callers/2))
			b.ResetTimer()
			remove := func() {
				if _, err := db.DeleteDocument(context.Background(), "kb_1", ids[next.Add(1)-1]); err != nil {
					b.Error(err)
				}
			}
			if callers == 1 {
				for range b.N {
					remove()
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						remove()
					}
				})
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "documents/s")
		})
	}
}

// BenchmarkDeleteDocuments deletes documents of 10 chunks, 250 in a call. Run it
// with -benchtime 5000x: the documents are made first.
func BenchmarkDeleteDocuments(b *testing.B) {
	const group = 250
	db := benchDB(b)
	ids := benchDocuments(b, db, b.N)
	b.ResetTimer()
	for some := range slices.Chunk(ids, group) {
		gone, err := db.DeleteDocuments(context.Background(), "kb_1", some)
		if err != nil || len(gone) != len(some) {
			b.Fatal(len(gone), err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "documents/s")
}
