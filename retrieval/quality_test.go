package retrieval_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ragagent/retrieval"
	"ragagent/retrieval/eval"
)

// qualitySets are the collections of ../shared/data with the nDCG@10 that the
// default setting must reach. Their licences keep them out of the repository.
var qualitySets = []struct {
	name string
	bar  float64
}{
	{"cranfield", .410},
	{"squad-mix", .872},
	{"hotpotqa-100", .900},
	{"cmrc2018-dev", .988},
	{"pubmedqa", .979},
	{"squad-dev", .892},
	{"xquad/de", 0},
	{"xquad/es", 0},
	{"xquad/ru", 0},
	{"xquad/ar", 0},
}

// TestQuality measures the ranking on test collections straight through Index
// and Pipeline, one chunk a document, beside a plain BM25 of the same analysis
// and SQLite's FTS5:
//
//	RAGAGENT_QUALITY=all go test -v -run TestQuality ./retrieval
//	RAGAGENT_QUALITY=cranfield,squad-mix RAGAGENT_MODE=lexical go test ...
//
// RAGAGENT_TYPOS=1 puts one typing error into every question, RAGAGENT_NORERANK=1
// leaves the second stage out, RAGAGENT_TOPICS=none what chunks are about.
func TestQuality(t *testing.T) {
	chosen := os.Getenv("RAGAGENT_QUALITY")
	if chosen == "" {
		t.Skip("RAGAGENT_QUALITY is not set: it takes a minute")
	}
	for _, set := range qualitySets {
		if chosen != "all" && !slices.Contains(strings.Split(chosen, ","), set.name) {
			continue
		}
		t.Run(set.name, func(t *testing.T) {
			data := openSet(t, set.name)
			if os.Getenv("RAGAGENT_TYPOS") != "" {
				misspell(data)
			}
			b := newBench(t, data)
			scores, times := b.run(t, retrieval.Query{
				Mode:     retrieval.Mode(os.Getenv("RAGAGENT_MODE")),
				NoRerank: os.Getenv("RAGAGENT_NORERANK") != "",
			})
			plain, fts5 := b.plain(t), b.fts5(t).Mean(ndcg10)
			test, err := eval.Compare(plain, scores, eval.CompareConfig{Permutations: 10_000, Resamples: 100})
			check(t, err)
			t.Logf("%-14s ndcg@10 %.4f (BM25 %.4f, p %.4f; FTS5 %.4f) recall@10 %.4f @100 %.4f complete@10 %.4f  load %v p50 %v p95 %v",
				set.name, test.B, test.A, test.P, fts5, scores.Mean(recall10), scores.Mean(recall100), scores.Mean(complete10),
				b.load.Round(time.Millisecond),
				eval.Quantile(times, .5).Round(time.Microsecond), eval.Quantile(times, .95).Round(time.Microsecond))
			if test.B < max(set.bar, test.A, fts5) {
				t.Errorf("ndcg@10 %.4f is below %.4f, BM25's %.4f, or FTS5's %.4f", test.B, set.bar, test.A, fts5)
			}
		})
	}
}

// The measures of a run.
var (
	ndcg10     = eval.Measure{Kind: eval.NDCG, Cut: 10}
	recall10   = eval.Measure{Kind: eval.Recall, Cut: 10}
	recall100  = eval.Measure{Kind: eval.Recall, Cut: 100}
	complete10 = eval.Measure{Kind: eval.Complete, Cut: 10}
)

// misspell changes one letter of a longer word of every question.
func misspell(data *eval.Dataset) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range data.Queries {
		words := strings.Fields(data.Queries[i].Text)
		var long []int
		for j, w := range words {
			if len(w) >= 5 && strings.Trim(strings.ToLower(w), "abcdefghijklmnopqrstuvwxyz") == "" {
				long = append(long, j)
			}
		}
		if len(long) == 0 {
			continue
		}
		j := long[r.IntN(len(long))]
		w := []byte(words[j])
		at := 1 + r.IntN(len(w)-2)
		switch other := byte('a' + r.IntN(26)); r.IntN(4) {
		case 0:
			w = slices.Delete(w, at, at+1)
		case 1:
			w = slices.Insert(w, at, other)
		case 2:
			w[at] = other
		default:
			w[at], w[at+1] = w[at+1], w[at]
		}
		words[j] = string(w)
		data.Queries[i].Text = strings.Join(words, " ")
	}
}

// plain ranks by nothing but BM25 (k1 1.2, b .75) over title and text in one.
func (b *bench) plain(t testing.TB) eval.Scores {
	t.Helper()
	type posting struct{ doc, tf int }
	postings := make(map[string][]posting)
	var ids []string
	var lengths []float64
	total := 0.
	for doc, err := range b.data.Corpus().Documents(t.Context()) {
		check(t, err)
		terms := b.analyzer.Terms(doc.Title + "\n" + doc.Text)
		tf := make(map[string]int)
		for _, term := range terms {
			tf[term]++
		}
		for term, n := range tf {
			postings[term] = append(postings[term], posting{len(ids), n})
		}
		ids = append(ids, doc.ID)
		lengths = append(lengths, float64(len(terms)))
		total += float64(len(terms))
	}
	average := total / float64(len(ids))
	run := make(eval.Run)
	for _, question := range b.data.Queries {
		sums := make(map[int]float64)
		for _, term := range b.analyzer.Terms(question.Text) {
			df := float64(len(postings[term]))
			idf := math.Log1p((float64(len(ids)) - df + .5) / (df + .5))
			for _, p := range postings[term] {
				sums[p.doc] += idf * 2.2 * float64(p.tf) / (float64(p.tf) + 1.2*(.25+.75*lengths[p.doc]/average))
			}
		}
		ranking := make([]eval.Scored, 0, len(sums))
		for doc, sum := range sums {
			ranking = append(ranking, eval.Scored{ID: ids[doc], Score: sum})
		}
		slices.SortFunc(ranking, func(a, b eval.Scored) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
		})
		run[question.ID] = ranking[:min(100, len(ranking))]
	}
	scores, err := eval.Evaluate(b.data.Qrels, run, []eval.Measure{ndcg10})
	check(t, err)
	return scores
}
