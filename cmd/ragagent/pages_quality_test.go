package main

import (
	"cmp"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/eval"
	"ragagent/store"
)

// TestPagesQuality ranks the pages of PDFs through the whole product, beside
// plain BM25 (k1 1.2, b .75) of the same text, page by page, in the same analysis:
//
//	RAGAGENT_QUALITY=filings go test -v -run TestPagesQuality ./cmd/ragagent
func TestPagesQuality(t *testing.T) {
	if os.Getenv("RAGAGENT_QUALITY") != "filings" {
		t.Skip("RAGAGENT_QUALITY is not filings: it takes half a minute")
	}
	shared := os.Getenv("RAGAGENT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(shared, "data", "filings")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no test collection: %v", err)
	}
	set, err := eval.OpenDataset(dir, "test")
	must(t, err)
	e := &env{ctx: t.Context(), stdout: t.Output(), stderr: t.Output()}
	c := &evalData{modelFlags: modelFlags{LLM: "extractive", Embedder: "builtin"}}
	must(t, c.loaded(e, set, func(app *app, load *evalLoad) error {
		runner, err := eval.NewRunner(eval.Config{Retriever: app.retriever, KnowledgeBases: []string{load.kb.ID}, Workers: 1})
		must(t, err)
		ours, err := runner.Run(t.Context(), set)
		must(t, err)
		run := plainPages(set, pageTexts(t, app, load.kb))
		ndcg := eval.Measure{Kind: eval.NDCG, Cut: 10}
		plain, err := eval.Evaluate(set.Qrels, run, []eval.Measure{ndcg})
		must(t, err)
		right, plainRight := 0., 0.
		for _, a := range ours.Asked {
			right += rightFile(set, a.ID, a.Ranking)
			plainRight += rightFile(set, a.ID, run[a.ID])
		}
		n := float64(len(ours.Asked))
		ratio := ours.Mean(ndcg) / plain.Mean(ndcg)
		t.Logf("ndcg@10 %.4f, plain BM25 %.4f: %.2f times; right file first %.3f, plain %.3f", ours.Mean(ndcg), plain.Mean(ndcg), ratio, right/n, plainRight/n)
		if ratio < 1.4 || right/n < .75 {
			t.Errorf("below 1.4 times plain BM25, or the right file is first for fewer than three in four")
		}
		return nil
	}))
}

func rightFile(set *eval.Dataset, query string, ranking []eval.Scored) float64 {
	if len(ranking) == 0 {
		return 0
	}
	for _, id := range set.Qrels.Relevant(query) {
		if eval.File(id) == eval.File(ranking[0].ID) {
			return 1
		}
	}
	return 0
}

// pageTexts puts the chunks of every page together: its title and its text.
func pageTexts(t *testing.T, app *app, kb store.KnowledgeBase) map[string]string {
	t.Helper()
	names := map[string]string{}
	docs, err := app.records.Documents(t.Context(), kb.ID, store.Page{Limit: store.MaxPage})
	must(t, err)
	for _, d := range docs {
		names[d.ID] = d.Name
	}
	pages := map[string]string{}
	locate := eval.ByPage()
	for chunk, err := range app.records.VisibleChunks(t.Context(), kb.ID, "") {
		must(t, err)
		for _, id := range locate(retrieval.Hit{Chunk: chunk, DocumentName: names[chunk.DocumentID]}) {
			if pages[id] == "" {
				pages[id] = chunk.Title
			}
			pages[id] += "\n" + chunk.Text
		}
	}
	return pages
}

// plainPages ranks texts by nothing but BM25.
func plainPages(set *eval.Dataset, texts map[string]string) eval.Run {
	analyzer := analysis.New()
	counts, df, total := map[string]map[string]float64{}, map[string]float64{}, 0.
	for id, text := range texts {
		counts[id] = map[string]float64{}
		for _, term := range analyzer.Terms(text) {
			counts[id][term]++
			counts[id][""]++ // the length
			total++
		}
		for term := range counts[id] {
			df[term]++
		}
	}
	average, n := total/float64(len(texts)), float64(len(texts))
	run := make(eval.Run)
	for _, q := range set.Queries {
		terms := analyzer.Terms(q.Text)
		var ranking []eval.Scored
		for _, id := range slices.Sorted(maps.Keys(texts)) {
			score := 0.
			for _, term := range terms {
				if tf := counts[id][term]; tf > 0 {
					score += math.Log1p((n-df[term]+.5)/(df[term]+.5)) * 2.2 * tf / (tf + 1.2*(.25+.75*counts[id][""]/average))
				}
			}
			ranking = append(ranking, eval.Scored{ID: id, Score: score})
		}
		slices.SortFunc(ranking, func(a, b eval.Scored) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
		})
		run[q.ID] = ranking[:min(100, len(ranking))]
	}
	return run
}
