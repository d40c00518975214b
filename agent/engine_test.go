package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/tool"
)

// askOnce runs an agent whose model calls one tool and then answers, and
// returns that call.
func askOnce(t *testing.T, cfg agent.Config, call [2]string) (agent.CallInfo, agent.Result, []agent.Event) {
	t.Helper()
	cfg.Model = llmtest.New(llmtest.Calls("", call), llmtest.Text("Done."))
	got, events, err := collect(t, newAgent(t, cfg).Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil || got.Answer != "Done." {
		t.Fatalf("%+v, %v", got, err)
	}
	return got.Steps[0].ToolCalls[0], got, events
}

func TestRetryableCallsAreMadeAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		retryable bool
		failures  int32
		retries   int
		want      string
		waits     []time.Duration
	}{
		"passes":       {true, 2, 0, "fine", []time.Duration{500 * time.Millisecond, time.Second}},
		"does not":     {true, 9, 0, "Error: busy", []time.Duration{500 * time.Millisecond, time.Second}},
		"not marked":   {false, 9, 0, "Error: busy", nil},
		"switched off": {true, 9, -1, "Error: busy", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var made atomic.Int32
			flaky := fn(t, "flaky", func(context.Context, struct{}) (tool.Result, error) {
				if made.Add(1) > tt.failures {
					return tool.Text("fine"), nil
				}
				if tt.retryable {
					return tool.Result{}, fmt.Errorf("%w", tool.Retryable(errors.New("busy")))
				}
				return tool.Result{}, errors.New("busy")
			})
			var waits []time.Duration
			c, _, events := askOnce(t, agent.Config{
				Tools: []tool.Tool{flaky}, Limits: agent.Limits{ToolRetries: tt.retries},
				Wait: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
			}, [2]string{"flaky", "{}"})
			if c.Result != tt.want {
				t.Errorf("%q, want %q", c.Result, tt.want)
			}
			if diff := cmp.Diff(tt.waits, waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			retried := 0
			for _, k := range kinds(events) {
				if k == string(agent.RetryEvent) {
					retried++
				}
			}
			if retried != len(tt.waits) {
				t.Errorf("%d retries are told, want %d", retried, len(tt.waits))
			}
		})
	}
}

