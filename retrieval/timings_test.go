package retrieval_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
)

// The clock goes on by a second whenever it is asked, so that every stage that
// takes part takes a second at least.
func TestTimings(t *testing.T) {
	var clock atomic.Int64
	w := newWorld(t, func(c *retrieval.PipelineConfig) {
		c.Rewriter = rewriter(func(text string, _ []retrieval.Turn) (string, error) { return text, nil })
		c.Rerankers = []retrieval.Reranker{reverse{}}
		c.Now = func() time.Time { return time.Unix(clock.Add(1), 0) }
	})
	w.put(t, "kb_1", "a", "sun one")
	for _, test := range []struct {
		mode retrieval.Mode
		want []string
	}{
		{retrieval.Hybrid, []string{"rewrite", "words", "embed", "vectors", "fuse", "fetch", "rerank"}},
		{retrieval.Lexical, []string{"rewrite", "words", "fuse", "fetch", "rerank"}},
	} {
		got := w.retrieve(t, retrieval.Query{Text: "sun", Mode: test.mode})
		var took []string
		sum := time.Duration(0)
		for stage, d := range got.Timings {
			if d > 0 {
				took = append(took, retrieval.Stage(stage).String())
				sum += d
			}
		}
		if diff := cmp.Diff(test.want, took); diff != "" {
			t.Errorf("%s: %s", test.mode, diff)
		}
		if sum > got.Elapsed || test.mode == retrieval.Lexical && got.Elapsed-sum > 5*time.Second {
			t.Errorf("%s: stages take %v of %v", test.mode, sum, got.Elapsed)
		}
	}
}
