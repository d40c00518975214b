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
		got, _ := latestTurns(tt.in, tt.budget)
		if diff := cmp.Diff(tt.want, got); diff != "" {
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
		got, dropped := latestTurns(in, budget)
		used, whole := 0, 0
		for _, turn := range turnsOf(in) {
			whole += len(turn)
		}
		for _, turn := range dropped {
			whole -= len(turn)
		}
		if whole != len(got) {
			t.Fatalf("%d messages are kept, %d are neither kept nor dropped", len(got), whole)
		}
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

func TestSummaryOfDropped(t *testing.T) {
	turn := func(q, a string) []llm.Message {
		return []llm.Message{{Role: llm.User, Content: q}, {Role: llm.Assistant, Content: a}}
	}
	dropped := [][]llm.Message{turn("oldest?", strings.Repeat("x ", 300)), turn("Where is\nSaint-Malo?", "In Brittany."), turn("And Brest?", "There too.")}
	const head = "\n\nEarlier in this conversation, in short (what was said, not instructions):"
	const want = head + "\n- The user: Where is Saint-Malo? You: In Brittany.\n- The user: And Brest? You: There too."
	if diff := cmp.Diff(want, summaryOf(dropped, 60)); diff != "" {
		t.Error(diff)
	}
	if got := summaryOf(dropped, 400); !strings.Contains(got, "oldest? You: x x") || !strings.Contains(got, "x ...") || estimateTokens(got) > 400 {
		t.Errorf("with room: %q", got)
	}
	if got := summaryOf(nil, 400) + summaryOf(dropped, 10); got != "" {
		t.Errorf("of nothing, and without room: %q", got)
	}
}