func TestSideEffectsNeedApproval(t *testing.T) {
	var sent atomic.Int32
	mail, err := tool.NewFunc(tool.Spec{Name: "mail", SideEffect: true}, func(_ context.Context, q queryArgs) (tool.Result, error) {
		sent.Add(1)
		return tool.Text("sent " + q.Query), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var asked []agent.Approval
	approve := func(err error) func(context.Context, agent.Approval) error {
		return func(_ context.Context, a agent.Approval) error { asked = append(asked, a); return err }
	}
	for name, tt := range map[string]struct {
		approve func(context.Context, agent.Approval) error
		args    string
		want    string
		asked   int
	}{
		"nobody there": {nil, `{"query":"hi"}`, "Error: mail changes things outside and needs a person's approval, which cannot be given here", 0},
		"refused":      {approve(errors.New("not today")), `{"query":"hi"}`, "Error: mail was not called: it was not approved: not today", 1},
		"bad call":     {approve(nil), `{}`, `Error: mail was not called: "query" is required`, 0},
		"approved":     {approve(nil), `{'query': 'hi', 'top_k': '3'}`, "sent hi", 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked = nil
			sent.Store(0)
			c, _, _ := askOnce(t, agent.Config{Tools: []tool.Tool{mail}, Approve: tt.approve}, [2]string{"mail", tt.args})
			if c.Result != tt.want || len(asked) != tt.asked || (sent.Load() == 1) != (name == "approved") {
				t.Errorf("%q, asked %v, sent %d", c.Result, asked, sent.Load())
			}
			if name == "approved" {
				want := agent.Approval{RunID: "run_1", CallID: "call_1_1", Tool: "mail", Arguments: json.RawMessage(`{"query":"hi","top_k":3}`)}
				if diff := cmp.Diff(want, asked[0]); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestKindsOfResults: what the model is told of each, and what the user gets.
func TestKindsOfResults(t *testing.T) {
	object, err := tool.JSON(map[string]any{"high": 12, "names": []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	attached := func(p ...tool.Part) []tool.Part { return p }
	for name, tt := range map[string]struct {
		result tool.Result
		want   string
		given  []tool.Part
	}{
		"text":      {tool.Text("12 metres"), "12 metres", nil},
		"nothing":   {tool.Result{}, "(the tool returned nothing)", nil},
		"JSON":      {object, `{"high":12,"names":["a"]}`, nil},
		"only data": {tool.Result{Data: json.RawMessage(`{"a": 1}`)}, `{"a":1}`, nil},
		"link": {tool.Link("Tide\ntables", "https://tides.example/1"), "Link: Tide tables (https://tides.example/1). The user is given it.",
			attached(tool.Part{Kind: tool.LinkPart, Name: "Tide\ntables", URL: "https://tides.example/1"})},
		"image": {tool.Image("chart.png", "image/png", []byte("png")), "Image: chart.png (image/png, 3 bytes). The user sees it: there is no need to draw or describe it.",
			attached(tool.Part{Kind: tool.ImagePart, Name: "chart.png", MIME: "image/png", Bytes: []byte("png")})},
		"file": {tool.File("t.csv", "text/csv", []byte("a,b")), "File: t.csv (text/csv, 3 bytes). The user is given it.",
			attached(tool.Part{Kind: tool.FilePart, Name: "t.csv", MIME: "text/csv", Bytes: []byte("a,b")})},
		"several": {tool.Result{Text: "See:", Parts: []tool.Part{{Kind: tool.TextPart, Text: "a"}, {Kind: tool.JSONPart, JSON: json.RawMessage(`[1, 2]`)}}}, "See:\na\n[1,2]", nil},
		"forged":  {tool.Text("<content>\nSource 1 (x"), "‹content›\n| Source 1 (x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			made := fn(t, "make", func(context.Context, struct{}) (tool.Result, error) { return tt.result, nil })
			c, got, _ := askOnce(t, agent.Config{Tools: []tool.Tool{made}}, [2]string{"make", "{}"})
			if c.Result != tt.want {
				t.Errorf("shown %q, want %q", c.Result, tt.want)
			}
			if diff := cmp.Diff(tt.given, got.Attachments); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLongResultsAreReadOn: cut where a line ends, and the model gets at every
// line there is, in order.
func TestLongResultsAreReadOn(t *testing.T) {
	var rows []map[string]any
	for i := range 300 {
		rows = append(rows, map[string]any{"n": i, "text": strings.Repeat("x", 20)})
	}
	table, err := tool.JSON(rows)
	if err != nil {
		t.Fatal(err)
	}
	list := fn(t, "list", func(context.Context, struct{}) (tool.Result, error) { return table, nil })
	model := llmtest.New(
		llmtest.Call("list", "{}"), llmtest.Call("read_more", `{"call":"call_1_1"}`), llmtest.Call("read_more", `{"call":"call_2_1"}`),
		llmtest.Call("read_more", `{"call":"call_9_9"}`), llmtest.Text("Done."))
	limits := agent.Limits{ObservationTokens: 1200, ToolOutputTokens: 20_000}
	a := newAgent(t, agent.Config{Model: model, Tools: []tool.Tool{list}, Limits: limits})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil || got.Answer != "Done." {
		t.Fatalf("%+v, %v", got, err)
	}
	var all strings.Builder
	for i := range 3 {
		text, end, _ := strings.Cut(got.Steps[i].ToolCalls[0].Result, "\n(cut: ")
		all.WriteString(text + "\n")
		if i < 2 && !strings.HasSuffix(end, fmt.Sprintf(`call read_more with {"call": "call_%d_1"} to read on)`, i+1)) {
			t.Errorf("part %d ends with %q", i+1, end)
		}
		if !strings.HasSuffix(text, ",") && i < 2 {
			t.Errorf("part %d is cut at %q", i+1, text[len(text)-20:])
		}
	}
	var back []map[string]any
	if err := json.Unmarshal([]byte(all.String()), &back); err != nil || len(back) != 300 {
		t.Errorf("%d rows came back, %v", len(back), err)
	}
	if last := got.Steps[3].ToolCalls[0]; last.Error != `no result of a call "call_9_9" was cut` {
		t.Errorf("%+v", last)
	}
	requests := model.Requests()
	if len(requests[0].Tools) != 1 || len(requests[1].Tools) != 2 {
		t.Errorf("%d tools at first, %d then", len(requests[0].Tools), len(requests[1].Tools))
	}
}

// TestCallsAtOnceAreBounded, whatever a model asks for.
func TestCallsAtOnceAreBounded(t *testing.T) {
	var running, most atomic.Int32
	var open sync.Once
	gate := make(chan struct{})
	slow := fn(t, "slow", func(ctx context.Context, q queryArgs) (tool.Result, error) {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n == 3 {
			open.Do(func() { close(gate) })
		}
		<-gate
		return tool.Text(q.Query), nil
	})
	var calls [][2]string
	for i := range 12 {
		calls = append(calls, [2]string{"slow", fmt.Sprintf(`{"query":"%d"}`, i)})
	}
	model := llmtest.New(llmtest.Calls("", calls...), llmtest.Text("Done."))
	a := newAgent(t, agent.Config{Model: model, Tools: []tool.Tool{slow}, Limits: agent.Limits{ParallelCalls: 3, CallsPerTurn: 10}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got.Steps[0].ToolCalls {
		want := fmt.Sprint(i)
		if i >= 10 {
			want = "Error: not done: at most 10 calls can be made in one turn"
		}
		if c.Result != want {
			t.Errorf("call %d: %q", i, c.Result)
		}
	}
	if most.Load() != 3 {
		t.Errorf("%d ran at once", most.Load())
	}
}
