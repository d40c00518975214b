package retrieval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
)

// The vectors are asked for what the words made of a misspelt question: "mooon"
// is no sign, "moon" is.
func TestVectorsOfRepairedWords(t *testing.T) {
	w := newWorld(t, nil)
	w.put(t, "kb_1", "a", "moon over the comet")
	w.put(t, "kb_1", "b", "the comet alone in a dark night")
	vectors := func(text string, mode retrieval.Mode) (out []float64) {
		for _, hit := range w.retrieve(t, retrieval.Query{Text: text, Mode: mode, Explain: true}).Hits {
			value := 0.
			for _, part := range hit.Explain.Details {
				if part.Label == "vectors" {
					value = part.Value
				}
			}
			out = append(out, value)
		}
		return out
	}
	for text, want := range map[string][]float64{"comet moon": {.2, 0}, "comet mooon": {.2, 0}, "comet": {0, 0}} {
		if diff := cmp.Diff(want, vectors(text, retrieval.Hybrid)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	if hits := w.retrieve(t, retrieval.Query{Text: "mooon", Mode: retrieval.Dense}).Hits; len(hits) != 0 {
		t.Errorf("vectors alone know how it is spelt: %+v", hits)
	}
}
