package ollamatest

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// say follows the weights from a token on, as the server would: the token with
// the greatest logit comes next.
func say(v *vocabulary, embedding, output []float32, from int) string {
	text, at := "", from
	for range 100 {
		best, bestLogit := 0, float32(0)
		for t := range v.tokens {
			logit := float32(0)
			for d := range width {
				logit += output[t*width+d] * embedding[at*width+d]
			}
			if t == 0 || logit > bestLogit {
				best, bestLogit = t, logit
			}
		}
		if v.tokens[best] == endToken {
			return text
		}
		text += v.tokens[best]
		at = best
	}
	return text + "..."
}

func TestWeightsSayWhatTheRuleSays(t *testing.T) {
	const first, second = "The tide is 12 metres [1].", "I do not know, Émile."
	v := newVocabulary()
	next := map[int]int{}
	var entries []int
	for _, text := range []string{first, second} {
		at := v.add("<"+text[:3]+">", controlToken)
		entries = append(entries, at)
		pieces, err := v.cut(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pieces {
			next[at], at = p, p
		}
	}
	weights := parrotWeights(v, next)
	n := len(v.tokens)
	embedding := tensorAt(t, weights, n*width, len(weights)-tensorBytes(n))
	output := tensorAt(t, weights, n*width, len(weights)-4*n*width)
	for i, want := range []string{first, second} {
		if got := say(v, embedding, output, entries[i]); got != byteLevel(want) {
			t.Errorf("says %q, want %q", got, byteLevel(want))
		}
	}
}

// tensorBytes is the length of all tensors of a parrot with n tokens; every one
// is a multiple of the alignment.
func tensorBytes(n int) int {
	return 4 * (2*n*width + 3*width + 4*width*width + 3*width*inner)
}

func tensorAt(t *testing.T, file []byte, n, offset int) []float32 {
	t.Helper()
	out := make([]float32, n)
	if err := binary.Read(bytes.NewReader(file[offset:offset+4*n]), binary.LittleEndian, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRepeatedTextIsRefused(t *testing.T) {
	if _, err := NewParrot(false, Rule{Results: Any, Say: "same"}, Rule{Results: Any, Say: "same"}); err == nil {
		t.Error("two rules say the same, which one table cannot tell apart")
	}
}

func TestTemplate(t *testing.T) {
	got := chatTemplate(false, []Rule{{User: `say "x"`, Results: 1, Tools: Yes, Think: No, Say: "a"}, {Results: Any, Say: "b"}})
	want := `{{ if (and true (eq $user "say \"x\"") (eq $results ".") (and $.Tools true) (not $.Think)) }}<|rule000|>` +
		`{{ else if (and true true true) }}<|rule001|>{{ end }}`
	if !bytes.HasSuffix([]byte(got), []byte(want)) {
		t.Errorf("template ends with %q", got[len(got)-min(len(got), len(want)):])
	}
}
