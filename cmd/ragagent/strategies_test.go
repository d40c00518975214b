package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
)

// scriptedServer speaks OpenAI's API and says its replies in order. It refuses
// tools if it is mute.
type scriptedServer struct {
	mute    bool
	replies []string // the message of each, as JSON

	mu       sync.Mutex
	requests []string
}

func (s *scriptedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if s.mute && strings.Contains(string(raw), `"tools":`) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"message":"tiny does not support tools"}}`)
		return
	}
	reply := s.replies[min(len(s.requests), len(s.replies)-1)]
	s.requests = append(s.requests, string(raw))
	fmt.Fprintf(w, `{"choices":[{"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`, reply)
}

func say(text string) string {
	raw, _ := json.Marshal(map[string]string{"content": text}) // strings always encode
	return string(raw)
}

// TestStrategies: every way to act searches the same documents and cites them,
// with a model on a server.
func TestStrategies(t *testing.T) {
	const search = `{"content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"dataset_retriever","arguments":"{\"query\":\"zebras\"}"}}]}`
	const reAct = "<think>hm</think>Thought: I look.\nAction: dataset_retriever\nAction Input: zebras\nObservation: none"
	const cannotCall = "the model cannot call tools: it was asked to write its actions down (ReAct)"
	for name, tt := range map[string]struct {
		body     string
		server   *scriptedServer
		tools    []string
		degraded []string
	}{
		"default":       {``, &scriptedServer{replies: []string{search, say("Grey [1] [4].")}}, []string{"dataset_retriever"}, []string{}},
		"function_call": {`"strategy":"function_call",`, &scriptedServer{replies: []string{search, say("Grey [1].")}}, []string{"dataset_retriever"}, []string{}},
		"react":         {`"strategy":"react",`, &scriptedServer{replies: []string{say(reAct), say("Thought: ok\nFinal Answer: Grey [1].")}}, []string{"dataset_retriever"}, []string{}},
		"codeact":       {`"strategy":"codeact",`, &scriptedServer{replies: []string{say("<execute>dataset_retriever('zebras').passages.length</execute>"), say("Grey [1].")}}, []string{"dataset_retriever", "execute_code"}, []string{}},
		"mute":          {``, &scriptedServer{mute: true, replies: []string{say(reAct), say("Final Answer: Grey [1].")}}, []string{"dataset_retriever"}, []string{cannotCall}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tt.server)
			defer server.Close()
			withModel(t, modelFlags{LLM: "openai/tiny", LLMURL: server.URL}, func(api *client) {
				got := askAbout(t, api, tt.body)
				if got.Answer != "Grey [1]." || len(got.Citations) != 1 || !got.Citations[0].Verified || got.FinishedReason != agent.Complete {
					t.Errorf("%s: %q, %+v", got.FinishedReason, got.Answer, got.Citations)
				}
				var tools []string
				for _, c := range got.Steps[0].ToolCalls {
					tools = append(tools, c.Name)
				}
				if diff := cmp.Diff(tt.tools, tools); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.degraded, got.Degraded); diff != "" || got.Usage.TotalTokens != 10 {
					t.Errorf("%d tokens, %s", got.Usage.TotalTokens, diff)
				}
			})
		})
	}
}

// TestStrategyOfTheBuiltIn: the built-in answerer follows no prompts, and says so.
func TestStrategyOfTheBuiltIn(t *testing.T) {
	withModel(t, modelFlags{}, func(api *client) {
		got := askAbout(t, api, `"strategy":"react",`)
		if !got.Answerable || len(got.Citations) != 1 || len(got.Degraded) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestOutputSchemaOverHTTP(t *testing.T) {
	server := httptest.NewServer(&scriptedServer{replies: []string{
		`{"content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"dataset_retriever","arguments":"{\"query\":\"zebras\"}"}}]}`,
		`{"content":"","tool_calls":[{"id":"c2","type":"function","function":{"name":"final_output","arguments":"{\"colour\":\"grey [1]\"}"}}]}`,
	}})
	defer server.Close()
	withModel(t, modelFlags{LLM: "openai/tiny", LLMURL: server.URL}, func(api *client) {
		got := askAbout(t, api, `"output_schema":{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]},`)
		if string(got.Output) != `{"colour":"grey [1]"}` || len(got.Citations) != 1 {
			t.Errorf("%s, %+v", got.Output, got.Citations)
		}
	})
}

// askAbout uploads a document and asks about it.
func askAbout(t *testing.T, api *client, more string) (got agent.Result) {
	t.Helper()
	if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
		t.Fatal(err)
	}
	ended(t, api, "zebras.txt", []byte("The zebras of the lighthouse are grey."))
	body := json.RawMessage(`{` + more + `"question":"What colour are the zebras?","knowledge_bases":["kb"]}`)
	if err := api.post(t.Context(), "/api/v1/ask", body, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// withModel is withApp with a model.
func withModel(t *testing.T, models modelFlags, do func(*client)) {
	t.Helper()
	e := &env{ctx: t.Context(), stdout: t.Output(), stderr: t.Output()}
	err := withClient(e, reachFlags{dataFlags: dataFlags{Data: t.TempDir()}}, models, true, func(api *client) error {
		do(api)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
