package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"ragagent/store"
)

func TestConversations(t *testing.T) {
	h := newHarness(t)
	conv := store.Conversation{ID: "conv_1", Title: "How much?", CreatedAt: clock, UpdatedAt: clock}
	run := store.Run{
		ID: "run_1", ConversationID: "conv_1", Agent: "assistant", Question: "How much?", Answer: "2.9 [1]", FinishedReason: "complete",
		Trace: json.RawMessage(`{"label":"run","children":[]}`), StartedAt: clock, EndedAt: clock,
		Steps: []store.Thought{{Position: 1, Thought: "search", Tool: "dataset_retriever", ToolInput: `{"query":"x"}`, Observation: "Source 1", ElapsedMS: 4}},
	}
	citation := store.Citation{ID: 1, DocumentID: "doc_1", DocumentName: "a", KnowledgeBase: "Filings", ChunkID: "chk_1", CharEnd: 3, Quote: "2.9", Verified: true}
	messages := []store.Message{
		{ID: "msg_1", ConversationID: "conv_1", Role: "user", Content: "How much?", CreatedAt: clock},
		{ID: "msg_2", ConversationID: "conv_1", RunID: "run_1", Role: "assistant", Content: "2.9 [1]", Citations: []store.Citation{citation}, CreatedAt: clock},
	}
	if err := h.db.StartConversation(t.Context(), conv, run, messages); err != nil {
		t.Fatal(err)
	}
	const head = `"id":"conv_1","title":"How much?","created_at":"2026-03-04T05:06:07Z","updated_at":"2026-03-04T05:06:07Z"`
	h.want(h.get("/api/v1/conversations"), 200, `{"data":[{`+head+`}],"next_cursor":null}`)
	const first = `{"id":"msg_1","role":"user","content":"How much?","citations":[],"created_at":"2026-03-04T05:06:07Z"}`
	const second = `{"id":"msg_2","run_id":"run_1","role":"assistant","content":"2.9 [1]","created_at":"2026-03-04T05:06:07Z","citations":[
		{"id":1,"document_id":"doc_1","document_name":"a","knowledge_base":"Filings","chunk_id":"chk_1","char_start":0,"char_end":3,"quote":"2.9","verified":true}]}`
	h.want(h.get("/api/v1/conversations/conv_1"), 200, `{`+head+`,"messages":[`+first+`,`+second+`],"next_cursor":null}`)
	h.want(h.get("/api/v1/conversations/conv_1?limit=1"), 200, `{`+head+`,"messages":[`+first+`],"next_cursor":"msg_1"}`)
	h.want(h.get("/api/v1/conversations/conv_1?cursor=msg_1"), 200, `{`+head+`,"messages":[`+second+`],"next_cursor":null}`)
	h.want(h.get("/api/v1/runs/run_1"), 200, `{"id":"run_1","conversation_id":"conv_1","agent":"assistant","question":"How much?","answer":"2.9 [1]",
		"finished_reason":"complete","status":"ended","trace":{"label":"run","children":[]},"started_at":"2026-03-04T05:06:07Z","ended_at":"2026-03-04T05:06:07Z",
		"steps":[{"position":1,"thought":"search","tool":"dataset_retriever","tool_input":"{\"query\":\"x\"}","observation":"Source 1","elapsed_ms":4}]}`)

	if r := h.do(http.MethodDelete, "/api/v1/conversations/conv_1", ""); r.status != 204 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	gone := Problem{Status: 404, Code: CodeNotFound, Detail: `there is no conversation "conv_1"`}
	h.wantProblem(h.get("/api/v1/conversations/conv_1"), gone)
	h.wantProblem(h.do(http.MethodDelete, "/api/v1/conversations/conv_1", ""), gone)
	h.wantProblem(h.get("/api/v1/runs/run_1"), Problem{Status: 404, Code: CodeNotFound, Detail: `there is no run "run_1"`})
}
