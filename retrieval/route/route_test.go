package route_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/retrieval/route"
	"ragagent/store"
)

func newRouter(t testing.TB) (*route.Router, *bm25.Index) {
	t.Helper()
	analyzer := analysis.New()
	words, err := bm25.New(bm25.Config{Analyzer: analyzer})
	if err != nil {
		t.Fatal(err)
	}
	r, err := route.New(route.Config{Analyzer: analyzer, Statistics: words})
	if err != nil {
		t.Fatal(err)
	}
	return r, words
}

func load(t testing.TB, words *bm25.Index, kb string, texts ...string) {
	t.Helper()
	chunks := make([]store.Chunk, len(texts))
	for i, text := range texts {
		id := fmt.Sprintf("%s/%d", kb, i)
		chunks[i] = store.Chunk{ID: id, KnowledgeBaseID: kb, DocumentID: id, Revision: 1, Text: text}
	}
	err := words.Load(t.Context(), kb, func(yield func(store.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func order(routes []retrieval.Route) (ids []string) {
	for _, r := range routes {
		ids = append(ids, r.KnowledgeBaseID)
	}
	return ids
}

func TestRoute(t *testing.T) {
	r, words := newRouter(t)
	load(t, words, "stars", "comets and planets of the sun", "the moon and the tides")
	load(t, words, "food", "bread from rye", "soup of the day", "the sun ripens tomatoes")
	load(t, words, "empty")
	bases := []store.KnowledgeBase{
		{ID: "food", Name: "kitchen"}, {ID: "empty", Name: "hr-handbook", Description: "leave, holidays and pay"},
		{ID: "stars", Name: "sky"}, {ID: "gone", Name: "not loaded"},
	}
	for question, want := range map[string][]string{
		"how far is the moon":          {"stars", "food", "empty", "gone"},
		"rye bread":                    {"food", "empty", "stars", "gone"},
		"how many holidays do I get":   {"empty", "food", "stars", "gone"},
		"what does the handbook say":   {"empty", "food", "stars", "gone"},
		"words that nobody ever heard": {"food", "empty", "stars", "gone"}, // as they were given
		"?":                            {"food", "empty", "stars", "gone"},
	} {
		routes, err := r.Route(t.Context(), question, bases)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, order(routes)); diff != "" {
			t.Errorf("%s: %s", question, diff)
		}
	}
	if routes, err := r.Route(t.Context(), "moon", nil); err != nil || len(routes) != 0 {
		t.Errorf("%v, %v", routes, err)
	}
}

func TestNewNeedsItsParts(t *testing.T) {
	if _, err := route.New(route.Config{}); err == nil {
		t.Error("a router of nothing")
	}
}

// BenchmarkRoute chooses among 100 knowledge bases of 500 chunks.
func BenchmarkRoute(b *testing.B) {
	router, words := newRouter(b)
	r := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(r, 1.1, 4, 50_000)
	text := func(n int) string {
		w := make([]string, n)
		for i := range w {
			w[i] = fmt.Sprintf("w%dx", zipf.Uint64())
		}
		return strings.Join(w, " ")
	}
	bases := make([]store.KnowledgeBase, 100)
	for i := range bases {
		id := fmt.Sprintf("kb_%d", i)
		texts := make([]string, 500)
		for j := range texts {
			texts[j] = text(100)
		}
		load(b, words, id, texts...)
		bases[i] = store.KnowledgeBase{ID: id, Name: id, Description: text(30)}
	}
	questions := make([]string, 100)
	for i := range questions {
		questions[i] = text(10)
	}
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		routes, err := router.Route(b.Context(), questions[i%len(questions)], bases)
		if err != nil || len(routes) != len(bases) || !slices.IsSortedFunc(routes, func(a, b retrieval.Route) int { return int(1e9 * (b.Score - a.Score)) }) {
			b.Fatal(err)
		}
	}
}
