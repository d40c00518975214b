package api

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/store"
)

// The booleans and the names of kinds, as retrieval is asked.
func TestRetrieveKinds(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	for body, want := range map[string]retrieval.Query{
		``:                                  {},
		`,"rewrite":true,"rerank":true`:     {},
		`,"rewrite":null,"rerank":null`:     {},
		`,"rewrite":false,"rerank":false`:   {NoRewrite: true, NoRerank: true},
		`,"rewrite":"none","rerank":"none"`: {NoRewrite: true, NoRerank: true},
		`,"rewrite":"hyde","rerank":"mmr","mmr_lambda":0.4`: {Rewrite: store.RewriteHyDE, Rerank: store.RerankMMR, MMRLambda: .4},
	} {
		want.Text, want.KnowledgeBases = "q", []string{"kb_1"}
		if r := h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"]`+body+`}`); r.status != 200 {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
		if diff := cmp.Diff(want, h.retriever.query); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	for field, value := range map[string]string{"rewrite": `"HYDE"`, "rerank": `"guess"`, "mmr_lambda": "1.5"} {
		r := h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"],"`+field+`":`+value+`}`)
		if r.status != 400 {
			t.Errorf("%s: %d %s", field, r.status, r.body)
		}
	}
	if r := h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"],"rerank":3}`); r.status != 400 {
		t.Errorf("a number: %d %s", r.status, r.body)
	}
}

func TestRetrieveTellsQueries(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.retriever.result = retrieval.Result{Query: "q", Rewritten: "a | b", Queries: []string{"a", "b"}, Passage: "p"}
	h.want(h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"]}`), 200,
		`{"query":"q","rewritten_query":"a | b","queries":["a","b"],"passage":"p","hits":[],"degraded":[],"elapsed_ms":0}`)
}

func TestDenseWeight(t *testing.T) {
	weights := map[string]retrieval.DenseWeight{
		"kb_1": {Weight: .2, Source: retrieval.WeightMeasured},
		"kb_2": {Source: retrieval.WeightPending},
		"kb_3": {Weight: .1, Source: retrieval.WeightCalibrated, Agreement: 1.5, Error: .25, Spread: .0625, Questions: 180, Chunks: 60, At: clock},
	}
	h := newHarness(t, func(c *Config) {
		c.DenseWeight = func(kb store.KnowledgeBase) retrieval.DenseWeight { return weights[kb.ID] }
	})
	for id, want := range map[string]string{
		"kb_1": `{"weight":0.2,"source":"measured"}`,
		"kb_2": `{"weight":0,"source":"pending"}`,
		"kb_3": `{"weight":0.1,"source":"calibrated","agreement":1.5,"error":0.25,"spread":0.0625,"questions":180,"chunks":60,"calibrated_at":"2026-03-04T05:06:07Z"}`,
	} {
		h.knowledgeBase(id, id)
		var got struct {
			DenseWeight any `json:"dense_weight"`
		}
		r := h.get("/api/v1/knowledge-bases/" + id)
		var wanted any
		if err := errors.Join(json.Unmarshal([]byte(r.body), &got), json.Unmarshal([]byte(want), &wanted)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, got.DenseWeight); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
}
