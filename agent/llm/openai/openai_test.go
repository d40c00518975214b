package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/agent/llm"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/llm/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newModel(t *testing.T, cfg openai.Config) *openai.Model {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	cfg.Model, cfg.HTTPClient = "tiny", &http.Client{Transport: transport}
	m, err := openai.New(cfg)
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

func call(id, args string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: "search", Arguments: json.RawMessage(args)}
}

func TestReplies(t *testing.T) {
	for file, want := range map[string]reply{
		"text.txt": {Text: "Twelve metres.", Usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 4, TotalTokens: 13}, Finish: llm.FinishStop},
		"calls.txt": {
			Text: "Let me look. ", Calls: []llm.ToolCall{call("call_a", `{"query":"tide"}`), call("call_b", `{}`)},
			Usage: &llm.Usage{PromptTokens: 20, CompletionTokens: 8, TotalTokens: 28}, Finish: llm.FinishToolCalls,
		},
		"calls-without-index.txt": {Calls: []llm.ToolCall{call("call_a", `{"query":"a"}`), call("call_b", `{"query":"b"}`)}, Finish: llm.FinishToolCalls},
		"thinking.txt":            {Text: "12", Thinking: "Tides: high.", Finish: llm.FinishLength},
		"whole.txt":               {Text: "Twelve.", Usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 4, TotalTokens: 13}, Finish: llm.FinishStop},
		"whole-call.txt":          {Calls: []llm.ToolCall{call("c1", `{"query":1}`)}, Finish: llm.FinishToolCalls},
	} {
		t.Run(file, func(t *testing.T) {
			got, err := read(t.Context(), newModel(t, openai.Config{BaseURL: llmtest.NewReplay(t, file).URL}), hello)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	withTools := hello
	withTools.Tools = []llm.ToolSpec{{Name: "search"}}
	for file, want := range map[string]struct {
		text, err string
		retryable bool
	}{
		"cut.txt":          {"Twe", "openai: unexpected EOF", true},
		"unfinished.txt":   {"Twe", "openai: the reply broke off before its end", true},
		"hang.txt":         {"Twe", "openai: the server has sent nothing for too long", true},
		"error-within.txt": {"", "openai: out of memory", true},
		"filtered.txt":     {"Twe", "openai: the server's content filter stopped the reply", false},
		"bad-key.txt":      {"", "openai: Incorrect API key provided", false},
		"busy.txt":         {"", "openai: slow down", true},
		"gateway.txt":      {"", "openai: the server answered 503", true},
		"no-model.txt":     {"", "openai: model not found", false},
		"no-tools.txt":     {"", "openai: This model does not support tools.", false},
		"moved.txt":        {"", "openai: moved", false},
	} {
		t.Run(file, func(t *testing.T) {
			m := newModel(t, openai.Config{BaseURL: llmtest.NewReplay(t, file).URL, Key: "secret", IdleTimeout: 200 * time.Millisecond})
			got, err := read(t.Context(), m, withTools)
			if err == nil || err.Error() != want.err || llm.IsRetryable(err) != want.retryable || got.Text != want.text {
				t.Errorf("%q, %v, retryable %v", got.Text, err, llm.IsRetryable(err))
			}
			if errors.Is(err, llm.ErrNoToolCalls) != (file == "no-tools.txt") {
				t.Errorf("%v means that it cannot call tools", err)
			}
		})
	}
	_, err := read(t.Context(), newModel(t, openai.Config{BaseURL: llmtest.NewReplay(t, "nonsense.txt").URL}), hello)
	if err == nil || !strings.HasPrefix(err.Error(), "openai: the server's answer is not understood: ") {
		t.Errorf("nonsense: %v", err)
	}
}

// TestRequest: as it goes over the wire, with its key.
func TestRequest(t *testing.T) {
	var body, path, auth string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body, path, auth = string(raw), r.URL.Path, r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"ok"}}]}`)
	}))
	defer server.Close()
	warm := .5
	req := llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Content: "be brief"}, {Role: llm.User, Content: "hi"},
			{Role: llm.Assistant, Thinking: "hm", ToolCalls: []llm.ToolCall{call("c1", `{"query":"a"}`), call("c2", `{"query`)}},
			{Role: llm.ToolRole, Content: "found", ToolCallID: "c1", ToolName: "search", Data: json.RawMessage(`{"secret":1}`)},
		},
		Tools:       []llm.ToolSpec{{Name: "search", Description: "finds", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Temperature: &warm, MaxTokens: 7, Stop: []string{"END"}, Format: json.RawMessage(`{"type":"object"}`),
	}
	got, err := read(t.Context(), newModel(t, openai.Config{BaseURL: server.URL + "/api/v1/", Key: "secret"}), req)
	if err != nil || got.Text != "ok" {
		t.Fatalf("%+v, %v", got, err)
	}
	want := `{"model":"tiny","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"search","arguments":"{\"query\":\"a\"}"}},` +
		`{"id":"c2","type":"function","function":{"name":"search","arguments":"{\"arguments\":\"{\\\"query\"}"}}]},{"role":"tool","content":"found","tool_call_id":"c1"}],` +
		`"tools":[{"type":"function","function":{"name":"search","description":"finds","parameters":{"type":"object"}}}],"temperature":0.5,"max_tokens":7,"stop":["END"],` +
		`"response_format":{"type":"json_schema","json_schema":{"name":"output","schema":{"type":"object"}}},"stream":true,"stream_options":{"include_usage":true}}`
	if diff := cmp.Diff(want, body); diff != "" || path != "/api/v1/chat/completions" || auth != "Bearer secret" {
		t.Errorf("%s, %s: %s", path, auth, diff)
	}
}

