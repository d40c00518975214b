package lexical

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// Whether a text names a title is found by looking at parts of it. It is what
// the analysis of all of it says, wherever the title stands, whatever is
// between its words, and whatever else begins like them.
func TestNamesAsAnalysed(t *testing.T) {
	r := &Reranker{analyzer: analysis.New()}
	words := rapid.SampledFrom(strings.Fields(`Ada ADA's Adam adan Lovelace lovelaces Love, the of and to (in) it's U.S. us
		Émile Zola 1,577 budget budgets flying flies sky skies 東京大学 東京 大学 L'avion avion ﬁne fine Привет coca-cola cola`))
	spaces := rapid.SampledFrom([]string{" ", " ", " ", "\n", "  ", " \t", "... ", " — "})
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(0, 60).Draw(t, "words") {
			text.WriteString(words.Draw(t, "word"))
			text.WriteString(spaces.Draw(t, "space"))
		}
		title := r.analyzer.Terms(strings.Join(rapid.SliceOfN(words, 1, 4).Draw(t, "title"), " "))
		if len(title) == 0 {
			return
		}
		p := &passage{hit: &retrieval.Hit{Chunk: store.Chunk{Text: text.String()}}}
		other := &passage{title: title, rarest: rapid.IntRange(0, len(title)-1).Draw(t, "rarest")}
		want := false
		terms := r.analyzer.Terms(text.String())
		for i := 0; i+len(title) <= len(terms); i++ {
			want = want || slices.Equal(terms[i:i+len(title)], title)
		}
		if got := r.names(new(question), p, other); got != want {
			t.Fatalf("%q names %q: %v, want %v", text.String(), title, got, want)
		}
	})
}
