package main

import (
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ragagent/store"
)

// BenchmarkDelete deletes the 10,000 documents of BenchmarkScale from a running
// service: a fifth of them one by one, each its own synced transaction, and the
// others together. The figures are metrics of their own, for 10,000 each.
func BenchmarkDelete(b *testing.B) {
	for b.Loop() {
		cfg := appConfig{data: filepath.Join(b.TempDir(), "data"), models: modelFlags{}, log: slog.New(slog.DiscardHandler)}
		a, err := openApp(b.Context(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		kb, err := a.service.CreateKnowledgeBase(b.Context(), store.KnowledgeBase{Name: "scale"})
		if err != nil {
			b.Fatal(err)
		}
		fillScale(b, a, kb)
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
		a, _ = startScale(b, cfg)
		var ids []string
		for d, err := range a.records.VisibleDocuments(b.Context(), kb.ID) {
			if err != nil {
				b.Fatal(err)
			}
			ids = append(ids, d.ID)
		}
		single := len(ids) / 5
		begin := time.Now()
		for _, id := range ids[:single] {
			if err := a.service.DeleteDocument(b.Context(), kb.ID, id); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(time.Since(begin).Seconds()*scaleDocuments/float64(single), "delete-10k-one-by-one-s")
		begin = time.Now()
		deleted, err := a.service.DeleteDocuments(b.Context(), kb.ID, slices.Clone(ids))
		if err != nil || deleted.Documents != len(ids)-single {
			b.Fatal(deleted.Documents, err)
		}
		b.ReportMetric(time.Since(begin).Seconds()*scaleDocuments/float64(deleted.Documents), "delete-10k-together-s")
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
