package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ragagent/retrieval"
	"ragagent/store"
)

// BenchmarkRetrieve is what the server adds to a search: decoding, checks, the
// lookup of the knowledge base, queue, metrics and encoding of ten hits.
func BenchmarkRetrieve(b *testing.B) {
	s := benchServer(b)
	const body = `{"query":"how much was spent on research and development","knowledge_bases":["Filings"],"top_k":10}`
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "/api/v1/retrieve", strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// BenchmarkHealth is the same without any work: the layers alone.
func BenchmarkHealth(b *testing.B) {
	s := benchServer(b)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
		r.Host = "localhost"
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
}

func benchServer(b *testing.B) *Server {
	b.Helper()
	hits := make([]retrieval.Hit, 10)
	for i := range hits {
		hits[i] = retrieval.Hit{Chunk: store.Chunk{ID: "chk", Text: strings.Repeat("word ", 160)}, Score: .5}
	}
	h := newHarness(b)
	h.knowledgeBase("kb_1", "Filings")
	h.retriever.result = retrieval.Result{Hits: hits}
	return h.server
}
