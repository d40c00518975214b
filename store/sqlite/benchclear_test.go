package sqlite

import (
	"context"
	"fmt"
	"testing"

	"ragagent/store"
)

// BenchmarkClearVectors gives up a set of vectors: the figures for many chunks
// and for few have to be alike.
func BenchmarkClearVectors(b *testing.B) {
	ctx := context.Background()
	for _, n := range []int{10_000, 40_000} {
		b.Run(fmt.Sprintf("chunks=%d", n), func(b *testing.B) {
			db := benchDB(b)
			doc, job := benchJob(b, db, "kb_bench")
			fill(b, db, doc, job, n)
			if err := db.Publish(ctx, job.ID, doc, nil); err != nil {
				b.Fatal(err)
			}
			var entries []store.VectorEntry
			for e, err := range db.VisibleVectors(ctx, "kb_bench") {
				if err != nil {
					b.Fatal(err)
				}
				entries = append(entries, store.VectorEntry{ID: e.ID, Vector: []float32{0.6, 0.8}})
			}
			b.ResetTimer()
			for i := range b.N {
				b.StopTimer()
				c := store.EmbedderChange{ID: fmt.Sprintf("job_%d", i), KnowledgeBaseID: "kb_bench", State: store.ChangeFilling, Dimension: 2}
				if err := db.BeginEmbedderChange(ctx, c); err != nil {
					b.Fatal(err)
				}
				if err := db.PutVectors(ctx, c.ID, entries, n, n); err != nil {
					b.Fatal(err)
				}
				if _, err := db.UpdateEmbedderChange(ctx, c.ID, func(c *store.EmbedderChange) error {
					c.State = store.ChangeDiscarding
					return nil
				}); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := db.ClearVectors(ctx, c.ID); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "chunks/s")
		})
	}
}
