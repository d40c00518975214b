package agent_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/tool"
	"ragagent/store"
)

const tideSchema = `{"type":"object","required":["metres"],"properties":{"metres":{"type":"number"},"where":{"type":"string"},"list":{"type":"array","items":{"type":"integer"}}}}`

var (
	all     = llm.Capabilities{ToolCalls: true, Prompts: true, Format: true}
	noForms = llm.Capabilities{ToolCalls: true, Prompts: true}
)

func TestOutputFollowsItsSchema(t *testing.T) {
	find := func() []tool.Tool { return []tool.Tool{search(t, tideDocs)} }
	call := llmtest.Call("search", `{"query":"tide"}`)
	for name, tt := range map[string]struct {
		can      llm.Capabilities
		strategy agent.Strategy
		tools    []tool.Tool
		script   []llmtest.Reply
		want     string
		cited    int
		reason   agent.FinishedReason
		asked    int
	}{
		"by the provider":   {all, nil, nil, []llmtest.Reply{llmtest.Text(`{"metres":`, ` 12}`)}, `{"metres":12}`, 0, agent.Complete, 1},
		"by a tool":         {noForms, nil, find(), []llmtest.Reply{call, llmtest.Call("final_output", `{"metres":"12","where":"Saint-Malo [1] [7]","list":[1]}`)}, `{"list":[1],"metres":12,"where":"Saint-Malo [1]"}`, 1, agent.Complete, 2},
		"with other calls":  {noForms, nil, find(), []llmtest.Reply{llmtest.Calls("", [2]string{"search", `{"query":"a"}`}, [2]string{"final_output", `{"metres":1}`})}, `{"metres":1}`, 0, agent.Complete, 1},
		"in text":           {noForms, nil, find(), []llmtest.Reply{llmtest.Text("Here it is:\n```json\n{\"metres\": 12,}\n```")}, `{"metres":12}`, 0, agent.Complete, 1},
		"by ReAct":          {noForms, agent.ReAct{}, find(), []llmtest.Reply{llmtest.Text("Action: search\nAction Input: x"), llmtest.Text("Thought: so\nFinal Answer: {\"metres\": twelve}"), llmtest.Text("Final Answer: {\"metres\": \"twelve\"}")}, `{"metres":12}`, 0, agent.Complete, 3},
		"repaired twice":    {all, nil, nil, []llmtest.Reply{llmtest.Text("Twelve."), llmtest.Text(`{"metres":"far"}`), llmtest.Text(`{"metres":12}`)}, `{"metres":12}`, 0, agent.Complete, 3},
		"never repaired":    {all, nil, nil, []llmtest.Reply{llmtest.Text("Twelve.")}, "", 0, agent.Failed, 3},
		"tool not repaired": {noForms, nil, find(), []llmtest.Reply{llmtest.Call("final_output", `{"metres":"far"}`)}, "", 0, agent.Failed, 3},
		"in the last call":  {all, nil, find(), []llmtest.Reply{call, call, llmtest.Text(`{"metres":12}`)}, `{"metres":12}`, 0, agent.MaxSteps, 3},
	} {
		t.Run(name, func(t *testing.T) {
			model := llmtest.New(tt.script...)
			a := newAgent(t, agent.Config{Model: mute{model, tt.can}, Strategy: tt.strategy, Tools: tt.tools, Texts: tideDocs})
			in := agent.Input{Question: "q", OutputSchema: json.RawMessage(tideSchema)}
			if tt.reason == agent.MaxSteps {
				in.MaxIterations = 2
			}
			got, events, err := collect(t, a.Run(t.Context(), in))
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Output) != tt.want || got.FinishedReason != tt.reason || len(got.Citations) != tt.cited || got.Answerable != (tt.want != "") {
				t.Errorf("%s: %s, %v, %s", got.FinishedReason, got.Output, got.Citations, got.Error)
			}
			if tt.want != "" && got.Answer != tt.want {
				t.Errorf("the answer is %q", got.Answer)
			}
			if n := len(model.Requests()); n != tt.asked {
				t.Errorf("asked %d times, want %d", n, tt.asked)
			}
			told := slices.ContainsFunc(events, func(e agent.Event) bool { return e.Kind == agent.OutputEvent && string(e.Data) == tt.want })
			if told != (tt.want != "") {
				t.Errorf("the output is told: %v", told)
			}
		})
	}
}

func TestOutputIsAskedFor(t *testing.T) {
	ask := func(can llm.Capabilities, tools []tool.Tool) llm.Request {
		model := llmtest.New(llmtest.Text(`{"metres":12}`))
		a := newAgent(t, agent.Config{Model: mute{model, can}, Tools: tools})
		if _, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q", OutputSchema: json.RawMessage(tideSchema)})); err != nil {
			t.Fatal(err)
		}
		return model.Requests()[0]
	}
	names := func(r llm.Request) (names []string) {
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
		return names
	}
	find := []tool.Tool{search(t, tideDocs)}
	if r := ask(all, nil); string(r.Format) != tideSchema || r.Tools != nil || !strings.Contains(r.Messages[0].Content, tideSchema) {
		t.Errorf("without tools: %+v", r)
	}
	if r := ask(noForms, nil); r.Format != nil || !slices.Equal(names(r), []string{"final_output"}) {
		t.Errorf("without formats: %+v", r)
	}
	if diff := cmp.Diff([]string{"search", "final_output"}, names(ask(all, find))); diff != "" {
		t.Errorf("with tools (-want +got):\n%s", diff)
	}
}

func TestBadOutputSchemas(t *testing.T) {
	a := newAgent(t, agent.Config{Model: llmtest.New(llmtest.Text("x"))})
	for _, raw := range []string{`{`, `{"type":"string"}`, `{"type":"object","properties":{"a":{"type":"nosuch"}}}`} {
		if _, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q", OutputSchema: json.RawMessage(raw)})); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	b := newAgent(t, agent.Config{Model: mute{llmtest.New(llmtest.Text("x")), llm.Capabilities{ToolCalls: true}}})
	if _, _, err := collect(t, b.Run(t.Context(), agent.Input{Question: "q", OutputSchema: json.RawMessage(tideSchema)})); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a model that follows no prompts: %v", err)
	}
}
