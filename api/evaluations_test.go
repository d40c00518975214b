package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/retrieval/eval"
	"ragagent/retrieval/eval/queue"
	"ragagent/store"
)

// withQueue gives the server a queue over its records; start lets it work.
func withQueue(t *testing.T) (h *harness, start func()) {
	t.Helper()
	var q *queue.Queue
	h = newHarness(t, func(c *Config) {
		var err error
		q, err = queue.New(queue.Config{Records: c.Records.(queue.Records), Traffic: queue.NewTraffic(c.Retriever), Now: func() time.Time { return clock }})
		if err != nil {
			t.Fatal(err)
		}
		c.Evaluations = q
	})
	t.Cleanup(func() { // before the records are closed
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	h.knowledgeBase("kb_1", "Garden")
	h.retriever.result = retrieval.Result{Hits: []retrieval.Hit{
		{Chunk: store.Chunk{ID: "chk_1", DocumentID: "doc_1"}, DocumentName: "a.md"},
		{Chunk: store.Chunk{ID: "chk_2", DocumentID: "doc_2"}, DocumentName: "b.md"},
	}}
	return h, q.Start
}

func (h *harness) evaluationID(r response) string {
	h.Helper()
	var e struct{ ID string }
	if err := json.Unmarshal([]byte(r.body), &e); err != nil || r.status != http.StatusAccepted {
		h.Fatalf("status %d: %s", r.status, r.body)
	}
	return e.ID
}

// measured waits for the end of an evaluation.
func (h *harness) measured(id string) evaluationAnswer {
	h.Helper()
	for {
		r := h.get("/api/v1/evaluations/" + id)
		var e evaluationAnswer
		if err := json.Unmarshal([]byte(r.body), &e); err != nil || r.status != http.StatusOK {
			h.Fatalf("status %d: %s", r.status, r.body)
		}
		if e.Status.Ended() {
			return e
		}
	}
}

func TestEvaluation(t *testing.T) {
	h, start := withQueue(t)
	body := `{"name": "nightly", "knowledge_bases": ["Garden"], "queries": [{"_id": "q1", "text": "one?"}, {"_id": "q2", "text": "two?"}],
		"qrels": [{"query_id": "q1", "document_id": "doc_2", "grade": 2}, {"query_id": "q2", "document": "a.md"}], "metrics": ["mrr", "P@1"], "mode": "lexical", "rewrite": "decompose", "rerank": "mmr", "mmr_lambda": 0.5}`
	r := h.post("/api/v1/evaluations", body, "Idempotency-Key", "k")
	id := h.evaluationID(r)
	if again := h.post("/api/v1/evaluations", body, "Idempotency-Key", "k"); again.body != r.body {
		t.Errorf("the same key: %s", again.body)
	}
	h.want(h.get("/api/v1/evaluations/"+id), 200, `{"id":"`+id+`","name":"nightly","knowledge_bases":["kb_1"],"status":"queued","done":0,"total":2,
		"eta_ms":null,"figures":null,"warnings":[],"created_at":"2026-03-04T05:06:07Z","started_at":null,"updated_at":"2026-03-04T05:06:07Z"}`)
	h.wantProblem(h.get("/api/v1/evaluations/"+id+"/report"), Problem{Status: 409, Code: CodeConflict, Detail: "evaluation " + id + " is queued: there is nothing to show unless it is ready"})
	start()
	e := h.measured(id)
	var figures struct {
		MRR float64 `json:"mrr"`
		P   float64 `json:"P@1"`
	}
	if err := json.Unmarshal(e.Figures, &figures); err != nil || figures.MRR != .75 || figures.P != .5 {
		t.Errorf("%s: %s, %v", e.Status, e.Figures, err)
	}
	if len(e.Warnings) != 1 || !strings.HasPrefix(e.Warnings[0], "2 judged documents are in none") { // the records hold none
		t.Errorf("warnings: %v", e.Warnings)
	}
	rows := h.get("/api/v1/evaluations/" + id + "/queries")
	if lines := strings.Split(strings.TrimSpace(rows.body), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], `{"query":"q1","text":"one?","mrr":0.5,"P@1":0,`) ||
		rows.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("queries: %s", rows.body)
	}
	page := h.get("/api/v1/evaluations/" + id + "/report")
	if !strings.Contains(page.body, "<svg") || page.header.Get("Content-Security-Policy") != reportPolicy {
		t.Errorf("report: %.200s", page.body)
	}
	want := retrieval.Query{
		Text: "two?", KnowledgeBases: []string{"kb_1"}, Mode: retrieval.Lexical, TopK: eval.DefaultDepth,
		Rewrite: store.RewriteDecompose, Rerank: store.RerankMMR, MMRLambda: .5,
	}
	if diff := cmp.Diff(want, h.retriever.query); diff != "" {
		t.Errorf("asked: %s", diff)
	}
}

// The same judgements, in every shape that is read.
func TestEvaluationShapes(t *testing.T) {
	h, start := withQueue(t)
	start()
	for name, in := range map[string]string{
		"relevant":      `"queries": [{"text": "one?", "relevant": ["b.md"]}, {"text": "two?", "relevant": {"doc_1": 1, "x": 0}}]`,
		"objects":       `"queries": {"q1": "one?", "q2": "two?"}, "qrels": {"q1": {"b.md": 1}, "q2": {"doc_1": 1}}`,
		"a qrels file":  `"queries": [{"id": "q1", "text": "one?"}, {"id": "q2", "text": "two?"}], "qrels": "q1 0 doc_2 1\nq2 0 a.md 3\n"`,
		"other columns": `"queries": [{"id": "q1", "text": "one?"}, {"id": "q2", "text": "two?"}], "qrels": [{"query_id": "q1", "corpus_id": "doc_2", "score": 1}, {"query_id": "q2", "corpus_id": "doc_1", "score": 1}]`,
	} {
		e := h.measured(h.evaluationID(h.post("/api/v1/evaluations", `{"knowledge_bases": ["kb_1"], "metrics": ["mrr"], `+in+`}`)))
		if e.Name != "Garden" || !strings.Contains(string(e.Figures), `"mrr":0.75`) {
			t.Errorf("%s: %+v %s", name, e, e.Figures)
		}
	}
}

