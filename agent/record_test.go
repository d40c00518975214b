package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/agent/llm/llmtest"
	"ragagent/agent/tool"
	"ragagent/store"
)

type conversations = store.Conversations

// memory keeps conversations in memory. Only what the agent uses is there.
type memory struct {
	conversations
	convs    map[string]store.Conversation
	runs     []store.Run
	messages []store.Message
}

func (m *memory) StartConversation(ctx context.Context, conv store.Conversation, run store.Run, messages []store.Message) error {
	if m.convs == nil {
		m.convs = map[string]store.Conversation{}
	}
	m.convs[conv.ID] = conv
	return m.AddExchange(ctx, conv, run, messages)
}

func (m *memory) AddExchange(_ context.Context, conv store.Conversation, run store.Run, messages []store.Message) error {
	if _, ok := m.convs[conv.ID]; !ok {
		return fmt.Errorf("add exchange: %w", store.ErrNotFound)
	}
	m.convs[conv.ID] = conv
	m.runs = append(m.runs, run)
	m.messages = append(m.messages, messages...)
	return nil
}

func (m *memory) Conversation(_ context.Context, id string) (store.Conversation, error) {
	conv, ok := m.convs[id]
	if !ok {
		return store.Conversation{}, fmt.Errorf("conversation: %w", store.ErrNotFound)
	}
	return conv, nil
}

func (m *memory) LastMessages(_ context.Context, id string, n int) ([]store.Message, error) {
	var out []store.Message
	for _, msg := range m.messages {
		if msg.ConversationID == id {
			out = append(out, msg)
		}
	}
	return out[max(0, len(out)-n):], nil
}

func TestExchangeIsStoredAndRemembered(t *testing.T) {
	records := &memory{}
	model := llmtest.New(
		llmtest.Calls("", [2]string{"search", `{"query":"a"}`}, [2]string{"nosuch", `{oops`}),
		llmtest.Text("It is 12 metres [1]."),
		llmtest.Text("The Baltic."),
	)
	a := newAgent(t, agent.Config{Model: model, Texts: tideDocs, Tools: []tool.Tool{search(t, tideDocs)}, Conversations: records})
	first, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "How high?"}))
	if err != nil {
		t.Fatal(err)
	}
	run := records.runs[0]
	if run.ID != first.RunID || run.ConversationID != first.ConversationID || run.FinishedReason != "complete" || len(run.Steps) != 2 {
		t.Errorf("run %+v", run)
	}
	s := run.Steps[0]
	if s.Position != 1 || s.Tool != "search;nosuch" || s.ToolInput != `[{"query":"a"},"{oops"]` || s.Error == "" {
		t.Errorf("first thought %+v", s)
	}
	var observations []string
	if err := json.Unmarshal([]byte(s.Observation), &observations); err != nil || len(observations) != 2 {
		t.Errorf("observations %q: %v", s.Observation, err)
	}
	checkTrace(t, run.Trace)
	if len(records.messages) != 2 || records.messages[1].ID != first.MessageID || !cmp.Equal(records.messages[1].Citations, first.Citations) {
		t.Errorf("messages %+v", records.messages)
	}

	if _, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "And the least?", ConversationID: first.ConversationID})); err != nil {
		t.Fatal(err)
	}
	asked := model.Requests()[2].Messages[1:]
	want := []llm.Message{
		{Role: llm.User, Content: "How high?"},
		{Role: llm.Assistant, Content: "It is 12 metres."}, // without the marker of another run
		{Role: llm.User, Content: "And the least?"},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

// checkEnded: a tree, every node of which has ended.
func checkEnded(t *testing.T, raw json.RawMessage) []agent.TraceNode {
	t.Helper()
	var nodes []agent.TraceNode
	if err := json.Unmarshal(raw, &nodes); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, n := range nodes {
		if n.Parent != "" && !ids[n.Parent] {
			t.Errorf("%s has no parent %s", n.ID, n.Parent)
		}
		ids[n.ID] = true
		if n.EndedAt.IsZero() || n.Status == agent.StatusStart {
			t.Errorf("%s was never ended", n.ID)
		}
	}
	return nodes
}

// checkTrace: the tree of the first exchange.
func checkTrace(t *testing.T, raw json.RawMessage) {
	t.Helper()
	nodes := checkEnded(t, raw)
	var got []string
	for _, n := range nodes {
		got = append(got, n.Kind+" "+n.Label+" "+string(n.Status))
	}
	want := []string{"run assistant success", "step step 1 success", "tool search success", "tool nosuch error", "step step 2 success"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

type forgetful struct{ memory }

func (*forgetful) StartConversation(context.Context, store.Conversation, store.Run, []store.Message) error {
	return fmt.Errorf("disk full")
}

func TestStoreFailureIsSaid(t *testing.T) {
	a := newAgent(t, agent.Config{Model: llmtest.New(llmtest.Text("Hello.")), Conversations: &forgetful{}})
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil || got.Answer != "Hello." {
		t.Errorf("%q, %v", got.Answer, err)
	}
	if diff := cmp.Diff([]string{"the conversation could not be stored: disk full"}, got.Degraded); diff != "" {
		t.Error(diff)
	}
}

// TestDeletedConversationStaysDeleted: somebody deletes the conversation while
// a question in it is answered.
func TestDeletedConversationStaysDeleted(t *testing.T) {
	records := &memory{}
	forget := fn(t, "forget", func(context.Context, struct{}) (tool.Result, error) {
		clear(records.convs)
		return tool.Result{Text: "done"}, nil
	})
	model := llmtest.New(llmtest.Text("Hello."), llmtest.Call("forget", `{}`), llmtest.Text("Bye."))
	a := newAgent(t, agent.Config{Model: model, Tools: []tool.Tool{forget}, Conversations: records})
	first, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q"}))
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := collect(t, a.Run(t.Context(), agent.Input{Question: "q", ConversationID: first.ConversationID}))
	if err != nil || got.Answer != "Bye." {
		t.Errorf("%q, %v", got.Answer, err)
	}
	if diff := cmp.Diff([]string{"the conversation could not be stored: it was deleted while this was answered"}, got.Degraded); diff != "" {
		t.Error(diff)
	}
	if len(records.convs) != 0 || len(records.runs) != 1 {
		t.Errorf("kept %d conversations and %d runs", len(records.convs), len(records.runs))
	}
}
