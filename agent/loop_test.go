package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/tool"
	"ragagent/store"
)

func TestSearchAndCite(t *testing.T) {
	model := llmtest.New(
		llmtest.Calls("Let me look. ", [2]string{"search", `{"query":"tide"}`}),
		llmtest.Text("The range at Saint-Malo ", "is 12 metres [", "1]. Elsewhere", " more [7]", ". The Baltic has none [2]."),
	)
	a := newAgent(t, agent.Config{Model: model, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}})
	got, events, err := collect(t, a.Run(t.Context(), agent.Input{Question: "How high is the tide at Saint-Malo?"}))
	if err != nil {
		t.Fatal(err)
	}
	observation := `Source 1 (coast, score=0.900):
Document: doc_1.md
Citation: [1]
<content>
Tides differ. The tidal range at Saint-Malo reaches 12 metres. It is among the largest in Europe.
</content>
Source 2 (coast, score=0.900):
Document: doc_2.md
Citation: [2]
<content>
The Baltic Sea has almost no tide.
</content>`
	want := agent.Result{
		Answer:     "The range at Saint-Malo is 12 metres [1]. Elsewhere more. The Baltic has none [2].",
		Answerable: true,
		Citations: []store.Citation{
			{ID: 1, DocumentID: "doc_1", DocumentName: "doc_1.md", KnowledgeBase: "coast", ChunkID: "chk_doc_10",
				CharStart: 14, CharEnd: 62, Quote: "The tidal range at Saint-Malo reaches 12 metres.", Verified: true},
			{ID: 2, DocumentID: "doc_2", DocumentName: "doc_2.md", KnowledgeBase: "coast", ChunkID: "chk_doc_20",
				CharStart: 0, CharEnd: 34, Quote: "The Baltic Sea has almost no tide.", Verified: true},
		},
		Steps: []agent.Step{
			{Step: 1, Thought: "Let me look.", ToolCalls: []agent.CallInfo{
				{Name: "search", Arguments: json.RawMessage(`{"query":"tide"}`), Result: observation},
			}},
			{Step: 2, ToolCalls: []agent.CallInfo{}},
		},
		TotalSteps: 2, TotalToolCalls: 1, FinishedReason: agent.Complete,
		Usage:          llm.Usage{PromptTokens: 20, CompletionTokens: 10, TotalTokens: 30},
		ConversationID: "conv_3", MessageID: "msg_2", RunID: "run_1", Degraded: []string{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	wantKinds := []string{"run_start", "step_start", "tool_start", "tool_end", "step_end", "step_start",
		"text_delta", "text_delta", "text_delta", "step_end", "run_end"}
	if diff := cmp.Diff(wantKinds, kinds(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if tools := model.Requests()[1].Messages; tools[len(tools)-1].Content != observation {
		t.Errorf("the model saw %q", tools[len(tools)-1].Content)
	}
}

func TestLimitAsksOnceMoreWithoutTools(t *testing.T) {
	calls := func(n int) llmtest.Reply { return llmtest.Call("search", fmt.Sprintf(`{"query":"try %d"}`, n)) }
	model := llmtest.New(calls(1), calls(2), llmtest.Text("Twelve metres [1]."))
	a := newAgent(t, agent.Config{Model: model, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "tide?", MaxIterations: 2}))
	if err != nil {
		t.Fatal(err)
	}
	if got.FinishedReason != agent.MaxSteps || !got.LimitReached || got.Answer != "Twelve metres [1]." || len(got.Citations) != 1 {
		t.Errorf("got %s, limit %v, %q, %d citations", got.FinishedReason, got.LimitReached, got.Answer, len(got.Citations))
	}
	requests := model.Requests()
	if len(requests) != 3 || len(requests[1].Tools) != 1 || len(requests[2].Tools) != 0 {
		t.Errorf("%d requests; the last has to come without tools", len(requests))
	}
	if n := len(requests[2].Messages); n != 6 { // system, user, 2 x (call, result)
		t.Errorf("the last call sees %d messages, want all 6", n)
	}
}

func TestAnswerOnTheLastTurnIsComplete(t *testing.T) {
	model := llmtest.New(llmtest.Call("search", `{"query":"tide"}`), llmtest.Text("Twelve [1]."))
	a := newAgent(t, agent.Config{Model: model, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "tide?", MaxIterations: 2}))
	if err != nil || got.FinishedReason != agent.Complete || got.LimitReached {
		t.Errorf("got %s, limit %v, %v", got.FinishedReason, got.LimitReached, err)
	}
}

func TestOnlyEverCallingToolsEnds(t *testing.T) {
	for _, max := range []int{1, 5, 99} {
		model := llmtest.New(llmtest.Call("search", `{"query":"tide"}`))
		a := newAgent(t, agent.Config{Model: model, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}})
		got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "tide?", MaxIterations: max}))
		if err != nil {
			t.Fatal(err)
		}
		if got.FinishedReason != agent.MaxSteps || got.Answer != "No answer was reached." || got.Answerable {
			t.Errorf("max %d: %s, %q", max, got.FinishedReason, got.Answer)
		}
		// Two real calls, one warning, one that ends it, one last word.
		if wantSteps := min(max+1, 5); got.TotalSteps != wantSteps {
			t.Errorf("max %d: %d steps, want %d", max, got.TotalSteps, wantSteps)
		}
	}
}

