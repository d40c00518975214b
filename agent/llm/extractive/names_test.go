package extractive

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval/analysis"
)

func TestNames(t *testing.T) {
	a := analysis.New()
	known := []Term{{"product", 1, 9}, {"sell", 1, 9}, {"amazon", 3, 4}, {"offic", 2, 3}, {"revenu", 2, 3}, {"lincoln", 2, 3}}
	for query, want := range map[string]names{
		"What products does Tesla sell?":                      {unknown: []string{"Tesla"}},
		"What products does Amazon sell?":                     {known: []string{"amazon"}},
		"What did Amzon and Tesla sell in the office?":        {unknown: []string{"Tesla"}}, // Amzon was taken for amazon
		"Tesla is what?":                                      {},                           // the first word has a capital anyway
		"Who sells it? Tesla or the office?":                  {},
		"what does the maker of teslas sell":                  {},
		"Wie viele Produkte hat die Firma Tesla im Angebot":   {},
		"What Are The Products That Tesla And Offices Sell":   {}, // a headline
		"What was the revenue of IBM in the year 2022?":       {unknown: []string{"IBM"}},
		"Was it Lincoln's office that the products were for?": {known: []string{"lincoln"}},
		"什么是 Tesla 的产品":                                       {},
	} {
		got := namesOf(query, a.Analyze(query), known)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(names{})); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	if got := namesOf("What does Tesla sell?", a.Analyze("What does Tesla sell?"), nil); len(got.unknown) > 0 {
		t.Errorf("without weights: %v", got)
	}
}
