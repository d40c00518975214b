package retrieval_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/store"
	"ragagent/store/chromem"
)

// TestContents follows what an index says it holds through changes.
func TestContents(t *testing.T) {
	words, err := bm25.New(bm25.Config{Analyzer: analysis.New()})
	if err != nil {
		t.Fatal(err)
	}
	index, err := retrieval.NewIndex(retrieval.IndexConfig{Lexical: words, Vectors: chromem.New(chromem.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	kb := store.KnowledgeBase{ID: "kb_1"}
	if _, _, err := index.Contents(t.Context(), kb.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before it is loaded: %v", err)
	}
	chunk := func(id, doc string, vector ...float32) store.Chunk {
		return store.Chunk{ID: id, KnowledgeBaseID: kb.ID, DocumentID: doc, Text: "words of " + id, Vector: vector}
	}
	put := func(doc string, chunks ...store.Chunk) {
		t.Helper()
		seq := func(yield func(store.Chunk, error) bool) {
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
		}
		if err := index.Replace(t.Context(), kb, doc, seq); err != nil {
			t.Fatal(err)
		}
	}
	want := func(words, vectors []string) {
		t.Helper()
		gotWords, gotVectors, err := index.Contents(t.Context(), kb.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]string{words, vectors}, [][]string{slices.Clip(gotWords), slices.Clip(gotVectors)}); diff != "" {
			t.Errorf("contents (-want +got):\n%s", diff)
		}
	}
	put("doc_1", chunk("c", "doc_1"))
	want([]string{"c"}, nil)
	put("doc_2", chunk("b", "doc_2", 1, 0), chunk("a", "doc_2", 0, 1))
	want([]string{"a", "b", "c"}, []string{"a", "b"})
	put("doc_2", chunk("d", "doc_2", .6, .8))
	want([]string{"c", "d"}, []string{"d"})

	for _, c := range []struct {
		chunk store.Chunk
		want  float64
	}{{chunk("d", "doc_2", .6, .8), 1}, {chunk("d", "doc_2", .8, .6), .96}, {chunk("gone", "doc_2", 1, 0), 0}} {
		if got, err := index.Cosine(t.Context(), kb.ID, c.chunk); err != nil || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("cosine of %s: %v, %v, want %v", c.chunk.ID, got, err, c.want)
		}
	}
	put("doc_1")
	put("doc_2")
	want([]string{}, []string{})
}