func TestFailuresAreObservations(t *testing.T) {
	boom := fn(t, "boom", func(context.Context, struct{}) (tool.Result, error) { panic("no oil") })
	broken := fn(t, "broken", func(context.Context, struct{}) (tool.Result, error) { return tool.Result{}, errors.New("disk full") })
	slow, err := tool.NewFunc(tool.Spec{Name: "slow", Timeout: time.Millisecond}, func(ctx context.Context, _ struct{}) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ name, args, want string }{
		"unknown tool": {"nosuch", `{}`, `Error: there is no tool "nosuch"; the tools are: search, boom, broken, slow`},
		"bad JSON":     {"search", `{"query": `, "Error: search was not called: the arguments are not valid JSON: the JSON is cut off; write one JSON object"},
		"bad schema":   {"search", `{"top_k": "many"}`, `Error: search was not called: "top_k" has to be of type integer, not "many"; "query" is required`},
		"tool error":   {"broken", `{}`, "Error: disk full"},
		"panic":        {"boom", `{}`, "Error: boom failed unexpectedly; the server's log says why"},
		"timeout":      {"slow", `{}`, "Error: slow did not finish within 1ms"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			model := llmtest.New(llmtest.Call(tt.name, tt.args), llmtest.Text("Sorry."))
			a := newAgent(t, agent.Config{
				Model: model, Tools: []tool.Tool{search(t, tideDocs), boom, broken, slow},
			})
			got, events, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
			if err != nil {
				t.Fatal(err)
			}
			call := got.Steps[0].ToolCalls[0]
			if call.Result != tt.want || "Error: "+call.Error != tt.want || !json.Valid(call.Arguments) {
				t.Errorf("observation %q, error %q, arguments %s", call.Result, call.Error, call.Arguments)
			}
			if got.FinishedReason != agent.Complete || got.Answer != "Sorry." {
				t.Errorf("finished %s with %q", got.FinishedReason, got.Answer)
			}
			i := slices.IndexFunc(events, func(e agent.Event) bool { return e.Kind == agent.ToolEnd })
			if events[i].Status != agent.StatusError {
				t.Errorf("tool_end has status %s", events[i].Status)
			}
		})
	}
}

// TestPanicOfAToolIsLogged: what panicked is for the operator, not for the
// model and the user.
func TestPanicOfAToolIsLogged(t *testing.T) {
	var log bytes.Buffer
	boom := fn(t, "boom", func(context.Context, struct{}) (tool.Result, error) { panic("password 1234") })
	model := llmtest.New(llmtest.Call("boom", `{}`), llmtest.Text("Sorry."))
	a := newAgent(t, agent.Config{Model: model, Tools: []tool.Tool{boom}, Log: slog.New(slog.NewJSONHandler(&log, nil))})
	got, events, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil {
		t.Fatal(err)
	}
	var entry struct{ Level, Run, Tool, Panic, Stack string }
	if err := json.Unmarshal(log.Bytes(), &entry); err != nil {
		t.Fatalf("%s: %v", log.Bytes(), err)
	}
	if entry.Level != "ERROR" || entry.Run != got.RunID || entry.Tool != "boom" || entry.Panic != "password 1234" ||
		!strings.Contains(entry.Stack, "TestPanicOfAToolIsLogged") {
		t.Errorf("logged %+v", entry)
	}
	told, err := json.Marshal([]any{got, events, model.Requests()})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(told), "1234") {
		t.Errorf("told: %s", told)
	}
}

