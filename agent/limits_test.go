package agent_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/agent/tool"
)

// caller is a model that only ever calls tools, each time in another way, in
// the words of any strategy.
type caller struct {
	random *rand.Rand
	style  string
	asked  atomic.Int32
	same   bool // always the same call
}

func (c *caller) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		n := int(c.asked.Add(1))
		if c.same {
			n = 0
		}
		name := []string{"echo", "echo", "fail", "nosuch"}[c.random.IntN(4)]
		if c.same {
			name = "echo"
		}
		d := llm.Delta{Finish: llm.FinishStop}
		switch c.style {
		case "call":
			d.ToolCalls = []llm.ToolCall{{Name: name, Arguments: fmt.Appendf(nil, `{"query":"%d"}`, n)}}
		case "react":
			d.Text = fmt.Sprintf("Thought: on\nAction: %s\nAction Input: {\"query\": \"%d\"}", name, n)
		case "code":
			d.Text = fmt.Sprintf("<execute>%s(%d)</execute>", name, n)
		}
		yield(d, nil)
	}
}

// styles are the strategies with what a model writes under them.
func styles() map[string]agent.Strategy {
	return map[string]agent.Strategy{
		"call": agent.FunctionCalling{}, "react": agent.ReAct{}, "code": agent.CodeAct{Interpreter: fakeInterpreter(1)},
	}
}

// TestRelentlessCallersEnd: 100 runs of 100, under every strategy and limit.
func TestRelentlessCallersEnd(t *testing.T) {
	echo := fn(t, "echo", func(_ context.Context, q queryArgs) (tool.Result, error) {
		return tool.Text(q.Query + strings.Repeat(" word", 50)), nil
	})
	fail := fn(t, "fail", func(context.Context, queryArgs) (tool.Result, error) { return tool.Result{}, context.DeadlineExceeded })
	for style, strategy := range styles() {
		t.Run(style, func(t *testing.T) {
			for i := range 100 {
				random := rand.New(rand.NewPCG(uint64(i), 1))
				limits := agent.Limits{MaxIterations: 1 + random.IntN(99), ToolFailures: 1 + random.IntN(5), IdenticalCalls: 1 + random.IntN(3)}
				model := &caller{random: random, style: style, same: i%5 == 0}
				a := newAgent(t, agent.Config{Model: model, Strategy: strategy, Tools: []tool.Tool{echo, fail}, Limits: limits})
				got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
				if err != nil {
					t.Fatal(err)
				}
				if n := int(model.asked.Load()); n > limits.MaxIterations+1 || got.TotalSteps != n {
					t.Errorf("run %d: asked %d times in %d steps, at most %d", i, n, got.TotalSteps, limits.MaxIterations)
				}
				if got.FinishedReason != agent.MaxSteps && got.FinishedReason != agent.Failed {
					t.Errorf("run %d ends with %s", i, got.FinishedReason)
				}
				if got.LimitReached && got.FinishedReason != agent.MaxSteps {
					t.Errorf("run %d: limit reached, but %s", i, got.FinishedReason)
				}
			}
		})
	}
}

// TestEachLimit alone stops a model that only ever calls tools.
func TestEachLimit(t *testing.T) {
	echo := fn(t, "echo", func(_ context.Context, q queryArgs) (tool.Result, error) {
		return tool.Text(q.Query + strings.Repeat(" word", 400)), nil
	})
	const many = 99
	for name, tt := range map[string]struct {
		limits agent.Limits
		reason agent.FinishedReason
		note   string
		steps  int // 0: at most many+1
		limit  bool
	}{
		"one iteration": {agent.Limits{MaxIterations: 1}, agent.MaxSteps, "", 2, true},
		"two":           {agent.Limits{MaxIterations: 2}, agent.MaxSteps, "", 3, true},
		"tokens":        {agent.Limits{MaxIterations: many, Tokens: 4000}, agent.Budget, "the run has used its budget of 4000 tokens", 0, false},
		"one token":     {agent.Limits{MaxIterations: many, Tokens: 1}, agent.Budget, "the run has used its budget of 1 tokens", 1, false},
		"output":        {agent.Limits{MaxIterations: 20, ToolOutputTokens: 500}, agent.MaxSteps, "", 21, true},
	} {
		for style, strategy := range styles() {
			if style == "code" { // its calls are counted as code
				continue
			}
			t.Run(name+" "+style, func(t *testing.T) {
				model := &caller{random: rand.New(rand.NewPCG(0, 0)), style: style}
				a := newAgent(t, agent.Config{
					Model: model, Strategy: strategy, Limits: tt.limits,
					Tools: []tool.Tool{echo, renamed(t, "fail", echo), renamed(t, "nosuch", echo)},
				})
				got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
				if err != nil || got.FinishedReason != tt.reason || got.Error != tt.note || got.LimitReached != tt.limit {
					t.Errorf("%s, %q, limit %v, %v", got.FinishedReason, got.Error, got.LimitReached, err)
				}
				if tt.steps != 0 && got.TotalSteps != tt.steps || got.TotalSteps > many {
					t.Errorf("%d steps, want %d", got.TotalSteps, tt.steps)
				}
				shown := 0
				for _, s := range got.Steps {
					for _, c := range s.ToolCalls {
						shown += len(c.Result)
					}
				}
				if name == "output" && shown > 20*300 {
					t.Errorf("the model was shown %d bytes", shown)
				}
			})
		}
	}
}

// renamed is a tool under another name.
func renamed(t *testing.T, name string, of tool.Tool) tool.Tool {
	t.Helper()
	return fn(t, name, func(ctx context.Context, q queryArgs) (tool.Result, error) {
		return of.Call(ctx, fmt.Appendf(nil, `{"query":%q}`, q.Query))
	})
}

// TestWallTime ends a run whose tool does not come back, whatever it listens to.
func TestWallTime(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	deaf := fn(t, "echo", func(context.Context, queryArgs) (tool.Result, error) { <-release; return tool.Result{}, nil })
	model := &caller{random: rand.New(rand.NewPCG(0, 0)), style: "call", same: true}
	a := newAgent(t, agent.Config{Model: model, Tools: []tool.Tool{deaf}, Limits: agent.Limits{WallTime: 20 * time.Millisecond}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil || got.FinishedReason != agent.Budget || got.Error != "the run took longer than 20ms" {
		t.Errorf("%s, %q, %v", got.FinishedReason, got.Error, err)
	}
}
