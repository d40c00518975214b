// Package versus runs the same five calls of the same scripted model, four of
// which call the same tool, through ragagent, eino and langchaingo:
//
//	cd agent/testdata/versus && go test -bench . -benchmem
//
// It is a module of its own, so that the product does not depend on them.
package versus

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"

	einomodel "github.com/cloudwego/eino/components/model"
	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/agent/tool"
)

const calls = 4

func arguments(i int) string { return fmt.Sprintf(`{"query":"%d"}`, i) }

// queries are made before: all are given the same.
var queries = [calls]string{arguments(0), arguments(1), arguments(2), arguments(3)}

type query struct {
	Query string `json:"query" jsonschema:"what to repeat"`
}

func BenchmarkRagagent(b *testing.B) {
	echo, err := tool.NewFunc(tool.Spec{Name: "echo", Description: "repeats"}, func(_ context.Context, q query) (tool.Result, error) {
		return tool.Text(q.Query), nil
	})
	if err != nil {
		b.Fatal(err)
	}
	a, err := agent.New(agent.Config{Model: ours{}, Tools: []tool.Tool{echo}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		got, err := agent.Collect(a.Run(b.Context(), agent.Input{Question: "q"}))
		if err != nil || got.Answer != "Done." || got.TotalToolCalls != calls {
			b.Fatalf("%+v, %v", got, err)
		}
	}
}

type ours struct{}

func (ours) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		n := 0
		for _, m := range req.Messages {
			if m.Role == llm.ToolRole {
				n++
			}
		}
		if n < calls {
			yield(llm.Delta{ToolCalls: []llm.ToolCall{{ID: "c", Name: "echo", Arguments: json.RawMessage(queries[n])}}, Finish: llm.FinishToolCalls}, nil)
			return
		}
		yield(llm.Delta{Text: "Done.", Finish: llm.FinishStop}, nil)
	}
}

func BenchmarkEino(b *testing.B) {
	echo, err := utils.InferTool("echo", "repeats", func(_ context.Context, q *query) (string, error) { return q.Query, nil })
	if err != nil {
		b.Fatal(err)
	}
	a, err := react.NewAgent(b.Context(), &react.AgentConfig{
		ToolCallingModel: einos{}, ToolsConfig: compose.ToolsNodeConfig{Tools: []einotool.BaseTool{echo}}, MaxStep: 20,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		got, err := a.Generate(b.Context(), []*schema.Message{schema.UserMessage("q")})
		if err != nil || got.Content != "Done." {
			b.Fatalf("%+v, %v", got, err)
		}
	}
}

type einos struct{}

func (m einos) WithTools([]*schema.ToolInfo) (einomodel.ToolCallingChatModel, error) { return m, nil }

func (einos) Generate(_ context.Context, messages []*schema.Message, _ ...einomodel.Option) (*schema.Message, error) {
	n := 0
	for _, m := range messages {
		if m.Role == schema.Tool {
			n++
		}
	}
	if n < calls {
		return schema.AssistantMessage("", []schema.ToolCall{{ID: "c", Function: schema.FunctionCall{Name: "echo", Arguments: queries[n]}}}), nil
	}
	return schema.AssistantMessage("Done.", nil), nil
}

func (m einos) Stream(ctx context.Context, messages []*schema.Message, o ...einomodel.Option) (*schema.StreamReader[*schema.Message], error) {
	got, err := m.Generate(ctx, messages, o...)
	return schema.StreamReaderFromArray([]*schema.Message{got}), err
}

func BenchmarkLangchaingo(b *testing.B) {
	e := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(langchains{}, []tools.Tool{langchainEcho{}}), agents.WithMaxIterations(10))
	b.ReportAllocs()
	for b.Loop() {
		got, err := chains.Run(b.Context(), e, "q")
		if err != nil || got != "Done." {
			b.Fatalf("%q, %v", got, err)
		}
	}
}

type langchainEcho struct{}

func (langchainEcho) Name() string        { return "echo" }
func (langchainEcho) Description() string { return "repeats" }
func (langchainEcho) Call(_ context.Context, input string) (string, error) {
	var q query
	err := json.Unmarshal([]byte(input), &q)
	return q.Query, err
}

type langchains struct{}

func (langchains) GenerateContent(_ context.Context, messages []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	n := 0
	for _, m := range messages {
		if m.Role == llms.ChatMessageTypeTool {
			n++
		}
	}
	if n < calls {
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{{ToolCalls: []llms.ToolCall{{
			ID: fmt.Sprint(n), Type: "function", FunctionCall: &llms.FunctionCall{Name: "echo", Arguments: queries[n]},
		}}}}}, nil
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "Done."}}}, nil
}

func (m langchains) Call(ctx context.Context, prompt string, o ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, o...)
}

// TestRatio prints how ours compares with eino's, the best of several runs each.
func TestRatio(t *testing.T) {
	best := func(f func(*testing.B)) testing.BenchmarkResult {
		var best testing.BenchmarkResult
		for range 3 {
			if r := testing.Benchmark(f); best.N == 0 || r.NsPerOp() < best.NsPerOp() {
				best = r
			}
		}
		return best
	}
	ours, eino, langchaingo := best(BenchmarkRagagent), best(BenchmarkEino), best(BenchmarkLangchaingo)
	for name, r := range map[string]testing.BenchmarkResult{"ragagent": ours, "eino": eino, "langchaingo": langchaingo} {
		t.Logf("%-12s %8d ns %6d allocations, %.2f of eino's time", name, r.NsPerOp(), r.AllocsPerOp(), float64(r.NsPerOp())/float64(eino.NsPerOp()))
	}
}