// TestErrorsAreCut: whatever a tool quotes in an error, nobody is shown much of it.
func TestErrorsAreCut(t *testing.T) {
	long := strings.Repeat("a long question ", 1200)
	fail := fn(t, "fail", func(_ context.Context, q queryArgs) (tool.Result, error) {
		return tool.Result{}, errors.New("cannot: " + q.Query + "\n</content>")
	})
	args, err := json.Marshal(queryArgs{Query: long})
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New(llmtest.Call("fail", string(args)), llmtest.Text("Sorry."))
	a := newAgent(t, agent.Config{Model: model, Tools: []tool.Tool{fail}, Limits: agent.Limits{ToolFailures: 1}})
	got, events, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil {
		t.Fatal(err)
	}
	end := events[slices.IndexFunc(events, func(e agent.Event) bool { return e.Kind == agent.ToolEnd })]
	messages := model.Requests()[1].Messages
	shown := messages[len(messages)-1]
	c := got.Steps[0].ToolCalls[0]
	for what, text := range map[string]string{
		"observation": shown.Content, "data": string(shown.Data), "step": c.Error, "result of the step": c.Result,
		"event": end.Err, "run": got.Error,
	} {
		if n := len(text); n < 100 || n > 1200 {
			t.Errorf("%s: %d bytes", what, n)
		}
	}
}

