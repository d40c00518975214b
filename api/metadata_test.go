package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/store"
)

func TestListFields(t *testing.T) {
	var asked []any
	h := newHarness(t, func(c *Config) {
		c.Fields = func(kbID string, values int) []retrieval.Field {
			asked = append(asked, kbID, values)
			return store2020()
		}
	})
	h.knowledgeBase("kb_1", "Filings")
	const want = `{"fields":[
		{"name":"tags","type":"list","built_in":false,"documents":2,"distinct":0,"values":[]},
		{"name":"year","type":"number","built_in":false,"documents":3,"distinct":2,"least":0,"most":2020,"values":[{"value":2020,"documents":2},{"value":0,"documents":1}]}]}`
	h.want(h.get("/api/v1/knowledge-bases/Filings/metadata"), 200, want)
	h.want(h.get("/api/v1/knowledge-bases/kb_1/metadata?values=100"), 200, want)
	if diff := cmp.Diff([]any{"kb_1", 20, "kb_1", 100}, asked); diff != "" {
		t.Error(diff)
	}
	h.wantProblem(h.get("/api/v1/knowledge-bases/kb_1/metadata?values=101"), Problem{
		Status: 400, Code: CodeInvalid, Detail: "values: must be a whole number from 1 to 100",
		Errors: []ProblemField{{"values", "must be a whole number from 1 to 100"}},
	})
}

func store2020() []retrieval.Field {
	year := retrieval.Field{Name: "year", Type: "number", Documents: 3, Distinct: 2, Least: 0., Most: 2020.}
	year.Values = append(year.Values, retrieval.FieldCount{Value: 2020., Documents: 2}, retrieval.FieldCount{Value: 0., Documents: 1})
	return []retrieval.Field{{Name: "tags", Type: "list", Documents: 2}, year}
}

// The filter of a question is the filter of what its tools find.
func TestFilterReachesSearchAndTools(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.retriever.result = retrieval.Result{Query: "q"}
	h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"],"filter":{"year":{"ge":2020}}}`)
	h.post("/api/v1/ask", `{"question":"q","knowledge_bases":["kb_1"],"filter":{"year":{"ge":2020}}}`)
	for name, f := range map[string]*store.Filter{"retrieve": h.retriever.query.Filter, "ask": h.scope.Filter} {
		for year, want := range map[float64]bool{2019: false, 2020: true} {
			if f == nil || f.Match(func(string) any { return year }) != want {
				t.Errorf("%s: the filter is not there or does not choose %v", name, year)
			}
		}
	}
	h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"],"filter":null}`)
	if h.retriever.query.Filter != nil {
		t.Error("null is a filter")
	}
}
