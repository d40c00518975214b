package ollama_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent/llm"
	"ragagent/agent/llm/ollama"
	"ragagent/agent/llm/ollama/ollamatest"
)

// TestOllamaServer talks to a real server; see make test-ollama.
func TestOllamaServer(t *testing.T) {
	server := ollamatest.Start(t)
	create := func(name string, thinking bool, rules ...ollamatest.Rule) {
		t.Helper()
		p, err := ollamatest.NewParrot(thinking, rules...)
		if err != nil {
			t.Fatal(err)
		}
		server.Create(t, name, p)
	}
	create("parrot", false,
		ollamatest.Rule{Results: ollamatest.Any, User: "for ever", Say: "over and out ", Loop: true},
		ollamatest.Rule{Tools: ollamatest.Yes, Say: "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"tide\"}}\n</tool_call>"},
		ollamatest.Rule{Results: 1, Say: "It reaches 12 metres – «mesuré» [1]."},
		ollamatest.Rule{Results: ollamatest.Any, Say: "Hello from nobody."})
	create("thinker", true, ollamatest.Rule{Results: ollamatest.Any, Say: "<think>Well, well.</think>Yes."})
	model := func(name, think string, window int) *ollama.Model {
		t.Helper()
		m, err := ollama.New(ollama.Config{BaseURL: server.URL, Model: name, Think: think, Threads: 1, ContextTokens: window})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	tools := []llm.ToolSpec{{Name: "search", Parameters: []byte(`{"type":"object","properties":{"query":{"type":"string"}}}`)}}
	tide := llm.Message{Role: llm.User, Content: "How high?"}

	t.Run("call and answer", func(t *testing.T) {
		m := model("parrot", "", 0)
		got, err := read(t.Context(), m, llm.Request{Messages: []llm.Message{tide}, Tools: tools})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Calls) != 1 || string(got.Calls[0].Arguments) != `{"query":"tide"}` || got.Finish != llm.FinishToolCalls {
			t.Fatalf("got %+v", got)
		}
		got, err = read(t.Context(), m, llm.Request{Tools: tools, Messages: []llm.Message{
			tide, {Role: llm.Assistant, ToolCalls: got.Calls},
			{Role: llm.ToolRole, Content: "12 m", ToolCallID: got.Calls[0].ID, ToolName: "search"},
		}})
		if err != nil || got.Text != "It reaches 12 metres – «mesuré» [1]." || got.Finish != llm.FinishStop || got.Usage.CompletionTokens == 0 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("thinking", func(t *testing.T) {
		got, err := read(t.Context(), model("thinker", "on", 0), llm.Request{Messages: []llm.Message{tide}})
		if err != nil || got.Thinking != "Well, well." || got.Text != "Yes." {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("length", func(t *testing.T) {
		got, err := read(t.Context(), model("parrot", "", 0), llm.Request{
			Messages: []llm.Message{{Role: llm.User, Content: "for ever"}}, MaxTokens: 8,
		})
		if err != nil || got.Finish != llm.FinishLength || got.Usage.CompletionTokens != 8 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("failures", func(t *testing.T) {
		long := llm.Message{Role: llm.User, Content: strings.Repeat("word ", 3000)}
		failures := map[string]string{}
		for name, try := range map[string]struct {
			model *ollama.Model
			req   llm.Request
		}{
			"unknown model": {model("nope", "", 0), llm.Request{Messages: []llm.Message{tide}}},
			"too long":      {model("parrot", "", 1024), llm.Request{Messages: []llm.Message{long}}},
			"no thinking":   {model("parrot", "on", 0), llm.Request{Messages: []llm.Message{tide}}},
		} {
			_, err := read(t.Context(), try.model, try.req)
			if err == nil || llm.IsRetryable(err) {
				t.Errorf("%s: %v, retryable %v", name, err, llm.IsRetryable(err))
				continue
			}
			failures[name] = err.Error()
		}
		want := map[string]string{
			"unknown model": "ollama: model 'nope' not found",
			"too long":      "ollama: the input length exceeds the context length",
			"no thinking":   `ollama: "parrot" does not support thinking`,
		}
		if diff := cmp.Diff(want, failures); diff != "" {
			t.Error(diff)
		}
	})
}
