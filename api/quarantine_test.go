package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"ragagent/ingest"
	"ragagent/retrieval"
)

// TestQuarantine: a knowledge base that could not be loaded says so wherever it
// is asked for, and the others answer.
func TestQuarantine(t *testing.T) {
	apart := &ingest.QuarantineError{KnowledgeBase: "bad", Cause: errors.New("document doc_7: a vector is stored in 3 bytes")}
	h := newHarness(t, func(c *Config) {
		c.Quarantined = func(kb string) error {
			if kb == "kb_1" {
				return apart
			}
			return nil
		}
	})
	h.knowledgeBase("kb_1", "bad")
	h.knowledgeBase("kb_2", "good")
	h.retriever.result = retrieval.Result{Query: "q"}

	r := h.get("/api/v1/knowledge-bases/bad")
	if r.status != 200 || !strings.Contains(r.body, `"state":"quarantined"`) || !strings.Contains(r.body, "document doc_7: a vector is stored in 3 bytes") {
		t.Errorf("bad: %d %s", r.status, r.body)
	}
	if r := h.get("/api/v1/knowledge-bases/good"); !strings.Contains(r.body, `"state":"ready"`) || strings.Contains(r.body, "error") {
		t.Errorf("good: %s", r.body)
	}
	want := Problem{Status: http.StatusServiceUnavailable, Code: CodeQuarantined, Detail: apart.Error()}
	h.wantProblem(h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["bad"]}`), want)
	h.wantProblem(h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["good","bad"]}`), want)
	h.wantProblem(h.post("/api/v1/ask", `{"question":"q","knowledge_bases":["bad"]}`), want)
	if r := h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["good"]}`); r.status != 200 {
		t.Errorf("retrieve from the good one: %d %s", r.status, r.body)
	}
	h.ingest.err = apart
	h.wantProblem(h.post("/api/v1/knowledge-bases/bad/documents", `{"name":"a.txt","text":"x"}`), want)
}
