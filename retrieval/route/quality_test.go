package route_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/retrieval/eval"
	"ragagent/retrieval/route"
	"ragagent/store"
)

var sets = []string{"cranfield", "squad-dev", "hotpotqa-100", "cmrc2018-dev", "pubmedqa", "xquad/de", "xquad/es", "xquad/ru", "xquad/ar"}

// TestQuality loads the collections of ../shared/data side by side, without
// descriptions, and asks which of them the questions of each are put to:
//
//	RAGAGENT_QUALITY=all go test -v -run TestQuality ./retrieval/route
func TestQuality(t *testing.T) {
	if os.Getenv("RAGAGENT_QUALITY") == "" {
		t.Skip("RAGAGENT_QUALITY is not set")
	}
	shared := os.Getenv("RAGAGENT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	analyzer := analysis.New()
	words, err := bm25.New(bm25.Config{Analyzer: analyzer})
	check(t, err)
	router, err := route.New(route.Config{Analyzer: analyzer, Statistics: words})
	check(t, err)
	data := make([]*eval.Dataset, len(sets))
	bases := make([]store.KnowledgeBase, len(sets))
	for i, name := range sets {
		dir := filepath.Join(shared, "data", filepath.FromSlash(name))
		if _, err := os.Stat(dir); err != nil {
			t.Skipf("no test collection: %v", err)
		}
		data[i], err = eval.OpenDataset(dir, "test")
		check(t, err)
		bases[i] = store.KnowledgeBase{ID: name, Name: name}
		check(t, words.Load(t.Context(), name, chunksOf(t.Context(), data[i])))
	}
	all, first, two := 0., 0., 0.
	var spent time.Duration
	for i, set := range data {
		n, one, second := 0., 0., 0.
		for _, q := range set.Queries {
			begun := time.Now()
			routes, err := router.Route(t.Context(), q.Text, bases)
			spent += time.Since(begun)
			check(t, err)
			n++
			if routes[0].KnowledgeBaseID == sets[i] {
				one++
				second++
			} else if routes[1].KnowledgeBaseID == sets[i] {
				second++
			}
		}
		t.Logf("%-14s first %.3f, among two %.3f of %.0f", sets[i], one/n, second/n, n)
		all, first, two = all+n, first+one, two+second
	}
	t.Logf("all: first %.4f, among two %.4f of %.0f; %v each", first/all, two/all, all, spent/time.Duration(all))
}

func chunksOf(ctx context.Context, d *eval.Dataset) iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		for doc, err := range d.Corpus().Documents(ctx) {
			if !yield(store.Chunk{ID: doc.ID, DocumentID: doc.ID, Revision: 1, Title: doc.Title, Text: doc.Text}, err) {
				return
			}
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
