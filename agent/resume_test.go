package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/tool"
	"ragagent/store"
	"ragagent/store/sqlite"
)

// openRecords opens a file of records as a process does that starts.
func openRecords(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

type mailArgs struct {
	To string `json:"to"`
}

// mailer has a side effect, and counts how often.
func mailer(t *testing.T, sent *[]string) tool.Tool {
	t.Helper()
	f, err := tool.NewFunc(tool.Spec{Name: "send", SideEffect: true}, func(_ context.Context, a mailArgs) (tool.Result, error) {
		*sent = append(*sent, a.To)
		return tool.Text("sent to " + a.To), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// counted is a tool that counts its calls.
func counted(t *testing.T, name string, n *int) tool.Tool {
	return fn(t, name, func(context.Context, queryArgs) (tool.Result, error) { *n++; return tool.Text("looked"), nil })
}

// waiting runs an agent until it waits for approval of one mail, the second of
// its turns.
func waiting(t *testing.T, db *sqlite.DB, sent *[]string, looked *int) agent.Result {
	t.Helper()
	model := llmtest.New(llmtest.Call("look", `{"query":"x"}`), llmtest.Calls("I will write.", [2]string{"send", `{'to': "ada"}`}, [2]string{"look", `{"query":"y"}`}))
	a := newAgent(t, agent.Config{Model: model, Checkpoints: db, Conversations: db})
	result, events, err := collect(t, a.Run(t.Context(), agent.Input{
		Question: "Write to Ada.", Interactive: true, Scope: json.RawMessage(`{"kb":["kb_1"]}`),
		Tools: []tool.Tool{mailer(t, sent), counted(t, "look", looked)},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if result.FinishedReason != agent.Interrupted || len(*sent) != 0 || *looked != 1 || result.TotalSteps != 1 {
		t.Fatalf("%s after %d steps, sent %v, looked %d times", result.FinishedReason, result.TotalSteps, *sent, *looked)
	}
	want := []agent.Interrupt{{
		CallID: "call_2_1", Kind: agent.InterruptApproval, Tool: "send", Arguments: json.RawMessage(`{"to":"ada"}`),
		ExpiresAt: time.Date(2026, 1, 3, 3, 4, 5, 0, time.UTC),
	}}
	if diff := cmp.Diff(want, result.Interrupts); diff != "" {
		t.Fatal(diff)
	}
	told := 0
	for _, e := range events {
		if e.Kind == agent.InterruptEvent {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d interrupt events", told)
	}
	return result
}

// TestApprovalInAnotherProcess: a run that waits is resumed by an agent that
// knows nothing but the records; what was done before is not done again.
func TestApprovalInAnotherProcess(t *testing.T) {
	for name, tt := range map[string]struct {
		decision agent.Decision
		sent     []string
		observed string
	}{
		"approved":       {agent.Decision{CallID: "call_2_1", Approve: true, Arguments: json.RawMessage(`{ "to": "ada" }`)}, []string{"ada"}, "sent to ada"},
		"refused":        {agent.Decision{CallID: "call_2_1", Reason: "not now"}, nil, "Error: send was not called: a person refused it: not now"},
		"without a word": {agent.Decision{CallID: "call_2_1"}, nil, "Error: send was not called: a person refused it"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "records.db")
			db := openRecords(t, path)
			var sent []string
			looked := 0
			before := waiting(t, db, &sent, &looked)
			if _, err := db.Run(t.Context(), before.RunID); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a run that waits is stored as ended: %v", err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = openRecords(t, path)
			model := llmtest.New(llmtest.Text("Done."))
			a := newAgent(t, agent.Config{Model: model, Checkpoints: db, Conversations: db})
			again := agent.Resume{RunID: before.RunID, Decisions: []agent.Decision{tt.decision}, Tools: []tool.Tool{mailer(t, &sent), counted(t, "look", &looked)}}
			result, _, err := collect(t, a.Resume(t.Context(), again))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.sent, sent); diff != "" || looked != 2 {
				t.Errorf("looked %d times, sent: %s", looked, diff)
			}
			if result.Answer != "Done." || result.FinishedReason != agent.Complete || result.RunID != before.RunID || result.TotalSteps != 3 {
				t.Errorf("%s %q after %d steps", result.FinishedReason, result.Answer, result.TotalSteps)
			}
			if got := result.Steps[1].ToolCalls[0].Result; got != tt.observed {
				t.Errorf("observed %q", got)
			}
			stored, err := db.Run(t.Context(), before.RunID)
			if err != nil || len(stored.Steps) != 3 || stored.Steps[1].Tool != "send;look" {
				t.Errorf("stored %+v, %v", stored.Steps, err)
			}
			if _, _, err := collect(t, a.Resume(t.Context(), again)); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("resumed twice: %v", err)
			}
		})
	}
}

// TestDecisionsFit: what does not fit the interrupts changes nothing.
func TestDecisionsFit(t *testing.T) {
	db := openRecords(t, filepath.Join(t.TempDir(), "records.db"))
	var sent []string
	looked := 0
	before := waiting(t, db, &sent, &looked)
	a := newAgent(t, agent.Config{Model: llmtest.New(llmtest.Text("Done.")), Checkpoints: db, Conversations: db})
	yes := agent.Decision{CallID: "call_2_1", Approve: true}
	for name, decisions := range map[string][]agent.Decision{
		"none":            nil,
		"of another call": {{CallID: "call_2_2", Approve: true}},
		"one too many":    {yes, {CallID: "call_2_2", Approve: true}},
		"twice":           {yes, yes},
		"other arguments": {{CallID: "call_2_1", Approve: true, Arguments: json.RawMessage(`{"to":"eve"}`)}},
	} {
		_, _, err := collect(t, a.Resume(t.Context(), agent.Resume{RunID: before.RunID, Decisions: decisions, Tools: []tool.Tool{mailer(t, &sent)}}))
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := collect(t, a.Resume(t.Context(), agent.Resume{RunID: "run_none"})); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown run: %v", err)
	}
	late, err := agent.New(agent.Config{
		Model: llmtest.New(llmtest.Text("Done.")), Checkpoints: db,
		Now: func() time.Time { return time.Date(2026, 1, 3, 3, 4, 5, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := collect(t, late.Resume(t.Context(), agent.Resume{RunID: before.RunID, Decisions: []agent.Decision{yes}})); !errors.Is(err, store.ErrConflict) {
		t.Errorf("expired: %v", err)
	}
	if len(sent) != 0 {
		t.Errorf("sent %v", sent)
	}
}

// TestQuestionToTheUser: the answer is the observation.
func TestQuestionToTheUser(t *testing.T) {
	db := openRecords(t, filepath.Join(t.TempDir(), "records.db"))
	model := llmtest.New(llmtest.Call(agent.AskUser, `{"question":"Which Ada?"}`), llmtest.Text("Lovelace it is."))
	a := newAgent(t, agent.Config{Model: model, Checkpoints: db, Conversations: db})
	before, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "Who is Ada?", Interactive: true}))
	if err != nil || len(before.Interrupts) != 1 || before.Interrupts[0].Question != "Which Ada?" || before.Interrupts[0].Kind != agent.InterruptQuestion {
		t.Fatalf("%+v, %v", before.Interrupts, err)
	}
	after, _, err := collect(t, a.Resume(t.Context(), agent.Resume{
		RunID: before.RunID, Decisions: []agent.Decision{{CallID: before.Interrupts[0].CallID, Answer: "Lovelace"}},
	}))
	if err != nil || after.Answer != "Lovelace it is." || after.Steps[0].ToolCalls[0].Result != "The user answers: Lovelace" {
		t.Errorf("%+v, %v", after, err)
	}
	messages, err := db.Messages(t.Context(), after.ConversationID, store.Page{})
	if err != nil || len(messages) != 2 || messages[0].Content != "Who is Ada?" {
		t.Errorf("%+v, %v", messages, err)
	}
}

// TestKilledRunGoesOn: a process that is gone leaves the rounds that it had
// finished; another one goes on behind them, with the same sources under the
// same numbers.
func TestKilledRunGoesOn(t *testing.T) {
	kept := &recorder{DB: openRecords(t, filepath.Join(t.TempDir(), "records.db"))}
	model := llmtest.New(llmtest.Call("search", `{"query":"tides"}`), llmtest.Text("never read"))
	a := newAgent(t, agent.Config{Model: model, Checkpoints: kept, Conversations: kept, Texts: tideDocs})
	var id string
	for e, err := range a.Run(t.Context(), agent.Input{Question: "How high?", Tools: []tool.Tool{search(t, tideDocs)}}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == agent.RunStart {
			id = e.ID
		}
		if e.Kind == agent.StepStart && e.ID == "step_2" {
			break
		}
	}
	// To stop reading is to cancel, which stores the run as ended. What a killed
	// process leaves is the checkpoint before that.
	c := kept.latest
	db := openRecords(t, filepath.Join(t.TempDir(), "restored.db"))
	if err := db.SaveCheckpoint(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if n, err := db.InterruptCheckpoints(t.Context(), c.UpdatedAt); n != 1 || err != nil {
		t.Fatalf("%d marked, %v", n, err)
	}
	if c.Status != store.CheckpointRunning || len(c.Steps) != 1 || c.Steps[0].Position != 1 {
		t.Fatalf("%s with %+v", c.Status, c.Steps)
	}
	calls := 0
	none := fn(t, "search", func(context.Context, queryArgs) (tool.Result, error) { calls++; return tool.Result{}, nil })
	next := llmtest.New(llmtest.Text("It reaches 12 metres [1]."))
	b := newAgent(t, agent.Config{Model: next, Checkpoints: db, Conversations: db, Texts: tideDocs})
	result, _, err := collect(t, b.Resume(t.Context(), agent.Resume{RunID: id, Tools: []tool.Tool{none}}))
	if err != nil {
		t.Fatal(err)
	}
	if result.Answer != "It reaches 12 metres [1]." || len(result.Citations) != 1 || !result.Citations[0].Verified || calls != 0 || result.TotalSteps != 2 {
		t.Errorf("%q, %+v, %d calls, %d steps", result.Answer, result.Citations, calls, result.TotalSteps)
	}
	if got := next.Requests()[0].Messages; !strings.Contains(got[len(got)-1].Content, "Saint-Malo") {
		t.Errorf("the model was shown %+v", got)
	}
	var nodes []agent.TraceNode
	stored, err := db.Run(t.Context(), id)
	if err != nil || json.Unmarshal(stored.Trace, &nodes) != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if n.EndedAt.IsZero() {
			t.Errorf("node %s has no end", n.ID)
		}
	}
}

// recorder remembers the latest checkpoint.
type recorder struct {
	*sqlite.DB
	latest store.Checkpoint
}

func (r *recorder) SaveCheckpoint(ctx context.Context, c store.Checkpoint) error {
	r.latest = c
	return r.DB.SaveCheckpoint(ctx, c)
}
