package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ragagent/agent/llm"
	"ragagent/agent/tool"
	"ragagent/store"
)

// stateVersion of snapshots. One of another version is refused: what it means
// is not known.
const stateVersion = 1

// checkpointLife is how long a run can be resumed after its latest round.
const checkpointLife = 24 * time.Hour

// snapshot is store.Checkpoint.State: a run between two rounds.
type snapshot struct {
	Version   int       `json:"version"`
	MessageID string    `json:"message_id"`
	First     bool      `json:"first,omitempty"` // it starts the conversation
	Title     string    `json:"title"`
	Since     time.Time `json:"since"` // of the conversation
	Strategy  string    `json:"strategy"`
	Limits    Limits    `json:"limits"`
	// Interactive as Input has it.
	Interactive bool `json:"interactive,omitempty"`

	System     string          `json:"system"`
	Summary    string          `json:"summary,omitempty"` // in System
	History    []savedMessage  `json:"history,omitempty"`
	Transcript []savedMessage  `json:"transcript,omitempty"`
	Turn       int             `json:"turn"`
	Output     json.RawMessage `json:"output,omitempty"`

	Answer      string            `json:"answer,omitempty"`
	Passages    []tool.Passage    `json:"passages,omitempty"`
	Steps       []Step            `json:"steps,omitempty"`
	Calls       map[string]int    `json:"calls,omitempty"`
	Failures    int               `json:"failures,omitempty"`
	Invalid     int               `json:"invalid,omitempty"`
	Repairs     int               `json:"repairs,omitempty"`
	Searched    bool              `json:"searched,omitempty"`
	Worked      bool              `json:"worked,omitempty"`
	Shown       int               `json:"shown,omitempty"`
	Rests       map[string]string `json:"rests,omitempty"`
	Attachments []tool.Part       `json:"attachments,omitempty"`
	Usage       llm.Usage         `json:"usage"`
	Degraded    []string          `json:"degraded,omitempty"`
	Trace       []TraceNode       `json:"trace,omitempty"`

	// Pending is the turn whose calls wait for a person; nil if none does.
	Pending *pendingTurn `json:"pending,omitempty"`
}

// pendingTurn is a reply of the model whose calls have not been made.
type pendingTurn struct {
	Reply savedMessage `json:"reply"`
	Said  string       `json:"said,omitempty"`
	Waits []Interrupt  `json:"waits"`
}

// savedMessage is an llm.Message as it is stored: what a model wrote as
// arguments need not be JSON, so it is kept as text.
type savedMessage struct {
	Role     llm.Role    `json:"role,omitempty"`
	Content  string      `json:"content,omitempty"`
	Thinking string      `json:"thinking,omitempty"`
	Calls    []savedCall `json:"calls,omitempty"`
	CallID   string      `json:"call_id,omitempty"`
	Tool     string      `json:"tool,omitempty"`
	Data     string      `json:"data,omitempty"`
}

type savedCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
}

func saved(m llm.Message) savedMessage {
	s := savedMessage{Role: m.Role, Content: m.Content, Thinking: m.Thinking, CallID: m.ToolCallID, Tool: m.ToolName, Data: string(m.Data)}
	for _, c := range m.ToolCalls {
		s.Calls = append(s.Calls, savedCall{ID: c.ID, Name: c.Name, Arguments: string(c.Arguments)})
	}
	return s
}

func (s savedMessage) message() llm.Message {
	m := llm.Message{Role: s.Role, Content: s.Content, Thinking: s.Thinking, ToolCallID: s.CallID, ToolName: s.Tool, Data: rawOf(s.Data)}
	for _, c := range s.Calls {
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: rawOf(c.Arguments)})
	}
	return m
}

func rawOf(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}

// checkpoint stores the round that has just ended.
func (r *run) checkpoint(ctx context.Context, status store.CheckpointStatus) error {
	records := r.agent.cfg.Checkpoints
	if records == nil {
		return nil
	}
	state, err := json.Marshal(r.snapshot())
	if err != nil {
		return fmt.Errorf("encode the state of the run: %w", err)
	}
	now := r.agent.cfg.Now()
	return records.SaveCheckpoint(ctx, store.Checkpoint{
		RunID: r.id, ConversationID: r.conversation.ID, Agent: r.agent.cfg.Name, Question: r.question, Status: status,
		State: state, Scope: r.scope, Steps: thoughts(r.steps), StartedAt: r.started, UpdatedAt: now, ExpiresAt: now.Add(checkpointLife),
	})
}

