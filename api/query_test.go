package api

import (
	"net/http"
	"testing"
)

// TestUnknownQueryParameters: every route names the query parameters that it
// does not have, beside those it has.
func TestUnknownQueryParameters(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.want(h.get("/api/v1/jobs?limt=3&status=failed&staus=ready"), http.StatusBadRequest, `{"type":"about:blank","title":"Bad Request","status":400,"code":"invalid",
		"detail":"limt: is not a query parameter of this address, which has status, knowledge_base, document, limit, cursor",
		"errors":[{"field":"limt","detail":"is not a query parameter of this address, which has status, knowledge_base, document, limit, cursor"},
			{"field":"staus","detail":"is not a query parameter of this address, which has status, knowledge_base, document, limit, cursor"}]}`)
	h.want(h.get("/api/v1/jobs/job_1?limit=3"), http.StatusBadRequest, `{"type":"about:blank","title":"Bad Request","status":400,"code":"invalid",
		"detail":"limit: is not a query parameter of this address, which has none",
		"errors":[{"field":"limit","detail":"is not a query parameter of this address, which has none"}]}`)
	h.want(h.get("/api/v1/jobs?limit=3&limit=4"), http.StatusBadRequest, `{"type":"about:blank","title":"Bad Request","status":400,"code":"invalid",
		"detail":"limit: stands in the query twice","errors":[{"field":"limit","detail":"stands in the query twice"}]}`)
	for _, r := range h.server.routes() {
		for _, query := range []string{"?no_such=1", "?%zz"} {
			got := h.do(r.method, r.path+query, "")
			want := http.StatusBadRequest
			if r.path[1:] == "healthz" || r.path[1:] == "readyz" || r.path[1:] == "metrics" || r.path[1:] == "openapi.json" {
				want = http.StatusOK
			}
			if got.status != want {
				t.Errorf("%s %s: status %d, want %d: %s", r.method, r.path+query, got.status, want, got.body)
			}
		}
	}
}

// TestMisspeltSourceDeletesNothing: path and origin say that only a source goes.
func TestMisspeltSourceDeletesNothing(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	if r := h.do(http.MethodDelete, documentsPath+"/doc_1?pth=a.txt", ""); r.status != http.StatusBadRequest {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}
