package agent_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ragagent/agent"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/tool"
	"ragagent/store"
)

// member is an agent of a team with a script of its own.
func member(t *testing.T, name string, strategy agent.Strategy, to []string, replies ...llmtest.Reply) (agent.Member, *llmtest.Model) {
	t.Helper()
	model := llmtest.New(replies...)
	a := newAgent(t, agent.Config{Name: name, Model: model, Strategy: strategy, SystemPrompt: "You are " + name + ".", Texts: tideDocs})
	return agent.Member{Agent: a, Description: "knows " + name, CanHandOffTo: to}, model
}

func newTeam(t *testing.T, members ...agent.Member) *agent.Team {
	t.Helper()
	team, err := agent.NewTeam(agent.TeamConfig{Members: members})
	if err != nil {
		t.Fatal(err)
	}
	return team
}

func handoff(to string) llmtest.Reply {
	return llmtest.Call(agent.HandOff, fmt.Sprintf(`{"to_agent":%q,"reason":"your turn"}`, to))
}

// TestHandoff: the next agent has its own prompt, all that was said and the
// sources under their numbers, and the user gets its answer.
func TestHandoff(t *testing.T) {
	for name, strategies := range map[string][2]agent.Strategy{
		"calling":            {agent.FunctionCalling{}, agent.FunctionCalling{}},
		"calling to writing": {agent.FunctionCalling{}, agent.ReAct{}},
	} {
		t.Run(name, func(t *testing.T) {
			last := llmtest.Text("12 metres [1].")
			if _, writes := strategies[1].(agent.ReAct); writes {
				last = llmtest.Text("Thought: I know.\nFinal Answer: 12 metres [1].")
			}
			root, _ := member(t, "router", strategies[0], []string{"writer"}, llmtest.Call("search", `{"query":"tides"}`), handoff("writer"))
			writer, model := member(t, "writer", strategies[1], []string{}, last)
			result, events, err := collect(t, newTeam(t, root, writer).Run(t.Context(), agent.Input{
				Question: "How high?", Tools: []tool.Tool{search(t, tideDocs)},
			}))
			if err != nil {
				t.Fatal(err)
			}
			if result.Answer != "12 metres [1]." || len(result.Citations) != 1 || !result.Citations[0].Verified || result.FinishedReason != agent.Complete {
				t.Errorf("%s %q %+v", result.FinishedReason, result.Answer, result.Citations)
			}
			var passed []string
			for _, e := range events {
				if e.Kind == agent.HandoffStart || e.Kind == agent.HandoffEnd {
					passed = append(passed, string(e.Kind)+" "+e.Label)
				}
			}
			if got := strings.Join(passed, ", "); got != "handoff_start writer, handoff_end writer" {
				t.Errorf("told %s", got)
			}
			req := model.Requests()[0]
			var said strings.Builder
			for _, m := range req.Messages {
				if len(m.ToolCalls) > 0 && name == "calling to writing" {
					t.Errorf("a model that writes its actions is shown calls: %+v", m)
				}
				said.WriteString(m.Content + "\n")
			}
			if !strings.HasPrefix(req.Messages[0].Content, "You are writer.") || !strings.Contains(said.String(), "Saint-Malo") {
				t.Errorf("the writer was shown %s", said.String())
			}
			for _, spec := range req.Tools {
				if spec.Name == agent.HandOff {
					t.Error("the writer, who may hand off to nobody, is offered it")
				}
			}
		})
	}
}

// TestHandoffIsEnforced: whom an agent may hand off to is decided when it does.
func TestHandoffIsEnforced(t *testing.T) {
	root, model := member(t, "router", nil, []string{"writer"}, handoff("boss"), handoff("nobody"), llmtest.Text("I answer myself."))
	writer, _ := member(t, "writer", nil, nil, llmtest.Text("never"))
	boss, _ := member(t, "boss", nil, nil, llmtest.Text("never"))
	result, _, err := collect(t, newTeam(t, root, writer, boss).Run(t.Context(), agent.Input{Question: "Who?"}))
	if err != nil || result.Answer != "I answer myself." {
		t.Fatalf("%q, %v", result.Answer, err)
	}
	for i, want := range []string{
		"Error: router may not hand off to boss, only to: writer",
		`Error: there is no agent "nobody": you can hand off to writer`,
	} {
		if got := result.Steps[i].ToolCalls[0].Result; got != want {
			t.Errorf("step %d: %q, want %q", i+1, got, want)
		}
	}
	if tools := model.Requests()[0].Tools; len(tools) != 1 || strings.Contains(tools[0].Description, "boss") {
		t.Errorf("offered %+v", tools)
	}
}

// TestTeamEnds: two agents that only ever hand off to each other end after 20
// turns of both, with one last word.
func TestTeamEnds(t *testing.T) {
	a, one := member(t, "a", nil, nil, handoff("b"))
	b, two := member(t, "b", nil, nil, handoff("a"))
	result, _, err := collect(t, newTeam(t, a, b).Run(t.Context(), agent.Input{Question: "Who?"}))
	if err != nil || result.FinishedReason != agent.MaxSteps || !result.LimitReached {
		t.Fatalf("%s, %v", result.FinishedReason, err)
	}
	if n := len(one.Requests()) + len(two.Requests()); n != agent.DefaultTeamIterations+1 {
		t.Errorf("%d calls of models", n)
	}
}

// TestTeamResumes: the agent that had the run gets it back.
func TestTeamResumes(t *testing.T) {
	db := openRecords(t, filepath.Join(t.TempDir(), "records.db"))
	root, _ := member(t, "router", nil, nil, handoff("writer"))
	writer, _ := member(t, "writer", nil, nil, llmtest.Call(agent.AskUser, `{"question":"Long?"}`), llmtest.Text("Short."))
	kept := newAgent(t, agent.Config{Name: "router", Model: llmtest.New(handoff("writer")), Checkpoints: db, Conversations: db})
	root.Agent = kept
	team := newTeam(t, root, writer)
	before, _, err := collect(t, team.Run(t.Context(), agent.Input{Question: "Write.", Interactive: true}))
	if err != nil || before.FinishedReason != agent.Interrupted {
		t.Fatalf("%s, %v", before.FinishedReason, err)
	}
	after, events, err := collect(t, team.Resume(t.Context(), agent.Resume{
		RunID: before.RunID, Decisions: []agent.Decision{{CallID: before.Interrupts[0].CallID, Answer: "no"}},
	}))
	if err != nil || after.Answer != "Short." || events[0].Agent != "writer" || after.TotalSteps != 3 {
		t.Errorf("%q by %s in %d steps, %v", after.Answer, events[0].Agent, after.TotalSteps, err)
	}
}

func TestTeamsThatCannotBe(t *testing.T) {
	a, _ := member(t, "a", nil, nil, llmtest.Text("x"))
	stranger, _ := member(t, "b", nil, []string{"c"}, llmtest.Text("x"))
	itself, _ := member(t, "b", nil, []string{"b"}, llmtest.Text("x"))
	for name, cfg := range map[string]agent.TeamConfig{
		"nobody":     {},
		"twice":      {Members: []agent.Member{a, a}},
		"stranger":   {Members: []agent.Member{a, stranger}},
		"itself":     {Members: []agent.Member{a, itself}},
		"no agent":   {Members: []agent.Member{{}}},
		"iterations": {Members: []agent.Member{a}, MaxIterations: 100},
	} {
		if _, err := agent.NewTeam(cfg); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
