package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/tool"
)

// replies a model may come up with.
func drawReply(t *rapid.T) llmtest.Reply {
	text := rapid.SliceOfN(rapid.SampledFrom([]string{"Yes", " [1]", "[", "9]", " [2].", "\n\n", "`x[3]`", strings.Repeat("long ", 100), ""}), 0, 6).Draw(t, "text")
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return llmtest.Text(text...)
	case 1:
		return llmtest.Calls(strings.Join(text, ""), [2]string{"search", `{"query":"tide"}`})
	case 2:
		return llmtest.Calls("", [2]string{"nosuch", `{}`}, [2]string{"search", `{"query": 3}`}, [2]string{"search", `{`})
	case 3:
		return llmtest.Failure(&llm.Error{Provider: "test", Retryable: true, Err: errors.New("busy")}, text...)
	case 4:
		return llmtest.Failure(&llm.Error{Provider: "test", Err: errors.New("gone")}, text...)
	case 5:
		return llmtest.Reply{Deltas: []llm.Delta{{Finish: llm.FinishLength}}}
	case 6:
		return llmtest.Reply{Deltas: []llm.Delta{{Text: strings.Join(text, "")}}} // no finish
	default:
		return llmtest.Call("boom", `{}`)
	}
}

// Whatever a model does: the run ends, every start has its end, the deltas are
// the answer, every citation in it is known, and the record agrees.
func TestEveryRunEndsWell(t *testing.T) {
	find := search(t, tideDocs)
	boom := fn(t, "boom", func(context.Context, struct{}) (tool.Result, error) { panic("boom") })
	rapid.Check(t, func(rt *rapid.T) {
		script := make([]llmtest.Reply, rapid.IntRange(1, 8).Draw(rt, "replies"))
		for i := range script {
			script[i] = drawReply(rt)
		}
		most := rapid.IntRange(1, 7).Draw(rt, "iterations")
		records := &memory{}
		a := newAgent(t, agent.Config{Model: llmtest.New(script...), Texts: tideDocs, Tools: []tool.Tool{find, boom}, Conversations: records})
		got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q", MaxIterations: most}))
		if (err != nil) != (got.FinishedReason == agent.Failed && strings.Contains(got.Error, "test: ") || strings.Contains(got.Error, "broke off")) {
			rt.Errorf("%s, %q, %v", got.FinishedReason, got.Error, err)
		}
		if got.TotalSteps != len(got.Steps) || got.TotalSteps > most+1 {
			rt.Errorf("%d steps of at most %d", got.TotalSteps, most+1)
		}
		for i, s := range got.Steps {
			if s.Step != i+1 {
				rt.Errorf("step %d stands at %d", s.Step, i+1)
			}
		}
		cited := 0
		for _, c := range got.Citations {
			if !c.Verified || !strings.Contains(got.Answer, fmt.Sprintf("[%d]", c.ID)) {
				rt.Errorf("citation %+v in %q", c, got.Answer)
			}
			cited++
		}
		if strings.Contains(got.Answer, "[9]") || cited == 0 && strings.Contains(got.Answer, "[1]") {
			rt.Errorf("an unknown citation in %q", got.Answer)
		}
		if len(records.runs) != 1 || records.runs[0].Answer != got.Answer || len(records.runs[0].Steps) != got.TotalSteps {
			rt.Errorf("stored %+v", records.runs)
		}
		if t.Failed() { // collect reports to t
			rt.FailNow()
		}
	})
}

// A consumer may leave at any event: the run stops, is stored once, and leaves
// nothing running (TestMain looks for goroutines).
func TestLeavingAtAnyEvent(t *testing.T) {
	run := func(most int) (seen int, stored []string) {
		records := &memory{}
		model := llmtest.New(llmtest.Calls("", [2]string{"search", `{"query":"a"}`}, [2]string{"search", `{"query":"b"}`}), llmtest.Text("One [1]. ", "Two."))
		a := newAgent(t, agent.Config{Model: model, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}, Conversations: records})
		for range a.Run(t.Context(), agent.Input{Question: "q"}) {
			if seen++; seen == most {
				break
			}
		}
		for _, r := range records.runs {
			checkEnded(t, r.Trace)
			stored = append(stored, r.FinishedReason)
		}
		return seen, stored
	}
	all, _ := run(-1)
	for most := 1; most < all; most++ {
		_, stored := run(most)
		want := []string{"cancelled"}
		if most == all-1 { // the answer was complete by then
			want = []string{"complete"}
		}
		if diff := cmp.Diff(want, stored); diff != "" {
			t.Errorf("left after %d of %d events: %s", most, all, diff)
		}
	}
}

func TestManyRunsAtOnce(t *testing.T) {
	a, err := agent.New(agent.Config{Model: fiveCalls{}, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs), fn(t, "echo",
		func(_ context.Context, q queryArgs) (tool.Result, error) { return tool.Result{Text: q.Query}, nil })}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	results := make([]agent.Result, 1000)
	for i := range results {
		wg.Go(func() {
			var err error
			if results[i], err = agent.Collect(a.Run(t.Context(), agent.Input{Question: "q"})); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	ids := map[string]bool{}
	for _, r := range results {
		ids[r.RunID] = true
		if r.Answer != "Done." || r.TotalToolCalls != 4 {
			t.Fatalf("%+v", r)
		}
	}
	if len(ids) != len(results) {
		t.Errorf("%d ids for %d runs", len(ids), len(results))
	}
}
