package agent_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/agent"
	"ragagent/agent/codeact/quickjs"
	"ragagent/agent/tool"
	"ragagent/store"
)

func TestMain(m *testing.M) {
	quickjs.ChildMain()
	goleak.VerifyTestMain(m)
}

// docs is the truth of the tests: texts by document id.
type docs map[string]string

func (d docs) ReadText(_ context.Context, id string, span store.Span) (string, error) {
	text, ok := d[id]
	if !ok || span.Start < 0 || span.End > len(text) || span.Start > span.End {
		return "", store.ErrNotFound
	}
	return text[span.Start:span.End], nil
}

// tideDocs hold two passages about tides.
var tideDocs = docs{
	"doc_1": "Tides differ. The tidal range at Saint-Malo reaches 12 metres. It is among the largest in Europe.",
	"doc_2": "The Baltic Sea has almost no tide.",
}

func passage(d docs, id, name string, start, end int) tool.Passage {
	return tool.Passage{
		ChunkID: "chk_" + id + fmt.Sprint(start), DocumentID: id, DocumentName: name, KnowledgeBase: "coast",
		Span: store.Span{Start: start, End: end}, Text: d[id][start:end], Score: .9,
	}
}

// search is a tool that finds both passages, whatever it is asked.
func search(t *testing.T, d docs) tool.Tool {
	t.Helper()
	return fn(t, "search", func(context.Context, queryArgs) (tool.Result, error) {
		var ps []tool.Passage
		for _, id := range []string{"doc_1", "doc_2"} {
			if text, ok := d[id]; ok {
				ps = append(ps, passage(d, id, id+".md", 0, len(text)))
			}
		}
		return tool.Result{Passages: ps}, nil
	})
}

type queryArgs struct {
	Query string `json:"query"`
	TopK  int    `json:"top_k,omitempty"`
}

func fn[A any](t *testing.T, name string, call func(context.Context, A) (tool.Result, error)) tool.Tool {
	t.Helper()
	f, err := tool.NewFunc(tool.Spec{Name: name, Description: "a test's " + name}, call)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// newAgent makes an agent with a clock that stands still and ids that count.
func newAgent(t *testing.T, cfg agent.Config) *agent.Agent {
	t.Helper()
	n := 0
	cfg.NewID = func(prefix string) string { n++; return fmt.Sprintf("%s_%d", prefix, n) }
	cfg.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	if cfg.Wait == nil {
		cfg.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	a, err := agent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// collect runs to the end, checks what holds for every run and returns the
// result with the events.
func collect(t *testing.T, run iter.Seq2[agent.Event, error]) (agent.Result, []agent.Event, error) {
	t.Helper()
	var events []agent.Event
	var failure error
	for e, err := range run {
		if err != nil {
			failure = err
			break
		}
		events = append(events, e)
	}
	if len(events) == 0 {
		return agent.Result{}, nil, failure
	}
	checkStream(t, events)
	return *events[len(events)-1].Result, events, failure
}

// checkStream holds for every run: starts and ends match, the run is the outer
// bracket, the deltas are the answer.
func checkStream(t *testing.T, events []agent.Event) {
	t.Helper()
	open := map[string]bool{}
	var answer strings.Builder
	for i, e := range events {
		switch e.Kind {
		case agent.RunStart, agent.StepStart, agent.ToolStart:
			if _, again := open[e.ID]; again {
				t.Errorf("event %d: %s starts twice", i, e.ID)
			}
			open[e.ID] = true
		case agent.RunEnd, agent.StepEnd, agent.ToolEnd:
			if !open[e.ID] {
				t.Errorf("event %d: %s %s ends without being open", i, e.Kind, e.ID)
			}
			open[e.ID] = false
		case agent.TextDelta:
			answer.WriteString(e.Text)
		}
	}
	for id, isOpen := range open {
		if isOpen {
			t.Errorf("%s never ends", id)
		}
	}
	first, last := events[0], events[len(events)-1]
	if first.Kind != agent.RunStart || last.Kind != agent.RunEnd || last.Result == nil {
		t.Fatalf("the run is bracketed by %s and %s", first.Kind, last.Kind)
	}
	if diff := cmp.Diff(last.Result.Answer, answer.String()); diff != "" {
		t.Errorf("deltas are not the answer (-answer +deltas):\n%s", diff)
	}
}

func kinds(events []agent.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Kind))
	}
	return out
}
