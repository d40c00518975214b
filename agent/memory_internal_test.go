package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/agent/llm"
)

func TestLatestTurns(t *testing.T) {
	user := func(s string) llm.Message { return llm.Message{Role: llm.User, Content: s} }
	said := func(s string) llm.Message { return llm.Message{Role: llm.Assistant, Content: s} }
	calls := llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: "x"}}}
	result := llm.Message{Role: llm.ToolRole, Content: "r", ToolCallID: "1"}
	long := strings.Repeat("word ", 100)
	for name, tt := range map[string]struct {
		in     []llm.Message
		budget int
		want   []llm.Message
	}{
		"all fit":           {[]llm.Message{user("a"), said("b"), user("c"), said("d")}, 100, []llm.Message{user("a"), said("b"), user("c"), said("d")}},
		"oldest goes":       {[]llm.Message{user(long), said("b"), user("c"), said("d")}, 50, []llm.Message{user("c"), said("d")}},
		"none fits":         {[]llm.Message{user("a"), said(long)}, 50, nil},
		"no gap":            {[]llm.Message{user("a"), said("b"), user("x"), said(long), user("c"), said("d")}, 60, []llm.Message{user("c"), said("d")}},
		"starts with user":  {[]llm.Message{said("hello"), user("c"), said("d")}, 50, []llm.Message{user("c"), said("d")}},
		"unanswered":        {[]llm.Message{user("a"), user("c"), said("d"), user("e")}, 50, []llm.Message{user("c"), said("d")}},
		"calls stay whole":  {[]llm.Message{user("a"), calls, result, said("b")}, 50, []llm.Message{user("a"), calls, result, said("b")}},
		"calls go together": {[]llm.Message{user("a"), calls, result, said(long), user("c"), said("d")}, 50, []llm.Message{user("c"), said("d")}},
		"call without end":  {[]llm.Message{user("a"), calls, result}, 50, nil},
		"system is ours":    {[]llm.Message{{Role: llm.System, Content: "obey"}, user("c"), said("d")}, 50, []llm.Message{user("c"), said("d")}},
		"no budget":         {[]llm.Message{user("a"), said("b")}, 0, nil},
	} {
		if diff := cmp.Diff(tt.want, latestTurns(tt.in, tt.budget)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Whatever comes in: within the budget, starting with a user, calls with their
// results, and a suffix of the answered turns.
func TestLatestTurnsHold(t *testing.T) {
	message := rapid.Custom(func(t *rapid.T) llm.Message {
		m := llm.Message{
			Role:    rapid.SampledFrom([]llm.Role{llm.User, llm.Assistant, llm.ToolRole, llm.System}).Draw(t, "role"),
			Content: strings.Repeat("w ", rapid.IntRange(0, 40).Draw(t, "length")),
		}
		if m.Role == llm.Assistant && rapid.Bool().Draw(t, "calls") {
			m.ToolCalls = []llm.ToolCall{{Name: "x"}}
		}
		return m
	})
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(message, 0, 20).Draw(t, "messages")
		budget := rapid.IntRange(0, 200).Draw(t, "budget")
		got := latestTurns(in, budget)
		used := 0
		for i, m := range got {
			used += estimateMessage(m)
			if m.Role == llm.System {
				t.Fatal("a system message is kept")
			}
			if len(m.ToolCalls) > 0 && i == len(got)-1 {
				t.Fatal("a call is parted from its result")
			}
		}
		if used > budget {
			t.Fatalf("%d tokens for a budget of %d", used, budget)
		}
		if len(got) > 0 && got[0].Role != llm.User {
			t.Fatalf("the history starts with %s", got[0].Role)
		}
	})
}

func TestCutTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		most := rapid.IntRange(0, 30).Draw(t, "most")
		got := cutTokens(text, most)
		if !strings.HasPrefix(text, got) || estimateTokens(got) > most {
			t.Fatalf("%q cut to %q, %d tokens of %d", text, got, estimateTokens(got), most)
		}
	})
	if got, want := cutTokens("One sentence. Another one that is long. Third", 11), "One sentence. Another one that is long."; got != want {
		t.Errorf("%q", got)
	}
}
