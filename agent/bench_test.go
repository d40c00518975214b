package agent_test

import (
	"context"
	"encoding/json"
	"iter"
	"testing"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/agent/tool"
)

// BenchmarkRun is a run of five calls of the model, four of which call a tool,
// with everything on; BenchmarkBareLoop is the same without an agent: model,
// tool and a list of messages.
func BenchmarkRun(b *testing.B) {
	echo := echoTool(b)
	a, err := agent.New(agent.Config{Model: fiveCalls{}, Tools: []tool.Tool{echo}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		got, err := agent.Collect(a.Run(b.Context(), agent.Input{Question: "q"}))
		if err != nil || got.Answer != "Done." || got.TotalToolCalls != 4 {
			b.Fatalf("%+v, %v", got, err)
		}
	}
}

func BenchmarkBareLoop(b *testing.B) {
	echo := echoTool(b)
	b.ReportAllocs()
	for b.Loop() {
		messages := []llm.Message{{Role: llm.User, Content: "q"}}
		for range 5 {
			var reply llm.Message
			for d, err := range (fiveCalls{}).Stream(b.Context(), llm.Request{Messages: messages}) {
				if err != nil {
					b.Fatal(err)
				}
				reply.Content += d.Text
				reply.ToolCalls = append(reply.ToolCalls, d.ToolCalls...)
			}
			messages = append(messages, reply)
			for _, c := range reply.ToolCalls {
				r, err := echo.Call(b.Context(), c.Arguments)
				if err != nil {
					b.Fatal(err)
				}
				messages = append(messages, llm.Message{Role: llm.ToolRole, Content: r.Text})
			}
		}
	}
}

func echoTool(b *testing.B) tool.Tool {
	b.Helper()
	f, err := tool.NewFunc(tool.Spec{Name: "echo"}, func(_ context.Context, a queryArgs) (tool.Result, error) {
		return tool.Result{Text: a.Query}, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// fiveCalls is a model that calls echo four times and then answers.
type fiveCalls struct{}

func (fiveCalls) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		results := 0
		for _, m := range req.Messages {
			if m.Role == llm.ToolRole {
				results++
			}
		}
		if results < len(questions) {
			yield(llm.Delta{ToolCalls: []llm.ToolCall{{Name: "echo", Arguments: questions[results]}}, Finish: llm.FinishToolCalls}, nil)
			return
		}
		yield(llm.Delta{Text: "Done.", Finish: llm.FinishStop}, nil)
	}
}

var questions = []json.RawMessage{
	json.RawMessage(`{"query":"0"}`), json.RawMessage(`{"query":"1"}`), json.RawMessage(`{"query":"2"}`), json.RawMessage(`{"query":"3"}`),
}