func TestEvaluationRejects(t *testing.T) {
	h, _ := withQueue(t)
	for field, in := range map[string]string{
		"metrics":             `"queries": {"q1": "one?"}, "qrels": "q1 0 d 1", "metrics": ["bpref"]`,
		"top_k":               `"queries": {"q1": "one?"}, "qrels": "q1 0 d 1", "top_k": 0`,
		"mode":                `"queries": {"q1": "one?"}, "qrels": "q1 0 d 1", "mode": "magic"`,
		"rewrite":             `"queries": {"q1": "one?"}, "qrels": "q1 0 d 1", "rewrite": "better"`,
		"rerank":              `"queries": {"q1": "one?"}, "qrels": "q1 0 d 1", "rerank": "best"`,
		"mmr_lambda":          `"queries": {"q1": "one?"}, "qrels": "q1 0 d 1", "mmr_lambda": 2`,
		"queries":             `"qrels": "q1 0 d 1"`,
		"queries[0].relevant": `"queries": [{"text": "one?", "relevant": "b.md"}]`,
		"qrels":               `"queries": {"q1": "one?"}`,
		"qrels[0]":            `"queries": {"q1": "one?"}, "qrels": [{"query_id": "q1"}]`,
		"qrels[1]":            `"queries": {"q1": "one?"}, "qrels": [{"query_id": "q1", "document": "d"}, {"query_id": "q1", "document": "d", "grade": 2}]`,
	} {
		r := h.post("/api/v1/evaluations", `{"knowledge_bases": ["kb_1"], `+in+`}`)
		var p Problem
		if err := json.Unmarshal([]byte(r.body), &p); err != nil || r.status != 400 || len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %d %s", field, r.status, r.body)
		}
	}
	if r := h.post("/api/v1/evaluations", `{"knowledge_bases": ["kb_1"], "queries": [{"text": "a", "color": 1}], "qrels": "1 0 d 1"}`); r.status != 400 || !strings.Contains(r.body, "color") {
		t.Errorf("unknown field: %s", r.body)
	}
	if r := h.post("/api/v1/evaluations", `{"knowledge_bases": ["none"], "queries": {"q1": "a"}, "qrels": "q1 0 d 1"}`); r.status != 404 {
		t.Errorf("unknown knowledge base: %s", r.body)
	}
	for _, path := range []string{"", "/report", "/queries", "/compare"} {
		if r := h.get("/api/v1/evaluations/eval_0" + path); r.status != 404 {
			t.Errorf("%s: %s", path, r.body)
		}
	}
	plain := newHarness(t)
	if r := plain.get("/api/v1/evaluations"); r.status != 404 || !strings.Contains(r.body, CodeNotSupported) {
		t.Errorf("without a queue: %s", r.body)
	}
}

func TestEvaluationsAreComparedListedAndRemoved(t *testing.T) {
	h, start := withQueue(t)
	const body = `{"knowledge_bases": ["kb_1"], "metrics": ["mrr"], "queries": {"q1": "one?"}, "qrels": {"q1": {"b.md": 1}}}`
	first := h.evaluationID(h.post("/api/v1/evaluations", body))
	cancelled := h.evaluationID(h.post("/api/v1/evaluations", body))
	if r := h.post("/api/v1/evaluations/"+cancelled+"/cancel", ""); r.status != 200 || !strings.Contains(r.body, `"status":"cancelled"`) {
		t.Errorf("cancel: %d %s", r.status, r.body)
	}
	start()
	h.measured(first)
	h.retriever.result.Hits = h.retriever.result.Hits[1:]
	second := h.evaluationID(h.post("/api/v1/evaluations", body))
	h.measured(second)
	h.want(h.get("/api/v1/evaluations/"+second+"/compare?metric=rr&with="+first), 200, `{"measure":"mrr","queries":1,"a":0.5,"b":1,"difference":0.5,
		"ci_low":0.5,"ci_high":0.5,"level":0.95,"p_value":1,"exact":true,"permutations":2,"resamples":10000,"seed":0,"wins":1,"ties":0,"losses":0,
		"changed":[{"query":"q1","a":0.5,"b":1,"difference":0.5}]}`)
	if r := h.get("/api/v1/evaluations/" + second + "/compare?with=" + first); r.status != 400 || !strings.Contains(r.body, "ndcg@10 was not measured") {
		t.Errorf("another measure: %s", r.body)
	}
	if r := h.get("/api/v1/evaluations/" + second + "/compare?metric=mrr&with=" + cancelled); r.status != 409 {
		t.Errorf("one that was cancelled: %s", r.body)
	}
	if r := h.do(http.MethodDelete, "/api/v1/evaluations/"+first, ""); r.status != 204 {
		t.Errorf("delete: %d %s", r.status, r.body)
	}
	var list struct {
		Data       []struct{ ID string }
		NextCursor *string `json:"next_cursor"`
	}
	if err := json.Unmarshal([]byte(h.get("/api/v1/evaluations?limit=1").body), &list); err != nil || len(list.Data) != 1 || list.Data[0].ID != cancelled || *list.NextCursor != cancelled {
		t.Errorf("%+v, %v", list, err)
	}
}
