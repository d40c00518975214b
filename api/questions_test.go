package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/store"
)

func TestRetrieve(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.knowledgeBase("kb_2", "Other")
	h.retriever.result = retrieval.Result{
		Query: "q", Rewritten: "query", Degraded: []string{"dense: no vectors"}, Elapsed: 1234567 * time.Nanosecond,
		Timings: retrieval.Timings{retrieval.StageWords: 700 * time.Microsecond, retrieval.StageRerank: 30500 * time.Nanosecond},
		Hits: []retrieval.Hit{{
			Chunk: store.Chunk{
				ID: "chk_1", DocumentID: "doc_1", Title: "T", Headings: []string{"A", "B"}, PageStart: 3, PageEnd: 4,
				Span: store.Span{Start: 10, End: 14}, Text: "a<b>",
			},
			KnowledgeBaseName: "Filings", DocumentName: "a.pdf", Score: 0.923, Metadata: store.Metadata{"year": 2022.0},
			Explain: &retrieval.Explanation{Label: "fused", Value: 0.923, Details: []retrieval.Explanation{{Label: "bm25", Value: 7}}},
		}, {
			Chunk: store.Chunk{
				ID: "chk_2", DocumentID: "doc_2", Context: "Year | 2022", Text: "b", Span: store.Span{Start: 5, End: 6},
				Parent: store.Section{Span: store.Span{Start: 4, End: 8}, PageStart: 1, PageEnd: 2},
			},
			ParentText: "abcd", Siblings: []retrieval.Sibling{{ID: "chk_3", Span: store.Span{Start: 7, End: 8}, Score: .25}},
		}},
	}
	h.want(h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["Filings","kb_2","kb_1"],"top_k":2,"score_threshold":0.5,
		"mode":"lexical","rewrite":false,"rerank":false,"explain":true}`), 200, `{
		"query":"q","rewritten_query":"query","degraded":["dense: no vectors"],"elapsed_ms":1.234,
		"stages":[{"stage":"words","elapsed_ms":0.7},{"stage":"rerank","elapsed_ms":0.03}],"hits":[
		{"chunk_id":"chk_1","document_id":"doc_1","document_name":"a.pdf","knowledge_base":"Filings","score":0.923,"title":"T","text":"a<b>",
		 "headings":["A","B"],"page_start":3,"page_end":4,"char_start":10,"char_end":14,"metadata":{"year":2022},
		 "explain":{"label":"fused","value":0.923,"details":[{"label":"bm25","value":7}]}},
		{"chunk_id":"chk_2","document_id":"doc_2","document_name":"","knowledge_base":"","score":0,"title":"","text":"b",
		 "headings":[],"char_start":5,"char_end":6,"context":"Year | 2022","metadata":{},
		 "parent":{"page_start":1,"page_end":2,"char_start":4,"char_end":8,"text":"abcd",
		  "others":[{"chunk_id":"chk_3","score":0.25,"char_start":7,"char_end":8}]}}]}`)
	want := retrieval.Query{
		Text: "q", KnowledgeBases: []string{"kb_1", "kb_2"}, TopK: 2, ScoreThreshold: 0.5, Mode: retrieval.Lexical,
		NoRewrite: true, NoRerank: true, Explain: true,
	}
	if diff := cmp.Diff(want, h.retriever.query); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	h.retriever.result = retrieval.Result{Query: "q"}
	h.want(h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"]}`), 200, `{"query":"q","hits":[],"degraded":[],"elapsed_ms":0}`)
	if diff := cmp.Diff(retrieval.Query{Text: "q", KnowledgeBases: []string{"kb_1"}}, h.retriever.query); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
}

