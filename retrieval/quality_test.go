package retrieval_test

import (
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
// and Pipeline, one chunk a document:
//
//	RAGAGENT_QUALITY=all go test -v -run TestQuality ./retrieval
//	RAGAGENT_QUALITY=cranfield,squad-mix RAGAGENT_MODE=lexical go test ...
//
// RAGAGENT_RUNS=DIR writes the run files, for ragagent eval compare.
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
			b := newBench(t, data)
			scores, times := b.run(t, retrieval.Query{
				Mode:     retrieval.Mode(os.Getenv("RAGAGENT_MODE")),
				NoRerank: os.Getenv("RAGAGENT_NORERANK") != "",
			})
			ndcg := scores.Mean(eval.Measure{Kind: eval.NDCG, Cut: 10})
			t.Logf("%-14s ndcg@10 %.4f recall@10 %.4f recall@100 %.4f complete@10 %.4f  load %v p50 %v p95 %v", set.name, ndcg,
				scores.Mean(eval.Measure{Kind: eval.Recall, Cut: 10}),
				scores.Mean(eval.Measure{Kind: eval.Recall, Cut: 100}),
				scores.Mean(eval.Measure{Kind: eval.Complete, Cut: 10}), b.load.Round(time.Millisecond),
				eval.Quantile(times, .5).Round(time.Microsecond), eval.Quantile(times, .95).Round(time.Microsecond))
			if ndcg < set.bar {
				t.Errorf("ndcg@10 %.4f is below %.4f", ndcg, set.bar)
			}
		})
	}
}