func TestThreeFailuresInARowEnd(t *testing.T) {
	bad := func(n int) llmtest.Reply { return llmtest.Call("nosuch", fmt.Sprintf(`{"n":%d}`, n)) }
	model := llmtest.New(bad(1), bad(2), llmtest.Call("search", `{"query":"x"}`), bad(3), bad(4), bad(5), llmtest.Text("I could not look."))
	a := newAgent(t, agent.Config{Model: model, Tools: []tool.Tool{search(t, tideDocs)}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q", MaxIterations: 99}))
	if err != nil {
		t.Fatal(err)
	}
	if got.FinishedReason != agent.Failed || got.TotalSteps != 7 || got.Answer != "I could not look." {
		t.Errorf("%s after %d steps: %q", got.FinishedReason, got.TotalSteps, got.Answer)
	}
	if !strings.HasPrefix(got.Error, "tools failed 3 times in a row") {
		t.Errorf("error %q", got.Error)
	}
}

func TestParallelCallsKeepTheirOrder(t *testing.T) {
	first := make(chan struct{})
	wait := fn(t, "pair", func(ctx context.Context, a queryArgs) (tool.Result, error) {
		if a.Query == "one" { // waits for the second: both have to run at once
			select {
			case <-first:
			case <-ctx.Done():
				return tool.Result{}, ctx.Err()
			}
		} else {
			close(first)
		}
		return tool.Result{Text: "result " + a.Query}, nil
	})
	model := llmtest.New(llmtest.Calls("", [2]string{"pair", `{"query":"one"}`}, [2]string{"pair", `{"query":"two"}`}), llmtest.Text("Done."))
	a := newAgent(t, agent.Config{Model: model, Tools: []tool.Tool{wait}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil {
		t.Fatal(err)
	}
	var results []string
	for _, c := range got.Steps[0].ToolCalls {
		results = append(results, c.Result)
	}
	if diff := cmp.Diff([]string{"result one", "result two"}, results); diff != "" {
		t.Error(diff)
	}
	messages := model.Requests()[1].Messages
	ids := []string{messages[3].ToolCallID, messages[4].ToolCallID}
	if diff := cmp.Diff([]string{"call_1_1", "call_1_2"}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestModelFailureKeepsThePartialResult(t *testing.T) {
	cause := &llm.Error{Provider: "test", Err: errors.New("the server is gone")}
	model := llmtest.New(llmtest.Call("search", `{"query":"tide"}`), llmtest.Failure(cause, "The range is 12 metres [1]"))
	a := newAgent(t, agent.Config{Model: model, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
	if got.FinishedReason != agent.Failed || got.Answer != "The range is 12 metres [1]" || len(got.Citations) != 1 || got.Error == "" {
		t.Errorf("%s, %q, %v", got.FinishedReason, got.Answer, got.Citations)
	}
}

func TestRetriesWhatMayPass(t *testing.T) {
	busy := &llm.Error{Provider: "test", Retryable: true, Err: errors.New("busy")}
	var waits []time.Duration
	cfg := agent.Config{
		Model: llmtest.New(llmtest.Failure(busy), llmtest.Failure(busy, "half a"), llmtest.Text("Good day.")),
		Tools: []tool.Tool{search(t, tideDocs)},
		Wait: func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			return nil
		},
	}
	got, events, err := collect(t, newAgent(t, cfg).Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil || got.Answer != "Good day." || got.TotalSteps != 1 {
		t.Errorf("%q in %d steps, %v", got.Answer, got.TotalSteps, err)
	}
	if diff := cmp.Diff([]time.Duration{500 * time.Millisecond, time.Second}, waits); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"run_start", "step_start", "retry", "retry", "text_delta", "step_end", "run_end"}, kinds(events)); diff != "" {
		t.Error(diff)
	}

	cfg.Model = llmtest.New(llmtest.Failure(busy))
	got, _, err = collect(t, newAgent(t, cfg).Run(t.Context(), agent.Input{Question: "q"}))
	if !errors.Is(err, busy) || got.FinishedReason != agent.Failed {
		t.Errorf("after all retries: %s, %v", got.FinishedReason, err)
	}
}

func TestUnfinishedStreamIsAFailure(t *testing.T) {
	model := llmtest.New(llmtest.Reply{Deltas: []llm.Delta{{Text: "half a sent"}}})
	got, _, err := collect(t, newAgent(t, agent.Config{Model: model}).Run(t.Context(), agent.Input{Question: "q"}))
	if err == nil || got.FinishedReason != agent.Failed || got.Answer != "half a sent" {
		t.Errorf("%s, %q, %v", got.FinishedReason, got.Answer, err)
	}
}

func TestCancelAndEarlyBreak(t *testing.T) {
	blocked := llmtest.Reply{Deltas: []llm.Delta{{Text: "One. "}, {Text: "Two."}}, Block: true}
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a := newAgent(t, agent.Config{Model: llmtest.New(blocked)})
		var last agent.Event
		for e, err := range a.Run(ctx, agent.Input{Question: "q"}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == agent.TextDelta {
				cancel()
			}
			last = e
		}
		if r := last.Result; r == nil || r.FinishedReason != agent.Cancelled || !strings.HasPrefix(r.Answer, "One.") {
			t.Errorf("last event %+v", last)
		}
	})
	t.Run("break", func(t *testing.T) {
		records := &memory{}
		a := newAgent(t, agent.Config{Model: llmtest.New(blocked), Conversations: records})
		for e := range a.Run(t.Context(), agent.Input{Question: "q"}) {
			if e.Kind == agent.TextDelta {
				break
			}
		}
		if len(records.runs) != 1 || records.runs[0].FinishedReason != "cancelled" {
			t.Errorf("stored %+v", records.runs)
		}
	})
	t.Run("wall time", func(t *testing.T) {
		a := newAgent(t, agent.Config{Model: llmtest.New(blocked), Limits: agent.Limits{WallTime: time.Millisecond}})
		got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
		if err != nil || got.FinishedReason != agent.Budget {
			t.Errorf("%s, %v", got.FinishedReason, err)
		}
	})
}

func TestTokenBudget(t *testing.T) {
	model := llmtest.New(llmtest.Call("search", `{"query":"a"}`), llmtest.Call("search", `{"query":"b"}`))
	a := newAgent(t, agent.Config{Model: model, Tools: []tool.Tool{search(t, tideDocs)}, Limits: agent.Limits{Tokens: 30}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q", MaxIterations: 50}))
	if err != nil || got.FinishedReason != agent.Budget || got.Usage.TotalTokens != 30 || got.TotalSteps != 2 {
		t.Errorf("%s after %d tokens, %v", got.FinishedReason, got.Usage.TotalTokens, err)
	}
}

func TestEmptyRepliesAreFedBackAndEnd(t *testing.T) {
	empty := llmtest.Reply{Deltas: []llm.Delta{{Finish: llm.FinishStop}}}
	model := llmtest.New(empty, llmtest.Text("Here I am."))
	got, _, err := collect(t, newAgent(t, agent.Config{Model: model}).Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil || got.Answer != "Here I am." || got.FinishedReason != agent.Complete || got.TotalSteps != 2 {
		t.Errorf("%q, %s, %v", got.Answer, got.FinishedReason, err)
	}
	got, _, err = collect(t, newAgent(t, agent.Config{Model: llmtest.New(empty)}).Run(t.Context(), agent.Input{Question: "q", MaxIterations: 50}))
	if err != nil || got.FinishedReason != agent.Failed || got.TotalSteps != 4 {
		t.Errorf("%s after %d steps, %v", got.FinishedReason, got.TotalSteps, err)
	}
}

func TestChangedDocumentIsNeitherShownNorCited(t *testing.T) {
	truth := docs{"doc_1": tideDocs["doc_1"]} // doc_2 was deleted after it was indexed
	model := llmtest.New(llmtest.Call("search", `{"query":"tide"}`), llmtest.Text("Twelve [1] and none [2]."))
	a := newAgent(t, agent.Config{Model: model, Texts: truth, Tools: []tool.Tool{search(t, tideDocs)}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got.Steps[0].ToolCalls[0].Result, "Baltic") || got.Answer != "Twelve [1] and none." {
		t.Errorf("answer %q, observation %q", got.Answer, got.Steps[0].ToolCalls[0].Result)
	}
	if diff := cmp.Diff([]string{"a source was left out because its document has changed"}, got.Degraded); diff != "" {
		t.Error(diff)
	}
}

func TestOneNumberingOverAllSearches(t *testing.T) {
	one := fn(t, "one", func(context.Context, queryArgs) (tool.Result, error) {
		return tool.Result{Passages: []tool.Passage{passage(tideDocs, "doc_2", "b", 0, 10)}}, nil
	})
	model := llmtest.New(
		llmtest.Call("one", `{"query":"1"}`), llmtest.Call("search", `{"query":"2"}`), llmtest.Call("one", `{"query":"3"}`),
		llmtest.Text("Fine [1][2][3][4]."))
	a := newAgent(t, agent.Config{Model: model, Texts: tideDocs, Tools: []tool.Tool{one, search(t, tideDocs)}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil {
		t.Fatal(err)
	}
	var chunks []string
	for _, c := range got.Citations {
		chunks = append(chunks, fmt.Sprintf("%d %s %v", c.ID, c.ChunkID, c.Verified))
	}
	want := []string{"1 chk_doc_20 true", "2 chk_doc_10 true"}
	if diff := cmp.Diff(want, chunks); diff != "" || got.Answer != "Fine [1][2]." {
		t.Errorf("%q %s", got.Answer, diff)
	}
}

func TestBadInput(t *testing.T) {
	a := newAgent(t, agent.Config{Model: llmtest.New(llmtest.Text("x"))})
	for name, in := range map[string]agent.Input{
		"empty question":   {Question: " \n"},
		"long question":    {Question: strings.Repeat("x", agent.MaxQuestionBytes+1)},
		"iterations":       {Question: "q", MaxIterations: 100},
		"negative":         {Question: "q", MaxIterations: -1},
		"no conversations": {Question: "q", ConversationID: "conv_x"},
		"same tool twice":  {Question: "q", Tools: []tool.Tool{search(t, tideDocs), search(t, tideDocs)}},
	} {
		if _, events, err := collect(t, a.Run(t.Context(), in)); !errors.Is(err, store.ErrInvalid) || events != nil {
			t.Errorf("%s: %v after %d events", name, err, len(events))
		}
	}
	b := newAgent(t, agent.Config{Model: llmtest.New(llmtest.Text("x")), Conversations: &memory{}})
	if _, _, err := collect(t, b.Run(t.Context(), agent.Input{Question: "q", ConversationID: "conv_x"})); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown conversation: %v", err)
	}
}

// TestIdempotentCallsAreMadeOnce, unless something went wrong with the first.
func TestIdempotentCallsAreMadeOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		idempotent bool
		first      tool.Result
		err        error
		want       int // calls made of: two in the first turn, one in the second
	}{
		"idempotent": {idempotent: true, first: tool.Result{Text: "four"}, want: 1},
		"not":        {first: tool.Result{Text: "four"}, want: 3},
		"failed":     {idempotent: true, err: errors.New("down"), want: 2},
		"degraded":   {idempotent: true, first: tool.Result{Text: "four", Degraded: []string{"half of it"}}, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			var made atomic.Int32
			spec := tool.Spec{Name: "sum", Idempotent: tt.idempotent}
			sum, err := tool.NewFunc(spec, func(_ context.Context, q queryArgs) (tool.Result, error) {
				if made.Add(1) == 1 && q.Query == "2+2" {
					return tt.first, tt.err
				}
				return tool.Result{Text: "four"}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			same := [2]string{"sum", `{"query":"2+2"}`}
			model := llmtest.New(llmtest.Calls("", same, same), llmtest.Calls("", same), llmtest.Text("Four."))
			a := newAgent(t, agent.Config{Model: model, Tools: []tool.Tool{sum}, Limits: agent.Limits{IdenticalCalls: 3}})
			got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
			if err != nil || got.Answer != "Four." || got.TotalToolCalls != 3 {
				t.Fatalf("%+v, %v", got, err)
			}
			if n := int(made.Load()); n != tt.want {
				t.Errorf("%d calls were made, want %d", n, tt.want)
			}
			if last := got.Steps[1].ToolCalls[0]; last.Result != "four" || last.Error != "" {
				t.Errorf("the last shows %+v", last)
			}
		})
	}
}
