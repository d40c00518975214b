package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/tool"
	"ragagent/store"
)

// giving is a tool that always gives the same.
func giving(t *testing.T, result tool.Result) tool.Tool {
	t.Helper()
	return fn(t, "look", func(context.Context, struct{}) (tool.Result, error) { return result, nil })
}

func TestASectionIsShownWithWhatWasFoundInIt(t *testing.T) {
	section := "Before it.\n\nThe dam is </found> 15 metres high. After it."
	got, data := observe(t, agent.Limits{}, tool.Result{Passages: []tool.Passage{{
		ChunkID: "a", KnowledgeBase: "coast", DocumentName: "dams.md", PageStart: 3, PageEnd: 4, Score: .5,
		Span: store.Span{Start: 100, End: 100 + len(section)}, Text: section,
		Found: store.Section{Span: store.Span{Start: 112, End: 112 + len("The dam is </found> 15 metres high.")}, PageStart: 3, PageEnd: 3},
	}}})
	want := `Source 1 (coast, score=0.500):
Document: dams.md
Page: 3-4
Citation: [1]
<content>
Before it.
<found citation="[1]">
The dam is ‹/found› 15 metres high.
</found>
After it.
</content>`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(data), `"text":"Before it.\n\nThe dam is \u003c/found\u003e 15 metres high. After it."`) {
		t.Errorf("the data hold %s", data)
	}
}

func TestSectionsShareTheRoom(t *testing.T) {
	filler := strings.Repeat("Some words here. ", 200) // 850 tokens
	var passages []tool.Passage
	for _, id := range []string{"a", "b", "c", "d"} {
		child := "Child " + id + " is here."
		text := filler + child + " " + filler
		passages = append(passages, tool.Passage{
			ChunkID: id, DocumentName: "d", Text: text, Span: store.Span{End: len(text)},
			Found: store.Section{Span: store.Span{Start: len(filler), End: len(filler) + len(child)}},
		})
	}
	got, _ := observe(t, agent.Limits{ObservationTokens: 1000}, tool.Result{Passages: passages})
	if n := len(got) / 4; n > 1100 {
		t.Errorf("about %d tokens", n)
	}
	for _, p := range passages {
		want := "Some words here.\n<found citation=\"[" + string(rune('1'+p.ChunkID[0]-'a')) + "]\">\nChild " + p.ChunkID + " is here.\n</found>\nSome words here."
		if !strings.Contains(got, want) {
			t.Errorf("%s is not shown with what stands around it", p.ChunkID)
		}
	}
}

func TestTheContextOfAPassageIsShownAndNotQuoted(t *testing.T) {
	text := "Sales | 5 | 4\nCosts | 3 | 2"
	truth := docs{"doc": text}
	table := giving(t, tool.Result{Passages: []tool.Passage{{
		ChunkID: "a", DocumentID: "doc", DocumentName: "d", Span: store.Span{End: len(text)}, Text: text,
		Context: "In millions\nYear | 2022 | <content>2021",
	}}})
	model := llmtest.New(llmtest.Call("look", `{}`), llmtest.Text("In millions, the year 2022 had sales of 5 [1]."))
	a := newAgent(t, agent.Config{Model: model, Texts: truth, Tools: []tool.Tool{table}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil {
		t.Fatal(err)
	}
	messages := model.Requests()[1].Messages
	want := "<content>\nIn millions\nYear | 2022 | ‹content›2021\n...\n" + text + "\n</content>"
	if shown := messages[len(messages)-1].Content; !strings.Contains(shown, want) {
		t.Errorf("shown is %q", shown)
	}
	if c := got.Citations[0]; c.Quote != "Sales | 5 | 4" || !c.Verified {
		t.Errorf("citation %+v", c)
	}
}

func TestAQuoteFromASectionHasItsPlace(t *testing.T) {
	text := "The river is long.\n\nThe dam is 15 metres high.\n\nThe lake is deep and cold."
	truth := docs{"doc": "xxx" + text}
	at := strings.Index(text, "The dam") + 3
	look := giving(t, tool.Result{Passages: []tool.Passage{{
		ChunkID: "a", DocumentID: "doc", DocumentName: "d", Span: store.Span{Start: 3, End: 3 + len(text)}, Text: text, PageStart: 1, PageEnd: 3,
		Found: store.Section{Span: store.Span{Start: at, End: at + len("The dam is 15 metres high.")}, PageStart: 2, PageEnd: 2},
	}}})
	for answer, want := range map[string]store.Citation{
		"The dam is 15 metres high [1].": {PageStart: 2, PageEnd: 2, CharStart: at, CharEnd: at + 26, Quote: "The dam is 15 metres high."},
		"The lake is deep and cold [1].": {PageStart: 1, PageEnd: 3, CharStart: at + 28, CharEnd: 3 + len(text), Quote: "The lake is deep and cold."},
	} {
		model := llmtest.New(llmtest.Call("look", `{}`), llmtest.Text(answer))
		a := newAgent(t, agent.Config{Model: model, Texts: truth, Tools: []tool.Tool{look}})
		got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
		if err != nil {
			t.Fatal(err)
		}
		want.ID, want.DocumentID, want.DocumentName, want.ChunkID, want.Verified = 1, "doc", "d", "a", true
		if diff := cmp.Diff([]store.Citation{want}, got.Citations); diff != "" {
			t.Errorf("%s: %s", answer, diff)
		}
	}
}
