package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/agent/llm"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/llm/ollama"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newModel(t *testing.T, cfg ollama.Config) *ollama.Model {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	cfg.Model, cfg.HTTPClient = "parrot", &http.Client{Transport: transport}
	m, err := ollama.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// reply is a stream, summed up.
type reply struct {
	Text, Thinking string
	Calls          []llm.ToolCall
	Usage          *llm.Usage
	Finish         llm.FinishReason
}

func read(ctx context.Context, m llm.Model, req llm.Request) (reply, error) {
	var r reply
	for d, err := range m.Stream(ctx, req) {
		if err != nil {
			return r, err
		}
		r.Text += d.Text
		r.Thinking += d.Thinking
		r.Calls = append(r.Calls, d.ToolCalls...)
		if d.Usage != nil {
			r.Usage = d.Usage
		}
		if d.Finish != "" {
			r.Finish = d.Finish
		}
	}
	return r, nil
}

var hello = llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hi"}}}

func usage(prompt, completion int) *llm.Usage {
	return &llm.Usage{PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion}
}

func TestRecordedReplies(t *testing.T) {
	call := func(id, args string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: "search", Arguments: json.RawMessage(args)}
	}
	for file, want := range map[string]reply{
		"tool-call.txt": {
			Calls: []llm.ToolCall{call("call_7nd5gzfv", `{"query":"tidal range at Saint-Malo","top_k":3}`)},
			Usage: usage(230, 32), Finish: llm.FinishToolCalls,
		},
		"two-calls.txt": {
			Calls: []llm.ToolCall{call("call_okxptiqk", `{"query":"first"}`), call("call_h5bsennh", `{"query":"second"}`)},
			Usage: usage(21, 49), Finish: llm.FinishToolCalls,
		},
		"prose-then-call.txt": {
			Text: "Let me look. ", Calls: []llm.ToolCall{call("call_lxjv5w88", `{"query":"after prose"}`)},
			Usage: usage(23, 34), Finish: llm.FinishToolCalls,
		},
		"thinking.txt": {Thinking: "The user", Text: " about it.", Usage: usage(22, 19), Finish: llm.FinishStop},
		"thinking-call.txt": {
			Thinking: "Then a search.", Calls: []llm.ToolCall{call("call_53es5h7w", `{"query":"thought about"}`)},
			Usage: usage(21, 31), Finish: llm.FinishToolCalls,
		},
		// A call of a tool that was not offered comes as nothing at all: the
		// agent asks again.
		"unoffered-tool.txt": {Usage: usage(27, 32), Finish: llm.FinishStop},
		"length.txt": {
			Text:  "on and on on and on on and on on and on on and on on and on on and",
			Usage: usage(22, 20), Finish: llm.FinishLength,
		},
	} {
		t.Run(file, func(t *testing.T) {
			server := llmtest.NewReplay(t, file)
			got, err := read(t.Context(), newModel(t, ollama.Config{BaseURL: server.URL}), hello)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRecordedFailures(t *testing.T) {
	for file, want := range map[string]struct {
		text, message string
		retryable     bool
	}{
		"killed-server.txt": {"on and on and on ", "ollama: the reply broke off before its end", true},
		"killed-runner.txt": {"on and on  on on and", "ollama: an error was encountered while running the model: unexpected EOF", true},
		"repeat-limit.txt":  {strings.Repeat("ha ", 7), "ollama: the reply broke off before its end", true},
		"busy.txt":          {"", "ollama: server busy, please try again.  maximum pending requests exceeded", true},
		"no-model.txt":      {"", "ollama: model 'nope' not found", false},
		"no-tools.txt":      {"", "ollama: registry.ollama.ai/library/tinyrand:latest does not support tools", false},
		"no-thinking.txt":   {"", `ollama: "parrot" does not support thinking`, false},
		"bad-schema.txt":    {"", "ollama: invalid JSON schema in format", false},
		"too-long.txt":      {"", "ollama: the input length exceeds the context length", false},
		"loaded.txt":        {"", `ollama: the reply ended for an unknown reason "load"`, true},
	} {
		t.Run(file, func(t *testing.T) {
			server := llmtest.NewReplay(t, file)
			got, err := read(t.Context(), newModel(t, ollama.Config{BaseURL: server.URL}), hello)
			if err == nil || err.Error() != want.message || llm.IsRetryable(err) != want.retryable {
				t.Errorf("error %v, retryable %v", err, llm.IsRetryable(err))
			}
			if got.Text != want.text || got.Finish != "" {
				t.Errorf("text %q, finish %q", got.Text, got.Finish)
			}
		})
	}
}

func TestServerDown(t *testing.T) {
	_, err := read(t.Context(), newModel(t, ollama.Config{BaseURL: "127.0.0.1:1"}), hello)
	if !llm.IsRetryable(err) || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v", err)
	}
}

func TestCancelledInMidStream(t *testing.T) {
	server := llmtest.NewReplay(t, "hang.txt")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var failure error
	for d, err := range newModel(t, ollama.Config{BaseURL: server.URL}).Stream(ctx, hello) {
		if d.Text == "on " {
			cancel()
		}
		failure = err
	}
	if !errors.Is(failure, context.Canceled) || llm.IsRetryable(failure) {
		t.Errorf("%v", failure)
	}
}

func TestIdleServer(t *testing.T) {
	server := llmtest.NewReplay(t, "hang.txt")
	_, err := read(t.Context(), newModel(t, ollama.Config{BaseURL: server.URL, IdleTimeout: 50 * time.Millisecond}), hello)
	if err == nil || err.Error() != "ollama: the server has sent nothing for too long" || !llm.IsRetryable(err) {
		t.Error(err)
	}
}

func TestStoppingEarlyReleasesTheConnection(t *testing.T) {
	server := llmtest.NewReplay(t, "hang.txt") // its handler returns when the client is gone, else Close would hang
	for range newModel(t, ollama.Config{BaseURL: server.URL}).Stream(t.Context(), hello) {
		break
	}
}

func TestRequest(t *testing.T) {
	server := llmtest.NewReplay(t, "length.txt")
	temperature := .2
	m := newModel(t, ollama.Config{
		BaseURL: server.URL, ContextTokens: 4096, MaxTokens: 99, Threads: 1, Think: "off", KeepAlive: time.Minute,
	})
	_, err := read(t.Context(), m, llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Content: "be brief"},
			{Role: llm.User, Content: "tide?"},
			{Role: llm.Assistant, Thinking: "hm", ToolCalls: []llm.ToolCall{
				{ID: "a", Name: "search", Arguments: json.RawMessage(`{"query":"tide"}`)},
				{ID: "b", Name: "search", Arguments: json.RawMessage(`{"query":`)},
			}},
			{Role: llm.ToolRole, Content: "12 m", ToolCallID: "a", ToolName: "search", Data: json.RawMessage(`{"x":1}`)},
		},
		Tools: []llm.ToolSpec{
			{Name: "search", Description: "Searches.", Parameters: json.RawMessage(`{"type":"object","required":["query"],"properties":{"query":{"type":"string","enum":["a"],"minLength":1}}}`)},
			{Name: "now"},
		},
		Temperature: &temperature, Stop: []string{"END"}, Format: json.RawMessage(`{"type":"object"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(server.Requests()[0], &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{
		"model": "parrot", "stream": true, "truncate": false, "shift": false, "think": false, "keep_alive": "1m0s",
		"options": {"num_ctx": 4096, "num_predict": 99, "num_thread": 1, "temperature": 0.2, "stop": ["END"]},
		"messages": [
			{"role": "system", "content": "be brief"},
			{"role": "user", "content": "tide?"},
			{"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [
				{"id": "a", "function": {"index": 0, "name": "search", "arguments": {"query": "tide"}}},
				{"id": "b", "function": {"index": 1, "name": "search", "arguments": {"arguments": "{\"query\":"}}}]},
			{"role": "tool", "content": "12 m", "tool_call_id": "a", "tool_name": "search"}],
		"tools": [
			{"type": "function", "function": {"name": "search", "description": "Searches.", "parameters":
				{"type": "object", "required": ["query"], "properties": {"query": {"type": "string", "enum": ["a"]}}}}},
			{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestConfig(t *testing.T) {
	for name, cfg := range map[string]ollama.Config{
		"no model":   {},
		"bad scheme": {Model: "m", BaseURL: "ftp://x"},
		"bad url":    {Model: "m", BaseURL: "http://"},
		"bad think":  {Model: "m", Think: "hard"},
		"negative":   {Model: "m", ContextTokens: -1},
	} {
		if _, err := ollama.New(cfg); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := ollama.New(ollama.Config{Model: "m"}); err != nil {
		t.Error(err)
	}
	m := newModel(t, ollama.Config{})
	if _, err := read(t.Context(), m, llm.Request{}); err == nil || llm.IsRetryable(err) {
		t.Errorf("a request without messages: %v", err)
	}
}