func TestBadQuestions(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	invalid := func(field, detail string) Problem {
		return Problem{Status: 400, Code: CodeInvalid, Detail: field + ": " + detail, Errors: []ProblemField{{field, detail}}}
	}
	unknown := func(i int) Problem {
		const detail = `there is no knowledge base "nope"`
		return Problem{Status: 404, Code: CodeNotFound, Detail: detail, Errors: []ProblemField{{fmt.Sprintf("knowledge_bases[%d]", i), detail}}}
	}
	many := `"` + strings.Repeat(`kb_1","`, maxScope) + `kb_1"`
	for _, test := range []struct {
		path, body string
		want       Problem
	}{
		{"/retrieve", `"query":""`, invalid("query", "is missing or empty")},
		{"/retrieve", `"query":" \n"`, invalid("query", "is missing or empty")},
		{"/retrieve", `"query":"` + strings.Repeat("x", 16<<10+1) + `"`, invalid("query", "has 16385 bytes, at most 16384 are allowed")},
		{"/retrieve", `"query":"q","top_k":0`, invalid("top_k", "is 0, allowed are 1 to 1000")},
		{"/retrieve", `"query":"q","top_k":1000000`, invalid("top_k", "is 1000000, allowed are 1 to 1000")},
		{"/retrieve", `"query":"q","top_k":-1`, invalid("top_k", "is -1, allowed are 1 to 1000")},
		{"/retrieve", `"query":"q","score_threshold":1.5`, invalid("score_threshold", "is 1.5, allowed are 0 to 1")},
		{"/retrieve", `"query":"q","mode":"magic"`, invalid("mode", `must be hybrid, lexical or dense, not "magic"`)},
		{"/retrieve", `"query":"q","filter":{"and":[{"year":2022},{"year":{"between":[1,2]}}]}`, invalid(
			"filter.and[1].year.between", `"between" is no operator: use eq, ne, lt, le, gt, ge, in, contains or exists`)},
		{"/retrieve", `"query":"q","knowledge_bases":["kb_1","nope"]`, unknown(1)},
		{"/retrieve", `"query":"q","knowledge_bases":[]`, invalid("knowledge_bases", "is missing: name at least one knowledge base to search")},
		{"/retrieve", `"query":"q","knowledge_bases":[` + many + `]`, invalid("knowledge_bases", "names 257, at most 256 are searched at once")},
		{"/ask", `"question":"q","knowledge_bases":["nope"]`, unknown(0)},
		{"/ask", `"question":"q","knowledge_bases":null`, invalid("knowledge_bases", "is missing: name at least one knowledge base to search")},
		{"/ask", `"top_k":5`, invalid("question", "is missing or empty")},
		{"/ask", `"question":"q","top_k":0`, invalid("top_k", "is 0, allowed are 1 to 1000")},
		{"/ask", `"question":"q","max_iterations":100`, invalid("max_iterations", "is 100, allowed are 1 to 99")},
		{"/ask", `"question":"q","max_iterations":0`, invalid("max_iterations", "is 0, allowed are 1 to 99")},
		{"/ask", `"question":"q","messages":[{"role":"user","content":"q"}]`, invalid("messages", "cannot stand beside question: give one of them")},
		{"/ask", `"messages":[{"role":"system","content":"q"}]`, invalid("messages[0].role", `must be user or assistant, not "system"`)},
		{"/ask", `"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]`, invalid("messages[1].role", "must be user: the last message is the question")},
		{"/ask", `"messages":[{"role":"user","content":""}]`, invalid("messages[0].content", "is missing or empty")},
		{"/ask", `"question":"q","filter":{"or":[]}`, invalid("filter.or", "must be a list of one or more filters")},
		{"/ask", `"question":"q","agent":"research"`, Problem{Status: 400, Code: CodeNotSupported, Detail: "agent: this server has no other agents: leave it out",
			Errors: []ProblemField{{Field: "agent", Detail: "this server has no other agents: leave it out"}}}},
		{"/ask", `"question":"q","output_schema":{"type":"string"}`, invalid("output_schema", `the schema has to be of "type": "object"`)},
		{"/ask", `"question":"q","strategy":"magic"`, invalid("strategy", `must be one of function_call, react, not "magic"`)},
		{"/ask", `"question":"q","conversation_id":"conv_9"`, Problem{Status: 404, Code: CodeNotFound, Detail: `there is no conversation "conv_9"`}},
	} {
		body := "{" + test.body + "}"
		if !strings.Contains(body, "knowledge_bases") {
			body = "{" + test.body + `,"knowledge_bases":["kb_1"]}`
		}
		h.wantProblem(h.post("/api/v1"+test.path, body), test.want)
	}
	if h.retriever.calls+h.agent.calls != 0 {
		t.Errorf("%d questions went through", h.retriever.calls+h.agent.calls)
	}
}

func TestQuestionsBeyondTheQueueAreSentAway(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxRetrieves, c.MaxQueue = 1, 1 })
	h.knowledgeBase("kb_1", "Filings")
	const body = `{"query":"q","knowledge_bases":["kb_1"]}`
	h.retriever.wait = make(chan struct{})
	answers := make(chan response, 2)
	for range 2 {
		go func() { answers <- h.post("/api/v1/retrieve", body) }()
	}
	for len(h.server.retrieves.queue) < 2 { // both are in: one at work, one waiting
		time.Sleep(time.Millisecond)
	}
	r := h.post("/api/v1/retrieve", body)
	h.wantProblem(r, Problem{Status: 503, Code: CodeOverloaded, Detail: "the server has as many searches to do as it can take: try again shortly"})
	if r.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
	}
	close(h.retriever.wait)
	for range 2 {
		if r := <-answers; r.status != 200 {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
}

func TestGateGivesUpWaiting(t *testing.T) {
	g := newGate("things", 1, 1, time.Nanosecond)
	leave, err := g.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.enter(t.Context()); problemOf(err).Code != CodeOverloaded {
		t.Errorf("waited too long: %v", err)
	}
	g.timeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	leave()
	if leave, err = g.enter(t.Context()); err != nil {
		t.Fatalf("a place was lost: %v", err)
	}
	leave()
	if len(g.queue) != 0 || len(g.slots) != 0 {
		t.Errorf("%d, %d places taken", len(g.queue), len(g.slots))
	}
}

func TestRetrieverErrors(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.retriever.err = fmt.Errorf("secret: %w", errors.New("disk on fire"))
	h.wantProblem(h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"]}`), Problem{Status: 500, Code: CodeInternal, Detail: internalDetail})
	h.retriever.err = store.Invalid("query", "holds nothing to search for")
	h.wantProblem(h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"]}`), Problem{
		Status: 400, Code: CodeInvalid, Detail: "query: holds nothing to search for", Errors: []ProblemField{{"query", "holds nothing to search for"}},
	})
}
