package retrieval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
)

func TestDuplicatesAreFolded(t *testing.T) {
	long := "The comet was seen by the crew of the first ship in the spring of 1999, " + strings.Repeat("and again by others who wrote of it in letters to friends at home, ", 3)
	tests := map[string]struct {
		a, b string
		same bool
	}{
		"equal":                 {long, long, true},
		"case and punctuation":  {long, strings.ToUpper(strings.ReplaceAll(long, ",", " –")), true},
		"one word more":         {long, long + "comet", true},
		"another number":        {long, strings.ReplaceAll(long, "1999", "1998"), false},
		"a sentence more":       {long, long + " A comet is made of ice and dust, and its tail is blown from the sun by its wind.", false},
		"short, equal":          {"comet", "Comet!", true},
		"short, different":      {"comet one", "comet two", false},
		"Chinese, equal":        {"comet 彗星是由冰构成的小天体。", "comet：彗星是由冰构成的小天体", true},
		"Chinese, different":    {"comet 彗星是由冰构成的小天体。", "comet 行星是由岩石构成的大天体", false},
		"order of numbers":      {"comet 12 and 13", "comet 13 and 12", false},
		"same words, reordered": {"comet over hill and dale and sea", "comet over sea and hill and dale", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.put(t, "kb_1", "a", test.a)
			w.put(t, "kb_2", "b", test.b)
			r := w.retrieve(t, retrieval.Query{Text: "comet", KnowledgeBases: []string{"kb_1", "kb_2"}})
			want := 2
			if test.same {
				want = 1
			}
			if len(r.Hits) != want {
				t.Fatalf("%d hits, want %d", len(r.Hits), want)
			}
			if !test.same {
				return
			}
			hit := r.Hits[0]
			if len(hit.AlsoIn) != 1 || hit.AlsoIn[0].DocumentID == hit.DocumentID || hit.AlsoIn[0].Score > hit.Score ||
				hit.AlsoIn[0].KnowledgeBaseName != "name of "+hit.AlsoIn[0].KnowledgeBaseID {
				t.Errorf("also in %+v", hit.AlsoIn)
			}
			unfolded := retrieval.Unfold(r.Hits)
			if diff := cmp.Diff([]string{hit.DocumentID, hit.AlsoIn[0].DocumentID}, []string{unfolded[0].DocumentID, unfolded[1].DocumentID}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is folded makes room for others.
func TestFoldedMakesRoom(t *testing.T) {
	w := newWorld(t, nil)
	for _, id := range []string{"a", "b", "c"} {
		w.put(t, "kb_1", id, "the comet of the century")
	}
	w.put(t, "kb_1", "d", "a comet that nobody has seen since")
	r := w.retrieve(t, retrieval.Query{Text: "comet", TopK: 2})
	if len(r.Hits) != 2 || len(r.Hits[0].AlsoIn) != 2 || r.Hits[1].DocumentID != "d" {
		t.Errorf("%+v", r.Hits)
	}
}