// TestAsksAgainWithoutWhatIsNotKnown, but not for ever.
func TestAsksAgainWithoutWhatIsNotKnown(t *testing.T) {
	server := llmtest.NewReplay(t, "no-stream-options.txt", "no-format.txt", "text.txt")
	req := hello
	req.Format = json.RawMessage(`{"type":"object"}`)
	got, err := read(t.Context(), newModel(t, openai.Config{BaseURL: server.URL}), req)
	if err != nil || got.Text != "Twelve metres." {
		t.Fatalf("%+v, %v", got, err)
	}
	last := server.Requests()[2]
	if want := `{"model":"tiny","messages":[{"role":"user","content":"hi"}],"stream":true}`; string(last) != want {
		t.Errorf("the last request is %s", last)
	}
	stubborn := llmtest.NewReplay(t, "no-format.txt")
	if _, err := read(t.Context(), newModel(t, openai.Config{BaseURL: stubborn.URL}), req); err == nil || len(stubborn.Requests()) > 3 {
		t.Errorf("%v after %d requests", err, len(stubborn.Requests()))
	}
}

func TestCancelAndEarlyBreak(t *testing.T) {
	m := newModel(t, openai.Config{BaseURL: llmtest.NewReplay(t, "hang.txt").URL})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var failure error
	for d, err := range m.Stream(ctx, hello) {
		if d.Text != "" {
			cancel()
		}
		failure = err
	}
	if !errors.Is(failure, context.Canceled) {
		t.Errorf("cancelled: %v", failure)
	}
	for range m.Stream(t.Context(), hello) {
		break
	}
}

func TestBadConfigs(t *testing.T) {
	for name, cfg := range map[string]openai.Config{
		"no model":        {},
		"no address":      {Model: "x", BaseURL: "ftp://example.com"},
		"key in its URL":  {Model: "x", BaseURL: "https://user:key@example.com"},
		"negative bounds": {Model: "x", MaxTokens: -1},
	} {
		if _, err := openai.New(cfg); err == nil || strings.Contains(err.Error(), "key@") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := openai.New(openai.Config{Model: "x"}); err != nil {
		t.Errorf("defaults: %v", err)
	}
}