// round stores a round of a run that goes on. That it cannot be is told, and
// ends nothing.
func (r *run) round(ctx context.Context) {
	if err := r.checkpoint(ctx, store.CheckpointRunning); err != nil && ctx.Err() == nil {
		r.degrade("the run could not be saved on its way: " + err.Error())
	}
}

// forget removes the checkpoint of a run that ended without being stored.
func (r *run) forget(ctx context.Context) {
	if records := r.agent.cfg.Checkpoints; records != nil {
		if err := records.DeleteCheckpoint(ctx, r.id); err != nil {
			r.agent.cfg.Log.Error("a checkpoint stays behind", "run", r.id, "error", err)
		}
	}
}

func (r *run) snapshot() snapshot {
	s := snapshot{
		Version: stateVersion, MessageID: r.messageID, First: r.first, Title: r.conversation.Title, Since: r.conversation.CreatedAt,
		Strategy: strategyName(r.strategy), Limits: r.limits, Interactive: r.interactive,
		System: r.state.System, Summary: r.summary, History: each(r.state.History, saved), Transcript: each(r.state.Transcript, saved),
		Turn: r.state.Turn, Output: r.state.Output,
		Answer: r.answer.String(), Passages: r.ledger.passages, Steps: r.steps, Calls: r.calls,
		Failures: r.failures, Invalid: r.invalid, Searched: r.searched, Worked: r.worked, Shown: r.shown,
		Attachments: r.attached, Usage: r.usage, Degraded: r.degraded, Trace: r.trace.nodes, Pending: r.pending,
	}
	if r.output != nil {
		s.Repairs = r.output.repairs
	}
	if r.rests != nil {
		s.Rests = r.rests.texts
	}
	return s
}

// readSnapshot decodes the state of a checkpoint.
func readSnapshot(raw json.RawMessage) (snapshot, error) {
	var s snapshot
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("read the state of the run: %w", err)
	}
	if s.Version != stateVersion {
		return s, fmt.Errorf("%w: the run was saved in version %d of the state, this is %d", store.ErrConflict, s.Version, stateVersion)
	}
	return s, nil
}

// restore puts a run where its snapshot was taken. Its tools are there already.
func (r *run) restore(s snapshot) {
	r.messageID, r.first = s.MessageID, s.First
	r.conversation.Title, r.conversation.CreatedAt = s.Title, s.Since
	r.state.System, r.summary, r.state.Turn = s.System, s.Summary, s.Turn
	r.state.History = each(s.History, savedMessage.message)
	r.state.Transcript = each(s.Transcript, savedMessage.message)
	r.answer.answer.WriteString(s.Answer)
	for _, p := range s.Passages {
		r.ledger.admit(p)
	}
	r.steps, r.failures, r.invalid = s.Steps, s.Failures, s.Invalid
	r.searched, r.worked, r.shown, r.attached, r.usage = s.Searched, s.Worked, s.Shown, s.Attachments, s.Usage
	for key, n := range s.Calls {
		r.calls[key] = n
	}
	for _, d := range s.Degraded {
		r.degrade(d)
	}
	if r.output != nil {
		r.output.repairs = s.Repairs
	}
	for id, rest := range s.Rests {
		r.keepRest(id, rest)
	}
	r.trace.nodes, r.trace.index = slices.Clone(s.Trace), map[string]int{}
	for i, n := range s.Trace {
		r.trace.index[n.ID] = i
	}
	r.pending = s.Pending
}

// Names of the strategies, as requests and agents in YAML give them.
const (
	nameFunctionCalling = "function_call"
	nameReAct           = "react"
	nameCodeAct         = "codeact"
)

// strategyName is the name of one of the strategies here; "" for another.
func strategyName(s Strategy) string {
	switch s.(type) {
	case FunctionCalling:
		return nameFunctionCalling
	case ReAct:
		return nameReAct
	case CodeAct:
		return nameCodeAct
	}
	return ""
}
