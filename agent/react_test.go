package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/tool"
)

const tideReply = "<think>Is that\nAction: x?</think>Thought: I look it up.\nAction: search\nAction Input: {\"query\": \"tide\"}\nObservation: 3 metres."

func TestReActSearchesAndCites(t *testing.T) {
	model := llmtest.New(llmtest.Text(tideReply), llmtest.Text("Thought: I know.\nFinal", " Answer: 12 metres [1", "] [7].\nThought: or"))
	a := newAgent(t, agent.Config{Model: model, Strategy: agent.ReAct{}, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "tide?"}))
	if err != nil {
		t.Fatal(err)
	}
	if got.Answer != "12 metres [1]." || len(got.Citations) != 1 || !got.Citations[0].Verified || got.FinishedReason != agent.Complete {
		t.Errorf("%s: %q, %v", got.FinishedReason, got.Answer, got.Citations)
	}
	if diff := cmp.Diff([]string{"Is that\nAction: x? I look it up.", "I know."}, []string{got.Steps[0].Thought, got.Steps[1].Thought}); diff != "" {
		t.Error(diff)
	}
	requests := model.Requests()
	if n := len(requests[0].Tools); n != 0 || !slices.Equal(requests[0].Stop, []string{"\nObservation:"}) {
		t.Errorf("%d tools, stop %q", n, requests[0].Stop)
	}
	if system := requests[0].Messages[0].Content; !strings.Contains(system, "search: a test's search") || !strings.Contains(system, `"query"`) {
		t.Errorf("the model is told %s", system)
	}
	said := requests[1].Messages[2:]
	want := []llm.Message{
		{Role: llm.Assistant, Content: "Thought: I look it up.\nAction: search\nAction Input: {\"query\": \"tide\"}"},
		{Role: llm.User, Content: "Observation: " + got.Steps[0].ToolCalls[0].Result},
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

// TestReActIsToldWhatWasWrong twice in a row, not a third time.
func TestReActIsToldWhatWasWrong(t *testing.T) {
	bad := llmtest.Text("Thought: I should search.")
	call := llmtest.Text("Action: search\nAction Input: tide")
	find := []tool.Tool{search(t, tideDocs)}
	t.Run("mended", func(t *testing.T) {
		model := llmtest.New(bad, bad, call, bad, bad, llmtest.Text("Final Answer: 12 [1]"))
		a := newAgent(t, agent.Config{Model: model, Strategy: agent.ReAct{}, Tools: find})
		got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q", MaxIterations: 9}))
		if err != nil || got.FinishedReason != agent.Complete || got.Answer != "12 [1]" || got.TotalSteps != 6 {
			t.Errorf("%+v, %v", got, err)
		}
		said := model.Requests()[1].Messages
		if last := said[len(said)-1]; last.Role != llm.User || !strings.HasPrefix(last.Content, "Observation: Your reply has a Thought, but") {
			t.Errorf("it was told %+v", last)
		}
	})
	t.Run("not mended", func(t *testing.T) {
		model := llmtest.New(bad)
		a := newAgent(t, agent.Config{Model: model, Strategy: agent.ReAct{}, Tools: find})
		got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q", MaxIterations: 9}))
		if err != nil || got.FinishedReason != agent.Failed || got.TotalSteps != 4 || got.Answer != "No answer was reached." {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestReActFailuresAreObservations(t *testing.T) {
	for name, tt := range map[string]struct{ reply, want string }{
		"unknown":   {"Action: nosuch\nAction Input: {}", `Error: there is no tool "nosuch"; the tools are: search`},
		"cut":       {"Action: search\nAction Input: {\"query\": \"x", "Error: search was not called: the arguments are not valid JSON: the JSON is cut off; write one JSON object"},
		"missing":   {"Action: search", `Error: search was not called: "query" is required`},
		"plain":     {"Action: search\nAction Input: tide in \"Brest\"", ""},
		"other way": {"Action: Search\nAction Input: \"tide\"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			model := llmtest.New(llmtest.Text(tt.reply), llmtest.Text("Final Answer: Sorry."))
			a := newAgent(t, agent.Config{Model: model, Strategy: agent.ReAct{}, Tools: []tool.Tool{search(t, tideDocs)}})
			got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
			if err != nil {
				t.Fatal(err)
			}
			c := got.Steps[0].ToolCalls[0]
			if tt.want == "" && c.Error != "" || tt.want != "" && c.Result != tt.want {
				t.Errorf("%+v", c)
			}
			if got.Answer != "Sorry." || got.FinishedReason != agent.Complete {
				t.Errorf("%s, %q", got.FinishedReason, got.Answer)
			}
		})
	}
}

// mute is a model that says what it can do and refuses tools it cannot call.
type mute struct {
	*llmtest.Model
	can llm.Capabilities
}

func (m mute) Capabilities() llm.Capabilities { return m.can }

// TestStrategyFollowsTheModel: what was asked for, as far as the model is up to it.
func TestStrategyFollowsTheModel(t *testing.T) {
	final, plain := llmtest.Text("Final Answer: 42"), llmtest.Text("42")
	refusal := llmtest.Failure(&llm.Error{Provider: "test", Err: fmt.Errorf("tiny: %w", llm.ErrNoToolCalls)})
	words, calls := llm.Capabilities{Prompts: true}, llm.Capabilities{ToolCalls: true}
	all := llm.Capabilities{ToolCalls: true, Prompts: true}
	const cannotCall = "the model cannot call tools: it was asked to write its actions down (ReAct)"
	const cannotFollow = "the model follows no prompts: it was offered its tools as function calls"
	for name, tt := range map[string]struct {
		can      llm.Capabilities
		wanted   agent.Strategy
		script   []llmtest.Reply
		offered  []int // tools in each request
		degraded []string
	}{
		"all":                   {all, nil, []llmtest.Reply{plain}, []int{1}, []string{}},
		"words":                 {words, nil, []llmtest.Reply{final}, []int{0}, []string{}},
		"calls":                 {calls, nil, []llmtest.Reply{plain}, []int{1}, []string{}},
		"words, asked to call":  {words, agent.FunctionCalling{}, []llmtest.Reply{final}, []int{0}, []string{cannotCall}},
		"calls, asked to write": {calls, agent.ReAct{}, []llmtest.Reply{plain}, []int{1}, []string{cannotFollow}},
		"refuses":               {all, nil, []llmtest.Reply{refusal, final}, []int{1, 0}, []string{cannotCall}},
	} {
		t.Run(name, func(t *testing.T) {
			model := llmtest.New(tt.script...)
			a := newAgent(t, agent.Config{Model: mute{model, tt.can}, Tools: []tool.Tool{search(t, tideDocs)}})
			got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q", Strategy: tt.wanted}))
			if err != nil || got.Answer != "42" {
				t.Fatalf("%+v, %v", got, err)
			}
			var offered []int
			for _, r := range model.Requests() {
				offered = append(offered, len(r.Tools))
			}
			if diff := cmp.Diff(tt.offered, offered); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.degraded, got.Degraded); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReasoningInTheText: tags cut anywhere, whatever the strategy.
func TestReasoningInTheText(t *testing.T) {
	const text = "\n<think>Is 1 < 2? <b></think>\n\nYes: `<think>` is a <thinker>."
	for i := range text {
		for _, s := range []agent.Strategy{agent.FunctionCalling{}, agent.ReAct{}} {
			a := newAgent(t, agent.Config{Model: llmtest.New(llmtest.Text(text[:i], text[i:])), Strategy: s})
			got, events, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
			if err != nil || got.Answer != "Yes: `<think>` is a <thinker>." {
				t.Fatalf("%T cut at %d: %q, %v", s, i, got.Answer, err)
			}
			var thinking strings.Builder
			for _, e := range events {
				if e.Kind == agent.ThinkingDelta {
					thinking.WriteString(e.Text)
				}
			}
			if thinking.String() != "Is 1 < 2? <b>" {
				t.Fatalf("%T cut at %d: thought %q", s, i, thinking.String())
			}
		}
	}
}

// TestReActRunsEndWell: whatever a model writes, in whatever pieces, the run
// ends within its limits and the user sees nothing of the scaffold.
func TestReActRunsEndWell(t *testing.T) {
	find := search(t, tideDocs)
	boom := fn(t, "boom", func(context.Context, struct{}) (tool.Result, error) { panic("boom") })
	words := []string{
		"Thought: hm\n", "Action: search\nAction Input: {\"query\": \"x\"}\n", "Action: boom\nAction Input:\n", "Action: no\n\nAction Input: x\n", "Action Input: x\n", "Observation: y\n",
		"Final Answer: 12 [1]\n", "<think>a</think>", "{\"action\": \"search\", \"action_input\": \"z\"}\n", "```\n", "{\n", "}\n", "and [2] more\n", "\n",
	}
	rapid.Check(t, func(rt *rapid.T) {
		script := make([]llmtest.Reply, rapid.IntRange(1, 6).Draw(rt, "replies"))
		for i := range script {
			script[i] = llmtest.Text(rapid.SliceOfN(rapid.SampledFrom(words), 0, 6).Draw(rt, "reply")...)
			if rapid.IntRange(0, 9).Draw(rt, "fails") == 0 {
				script[i].Deltas, script[i].Err = script[i].Deltas[:len(script[i].Deltas)-1], errors.New("gone")
			}
		}
		most := rapid.IntRange(1, 7).Draw(rt, "iterations")
		a := newAgent(t, agent.Config{Model: llmtest.New(script...), Strategy: agent.ReAct{}, Texts: tideDocs, Tools: []tool.Tool{find, boom}})
		got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q", MaxIterations: most}))
		if got.TotalSteps > most+1 || err != nil && got.FinishedReason != agent.Failed {
			rt.Errorf("%d steps of at most %d, %s, %v", got.TotalSteps, most+1, got.FinishedReason, err)
		}
		for _, label := range []string{"Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:", "<think>", "action_input"} {
			if strings.Contains(got.Answer, label) {
				rt.Errorf("the user sees %q in %q", label, got.Answer)
			}
		}
		if t.Failed() {
			rt.FailNow()
		}
	})
}
