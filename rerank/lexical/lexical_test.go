package lexical_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/rerank/lexical"
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// weights is a collection in which every word is equally rare but those named.
type weights map[string]float64

func (w weights) TermWeights(_ []string, terms []string) []retrieval.TermWeight {
	out := make([]retrieval.TermWeight, len(terms))
	for i, term := range terms {
		out[i] = retrieval.TermWeight{Term: term, IDF: 1, DF: 1}
		if idf, ok := w[term]; ok {
			out[i].IDF = idf
		}
	}
	return out
}

func rerank(t *testing.T, w weights, query string, hits ...retrieval.Hit) map[string]float64 {
	t.Helper()
	r, err := lexical.New(lexical.Config{Analyzer: analysis.New(), Statistics: w})
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Rerank(t.Context(), query, hits)
	if err != nil {
		t.Fatal(err)
	}
	gains := make(map[string]float64)
	for i, h := range out {
		if i > 0 && h.Score > out[i-1].Score {
			t.Error("not in order")
		}
		for _, before := range hits {
			if before.ID == h.ID {
				gains[h.ID] = math.Round((retrieval.Evidence(h.Score)-retrieval.Evidence(before.Score))*1e9) / 1e9
			}
		}
	}
	return gains
}

func hit(id string, evidence float64, title, text string) retrieval.Hit {
	return retrieval.Hit{
		Chunk: store.Chunk{ID: id, KnowledgeBaseID: "kb", Title: title, Text: text},
		Score: retrieval.Calibrate(evidence),
	}
}

// Names: Boeing (idf 3) and 2022 (1); "What" is a stop word and "Cost" the
// first word. a has both, b one of them.
func TestNamesAndNumbers(t *testing.T) {
	got := rerank(t, weights{"boe": 3}, "Cost of Boeing in 2022",
		hit("a", .4, "", "Boeing in 2022"), hit("b", .4, "", "cost of Boeing"), hit("c", .4, "", "the cost"))
	want := map[string]float64{"a": .05, "b": .05 * 3 / 4, "c": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// a, the best, names b by its title and lacks one of the three words, which b
// has: w = rarity of "Ada Lovelace", res = 1/3. c is named by nobody and names
// a: w res with a's title, and it has none of what a lacks.
func TestLinksByTitle(t *testing.T) {
	// An unknown word of idf ln(2n+2) with n = 3 makes ln(1 + 2.5/1.5) the
	// highest idf of a word that is there.
	highest := math.Log(1 + 2.5/1.5)
	w := weights{"\x00": math.Log(8), "ada": highest / 2, "lovelac": highest / 4, "engin": highest / 4, "analyt": highest / 4}
	// The words of the question weigh 1 each.
	got := rerank(t, w, "where was the first programmer born",
		hit("a", .8, "Engine analyt", "The first programmer was Ada Lovelace."),
		hit("b", .2, "Ada Lovelace (1815)", "Born in London."),
		hit("c", .1, "Other thing", "The engine analyt again."))
	// Terms: first, programm, born. b is among the best itself and lends a,
	// which names it and has the two terms it lacks, .2/.8 * .5 * 2/3.
	want := map[string]float64{"a": .25 / 3, "b": .5/3 + .2*.5, "c": 0}
	for id := range want {
		if math.Abs(got[id]-want[id]) > 1e-6 {
			t.Errorf("%s: %v, want %v", id, got[id], want[id])
		}
	}
}

func TestManyChunksOfOneTitleDoNotLink(t *testing.T) {
	w := weights{"\x00": math.Log(8)}
	got := rerank(t, w, "where was the first programmer born",
		hit("a", .8, "Engines", "The first programmer was Ada Lovelace."),
		hit("b", .2, "Ada Lovelace", "Born in London."), hit("c", .2, "Ada Lovelace", "Born."),
		hit("d", .2, "Ada Lovelace", "Born."), hit("e", .2, "Ada Lovelace", "Born."))
	if diff := cmp.Diff(map[string]float64{"a": 0, "b": 0, "c": 0, "d": 0, "e": 0}, got); diff != "" {
		t.Error(diff)
	}
}

func TestExplained(t *testing.T) {
	r, err := lexical.New(lexical.Config{Analyzer: analysis.New(), Statistics: weights{}})
	if err != nil {
		t.Fatal(err)
	}
	h := hit("a", .4, "", "Boeing")
	h.Explain = &retrieval.Explanation{Label: "first stage", Value: .4}
	out, err := r.Rerank(t.Context(), "cost of Boeing", []retrieval.Hit{h})
	if err != nil {
		t.Fatal(err)
	}
	root := out[0].Explain
	if root == nil || retrieval.Calibrate(root.Value) != out[0].Score || len(root.Details) != 2 ||
		math.Abs(root.Details[0].Value+root.Details[1].Value-root.Value) > 1e-12 {
		t.Errorf("%+v", root)
	}
}

// Skimming may let a text through that does not name a title, but never keeps
// one out that does.
func TestSkimmingLosesNothing(t *testing.T) {
	w := weights{"\x00": math.Log(8)}
	for title, text := range map[string]string{
		"Émile Zola":     "a book by EMILE ZOLA",
		"Emile Zola":     "a book by Émile Zola’s friend",
		"Flying Skies":   "they flew the flying sky",
		"U.S. O'Neill":   "the US ONeill",
		"Budget 1,577":   "the budgets 1577",
		"東京大学":           "昔の東京大学は",
		"Ёлка Привет":    "это елка, привет",
		"ﬁne Resumé":     "fine RESUME\u0301",
		"Ｆｕｌｌ Width":     "full widths",
		"L'avion rapide": "avion rapides",
	} {
		got := rerank(t, w, "who is there today", hit("a", .5, "", text), hit("b", .2, title, "today"))
		if got["b"] == 0 {
			t.Errorf("%q names %q", text, title)
		}
	}
}
