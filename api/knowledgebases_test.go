package api

import (
	"net/http"
	"strings"
	"testing"
)

func TestKnowledgeBaseLife(t *testing.T) {
	h := newHarness(t)
	const made = `{"id":"kb_1","name":"Filings 2022","description":"d","embedder":"test/embedder",
		"chunking":{"size":200,"overlap":20},"retrieval":{"top_k":0,"score_threshold":0},
		"document_count":0,"chunk_count":0,"created_at":"2026-03-04T05:06:07Z","updated_at":"2026-03-04T05:06:07Z","state":"ready"}`
	h.want(h.post("/api/v1/knowledge-bases", `{"name":"Filings 2022","description":"d","chunking":{"size":200,"overlap":20}}`), 201, made)
	h.want(h.get("/api/v1/knowledge-bases/kb_1"), 200, made)
	h.want(h.get("/api/v1/knowledge-bases/Filings%202022"), 200, made)
	h.want(h.get("/api/v1/knowledge-bases"), 200, `{"data":[`+made+`],"next_cursor":null}`)

	h.wantProblem(h.post("/api/v1/knowledge-bases", `{"name":"Filings 2022"}`), Problem{
		Status: 409, Code: CodeConflict, Detail: `there is a knowledge base "Filings 2022" already`,
		Errors: []ProblemField{{"name", "is taken"}},
	})
	changed := h.do(http.MethodPatch, "/api/v1/knowledge-bases/kb_1", `{"description":"","retrieval":{"top_k":7,"score_threshold":0.5}}`)
	if changed.status != 200 {
		t.Fatalf("patch: %d %s", changed.status, changed.body)
	}
	h.want(h.get("/api/v1/knowledge-bases/kb_1"), 200, changed.body)

	if r := h.do(http.MethodDelete, "/api/v1/knowledge-bases/Filings%202022", ""); r.status != 204 || r.body != "" {
		t.Fatalf("delete: %d %q", r.status, r.body)
	}
	gone := Problem{Status: 404, Code: CodeNotFound, Detail: `there is no knowledge base "Filings 2022"`}
	h.wantProblem(h.get("/api/v1/knowledge-bases/Filings%202022"), gone)
	h.wantProblem(h.do(http.MethodDelete, "/api/v1/knowledge-bases/Filings%202022", ""), gone)
	h.wantProblem(h.do(http.MethodPatch, "/api/v1/knowledge-bases/Filings%202022", "{}"), gone)
}

func TestAChangeOfChunkingSaysWhatItDoesNotDo(t *testing.T) {
	h := newHarness(t)
	kb := h.knowledgeBase("kb_1", "Filings")
	const change = `{"chunking":{"strategy":"sentence","size":200,"overlap":20,"parent":{"size":500}}}`
	patch := func() string { return h.do(http.MethodPatch, "/api/v1/knowledge-bases/kb_1", change).body }
	if got := patch(); strings.Contains(got, "notices") || !strings.Contains(got, change[1:len(change)-1]) {
		t.Errorf("without documents: %s", got)
	}
	h.document(kb, "a.txt", "text/plain", "a", "a")
	const want = `"notices":["the new chunking holds for documents added from now on; the 1 that are here keep their chunks until they are added again"]`
	if got := patch(); !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNamesInAddressesAreDecodedOnce(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "a/b 100% ü")
	for _, path := range []string{"a%2Fb%20100%25%20%C3%BC", "kb_1"} {
		if r := h.get("/api/v1/knowledge-bases/" + path); r.status != 200 {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	h.knowledgeBase("kb_2", "a%2Fb")
	if r := h.get("/api/v1/knowledge-bases/a%252Fb"); r.status != 200 {
		t.Errorf("a%%252Fb: %d %s", r.status, r.body)
	}
}

func TestListingIsPaged(t *testing.T) {
	h := newHarness(t)
	for _, id := range []string{"kb_1", "kb_2", "kb_3"} {
		h.knowledgeBase(id, "name of "+id)
	}
	first := h.get("/api/v1/knowledge-bases?limit=2")
	if got, want := cursorOf(t, first), "kb_2"; got != want {
		t.Fatalf("first page: next_cursor %q, want %q", got, want)
	}
	second := h.get("/api/v1/knowledge-bases?limit=2&cursor=kb_2")
	if got := cursorOf(t, second); got != "" {
		t.Fatalf("last page: next_cursor %q", got)
	}
	whole := h.get("/api/v1/knowledge-bases?limit=3")
	if got := cursorOf(t, whole); got != "" {
		t.Fatalf("a page that is just full: next_cursor %q", got)
	}
	for _, limit := range []string{"0", "-1", "1001", "1e2", "x"} {
		h.wantProblem(h.get("/api/v1/knowledge-bases?limit="+limit), Problem{
			Status: 400, Code: CodeInvalid, Detail: "limit: must be a whole number from 1 to 1000",
			Errors: []ProblemField{{"limit", "must be a whole number from 1 to 1000"}},
		})
	}
	const reason = "is not one this server gave: take next_cursor of the page before"
	for _, cursor := range []string{"doc_1", "kb_", "kb_x'--", "7"} {
		h.wantProblem(h.get("/api/v1/knowledge-bases?cursor="+cursor), Problem{
			Status: 400, Code: CodeInvalid, Detail: "cursor: " + reason, Errors: []ProblemField{{"cursor", reason}},
		})
	}
}
