package agent_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/llm/ollama"
	"ragagent/agent/llm/ollama/ollamatest"
	"ragagent/agent/tool"
	"ragagent/store"
)

// startParrot runs a real Ollama server with a model that follows the rules;
// see make test-ollama.
func startParrot(t *testing.T, rules ...ollamatest.Rule) (*ollamatest.Server, *ollama.Model) {
	t.Helper()
	server := ollamatest.Start(t)
	parrot, err := ollamatest.NewParrot(false, rules...)
	if err != nil {
		t.Fatal(err)
	}
	server.Create(t, "parrot", parrot)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	model, err := ollama.New(ollama.Config{
		BaseURL: server.URL, Model: "parrot", Threads: 1, ContextTokens: 4096, MaxTokens: 4096,
		HTTPClient: &http.Client{Transport: transport},
	})
	if err != nil {
		t.Fatal(err)
	}
	return server, model
}

func TestOllamaSearchesAndCites(t *testing.T) {
	_, model := startParrot(t,
		ollamatest.Rule{Tools: ollamatest.Yes, Say: "Let me look.\n<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"tidal range\", \"top_k\": \"3\"}}\n</tool_call>"},
		ollamatest.Rule{Results: 1, Say: "The tidal range at Saint-Malo reaches 12 metres [1], others more [9]."},
		ollamatest.Rule{Results: ollamatest.Any, Say: "Nothing to say."})
	a := newAgent(t, agent.Config{Model: model, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}})
	got, events, err := collect(t, a.Run(t.Context(), agent.Input{Question: "How high is the tide?"}))
	if err != nil {
		t.Fatal(err)
	}
	if want := "The tidal range at Saint-Malo reaches 12 metres [1], others more."; got.Answer != want || got.FinishedReason != agent.Complete {
		t.Errorf("%s: %q", got.FinishedReason, got.Answer)
	}
	want := []store.Citation{{
		ID: 1, DocumentID: "doc_1", DocumentName: "doc_1.md", KnowledgeBase: "coast", ChunkID: "chk_doc_10",
		CharStart: 14, CharEnd: 62, Quote: "The tidal range at Saint-Malo reaches 12 metres.", Verified: true,
	}}
	if diff := cmp.Diff(want, got.Citations); diff != "" {
		t.Error(diff)
	}
	call := got.Steps[0].ToolCalls[0]
	if string(call.Arguments) != `{"query":"tidal range","top_k":3}` || got.Steps[0].Thought != "Let me look." {
		t.Errorf("first step %+v", got.Steps[0])
	}
	deltas := 0
	for _, e := range events {
		if e.Kind == agent.TextDelta {
			deltas++
		}
	}
	if deltas < 3 || got.Usage.CompletionTokens == 0 {
		t.Errorf("%d deltas, usage %+v: the answer was not streamed", deltas, got.Usage)
	}
}

func TestOllamaAtTheLimitAnswersWithoutTools(t *testing.T) {
	_, model := startParrot(t,
		ollamatest.Rule{Tools: ollamatest.Yes, Results: ollamatest.Any, Say: "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"tide\"}}\n</tool_call>"},
		ollamatest.Rule{Results: 1, Say: "Twelve metres, as far as I know [1]."},
		ollamatest.Rule{Results: ollamatest.Any, Say: "Nothing at all."})
	a := newAgent(t, agent.Config{Model: model, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "How high?", MaxIterations: 1}))
	if err != nil || got.FinishedReason != agent.MaxSteps || !got.LimitReached || got.Answer != "Twelve metres, as far as I know [1]." {
		t.Errorf("%s, %q, %v", got.FinishedReason, got.Answer, err)
	}
}

func TestOllamaKilledInMidStream(t *testing.T) {
	server, model := startParrot(t, ollamatest.Rule{Results: ollamatest.Any, Say: "over and out ", Loop: true})
	a := newAgent(t, agent.Config{Model: model})
	var last agent.Event
	var failure error
	for e, err := range a.Run(t.Context(), agent.Input{Question: "Go on."}) {
		if err != nil {
			failure = err
			break
		}
		if e.Kind == agent.TextDelta {
			server.Kill()
		}
		last = e
	}
	if failure == nil || last.Kind != agent.RunEnd || last.Result.FinishedReason != agent.Failed || last.Result.Error == "" {
		t.Fatalf("%v after %+v", failure, last)
	}
	if got := last.Result.Answer; got == "" || !strings.HasPrefix(strings.Repeat("over and out ", 1000), got) {
		t.Errorf("the partial answer is %q", last.Result.Answer)
	}
}

// TestOllamaReAct: the server stops the model before it makes up an observation.
func TestOllamaReAct(t *testing.T) {
	const seen = `Observation: Source 1 (coast, score=0.900):
Document: doc_1.md
Citation: [1]
<content>
Tides differ. The tidal range at Saint-Malo reaches 12 metres. It is among the largest in Europe.
</content>
Source 2 (coast, score=0.900):
Document: doc_2.md
Citation: [2]
<content>
The Baltic Sea has almost no tide.
</content>`
	_, model := startParrot(t,
		ollamatest.Rule{User: seen, Say: "Thought: That is it.\nFinal Answer: The range is 12 metres [1]."},
		ollamatest.Rule{User: "How high?", Say: "Thought: I have to look.\nAction: search\nAction Input: {\"query\": \"tide\"}\nObservation: made up, of course"},
		ollamatest.Rule{Results: ollamatest.Any, Say: "Nothing at all."})
	a := newAgent(t, agent.Config{Model: model, Strategy: agent.ReAct{}, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "How high?"}))
	if err != nil || got.Answer != "The range is 12 metres [1]." || len(got.Citations) != 1 {
		t.Errorf("%q, %v, %v", got.Answer, got.Citations, err)
	}
	if len(got.Steps) != 2 || got.Steps[0].Thought != "I have to look." || got.Steps[1].Thought != "That is it." {
		t.Errorf("%+v", got.Steps)
	}
}
