package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/store"
)

func cursorOf(t *testing.T, r response) string {
	t.Helper()
	var page struct {
		NextCursor *string `json:"next_cursor"`
	}
	if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != 200 {
		t.Fatalf("%d %s (%v)", r.status, r.body, err)
	}
	if page.NextCursor == nil {
		return ""
	}
	return *page.NextCursor
}

// aResult is what the scripted runs come to.
func aResult() *agent.Result {
	return &agent.Result{
		Answer:     "Boeing spent $2.9 billion [1].",
		Answerable: true,
		Citations: []store.Citation{{
			ID: 1, DocumentID: "doc_1", DocumentName: "boeing.pdf", KnowledgeBase: "Filings", ChunkID: "chk_1",
			PageStart: 43, PageEnd: 43, CharStart: 10, CharEnd: 20, Quote: "R&D <2.9>\n", Verified: true,
		}},
		Steps:          []agent.Step{},
		TotalSteps:     2,
		TotalToolCalls: 1,
		TotalElapsedMS: 12,
		FinishedReason: agent.Complete,
		Usage:          llm.Usage{PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15},
		ConversationID: "conv_1",
		MessageID:      "msg_1",
		RunID:          "run_1",
		Degraded:       []string{},
	}
}

func aRun(result *agent.Result) []agent.Event {
	at := func(ms int) time.Time { return clock.Add(time.Duration(ms) * time.Millisecond) }
	status := agent.StatusSuccess
	if result.FinishedReason == agent.Failed {
		status = agent.StatusError
	}
	return []agent.Event{
		{Kind: agent.RunStart, ID: "run_1", Agent: "assistant", Status: agent.StatusStart, Time: at(0)},
		{Kind: agent.StepStart, ID: "step_1", Parent: "run_1", Label: "step 1", Status: agent.StatusStart, Time: at(1)},
		{Kind: agent.ToolStart, ID: "call_1", Parent: "step_1", Label: "dataset_retriever", Data: json.RawMessage(`{"query":"R&D"}`), Status: agent.StatusStart, Time: at(3)},
		{Kind: agent.ToolEnd, ID: "call_1", Parent: "step_1", Label: "dataset_retriever", Text: "Source 1\nline two", Status: agent.StatusSuccess, Time: at(7)},
		{Kind: agent.StepEnd, ID: "step_1", Parent: "run_1", Label: "step 1", Status: agent.StatusSuccess, Time: at(8)},
		{Kind: agent.TextDelta, Parent: "step_2", Text: "Boeing spent ", Time: at(9)},
		{Kind: agent.TextDelta, Parent: "step_2", Text: "$2.9 billion [1].", Time: at(10)},
		{Kind: agent.RunEnd, ID: "run_1", Agent: "assistant", Status: status, Time: at(12), Result: result},
	}
}

func TestAsk(t *testing.T) {
	h := newHarness(t)
	kb := h.knowledgeBase("kb_1", "Filings")
	h.agent.events = aRun(aResult())
	want, err := json.Marshal(aResult())
	if err != nil {
		t.Fatal(err)
	}
	h.want(h.post("/api/v1/ask", `{"question":"How much?","knowledge_bases":["Filings","kb_1"],"max_iterations":3,"top_k":8}`), 200, string(want))
	if h.agent.input.Question != "How much?" || h.agent.input.MaxIterations != 3 || len(h.agent.input.Tools) != 1 {
		t.Errorf("input %+v", h.agent.input)
	}
	if diff := cmp.Diff(Scope{KnowledgeBases: []store.KnowledgeBase{kb}, TopK: 8}, h.scope, cmp.AllowUnexported()); diff != "" {
		t.Errorf("scope (-want +got):\n%s", diff)
	}
}

func TestAskByStrategy(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.agent.events = aRun(aResult())
	for name, want := range map[string]agent.Strategy{"": nil, `,"strategy":"function_call"`: agent.FunctionCalling{}, `,"strategy":"react"`: agent.ReAct{}} {
		if r := h.post("/api/v1/ask", `{"question":"q","knowledge_bases":["kb_1"]`+name+`}`); r.status != 200 {
			t.Fatalf("%s: %d %s", name, r.status, r.body)
		}
		if got := h.agent.input.Strategy; got != want {
			t.Errorf("%q is %T", name, got)
		}
	}
}

func TestAskWithMessages(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.agent.events = aRun(aResult())
	r := h.post("/api/v1/ask", `{"knowledge_bases":["kb_1"],"messages":[
		{"role":"user","content":"Who?"},{"role":"assistant","content":"Boeing."},{"role":"user","content":"How much?"}]}`)
	if r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	want := []llm.Message{{Role: llm.User, Content: "Who?"}, {Role: llm.Assistant, Content: "Boeing."}}
	if diff := cmp.Diff(want, h.agent.input.History); diff != "" || h.agent.input.Question != "How much?" {
		t.Errorf("question %q, history (-want +got):\n%s", h.agent.input.Question, diff)
	}
}

func TestAskStreams(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.agent.events = aRun(aResult())
	r := h.post("/api/v1/ask", `{"question":"How much?","knowledge_bases":["kb_1"],"stream":true}`)
	if got := r.header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	golden(t, "ask.sse", r.body)
}

func TestFailedRunKeepsItsPartialResult(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	partial := aResult()
	partial.FinishedReason, partial.Error = agent.Failed, "ollama: connection reset"
	h.agent.events = aRun(partial)
	h.agent.err = &llm.Error{Provider: "ollama", Retryable: true, Err: errors.New("connection reset")}
	const question = `{"question":"How much?","knowledge_bases":["kb_1"]`

	r := h.post("/api/v1/ask", question+`}`)
	h.wantProblem(r, Problem{
		Status: 503, Code: CodeModelUnavailable, Result: partial,
		Detail: "the language model cannot be reached: ollama: connection reset",
	})
	if got := r.header.Get("Retry-After"); got != "5" {
		t.Errorf("Retry-After %q", got)
	}
	golden(t, "ask_failed.sse", h.post("/api/v1/ask", question+`,"stream":true}`).body)
}

func TestAskThatFailsBeforeItsFirstEventIsAProblem(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.agent.err = &llm.Error{Provider: "ollama", Err: errors.New(`model "x" not found`)}
	for _, stream := range []string{"false", "true"} {
		h.wantProblem(h.post("/api/v1/ask", `{"question":"q","knowledge_bases":["kb_1"],"stream":`+stream+`}`), Problem{
			Status: 502, Code: CodeModelFailed, Detail: `the language model failed: ollama: model "x" not found`,
		})
	}
}

func TestPanicsInARunAreProblems(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.agent.panics = true
	for _, stream := range []string{"false", "true"} {
		h.wantProblem(h.post("/api/v1/ask", `{"question":"q","knowledge_bases":["kb_1"],"stream":`+stream+`}`), Problem{
			Status: 500, Code: CodeInternal, Detail: internalDetail,
		})
	}
}

func TestAskEndsWithItsClient(t *testing.T) {
	for _, stream := range []string{"false", "true"} {
		h := newHarness(t)
		h.knowledgeBase("kb_1", "Filings")
		h.agent.hang = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/api/v1/ask",
			strings.NewReader(`{"question":"q","knowledge_bases":["kb_1"],"stream":`+stream+`}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		go func() {
			<-h.agent.hang
			cancel()
		}()
		if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
			res.Body.Close()
			t.Error("the client was answered")
		}
		// The harness' server closes only when no handler is left.
	}
}
