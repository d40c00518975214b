package api

import (
	"net/http"
	"testing"
)

func TestReindex(t *testing.T) {
	h := newHarness(t)
	kb := h.knowledgeBase("kb_1", "Filings")
	doc := h.document(kb, "a.txt", "text/plain", "text", "text")
	h.upload([3]string{"file", "b.txt", "never read"})
	h.want(h.post("/api/v1/knowledge-bases/Filings/reindex", ""), http.StatusAccepted, `{"skipped":1,"documents":[
		{"id":"`+doc.ID+`","name":"a.txt","revision":2,"status":"queued","job_id":"job_100"}]}`)
	if r := h.post("/api/v1/knowledge-bases/None/reindex", ""); r.status != http.StatusNotFound {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}
