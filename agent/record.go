package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ragagent/store"
)

// errConversationGone stands for store.ErrNotFound of an exchange whose
// conversation was there when the run began.
var errConversationGone = errors.New("it was deleted while this was answered")

// store writes the run, its steps, the question and the answer in one
// transaction. A run without a word of answer leaves no answer message.
func (r *run) store(ctx context.Context, result Result) error {
	records := r.agent.cfg.Conversations
	if records == nil {
		return nil
	}
	now := r.agent.cfg.Now()
	status := StatusSuccess
	if result.FinishedReason != Complete && result.FinishedReason != MaxSteps {
		status = StatusError
	}
	trace, err := r.trace.json(now, status, result)
	if err != nil {
		return fmt.Errorf("encode the trace: %w", err)
	}
	record := store.Run{
		ID: r.id, ConversationID: r.conversation.ID, Agent: r.agent.cfg.Name, Question: r.question, Answer: result.Answer,
		FinishedReason: string(result.FinishedReason), Error: result.Error, Trace: trace,
		Steps: thoughts(result.Steps), StartedAt: r.started, EndedAt: now,
	}
	messages := []store.Message{{
		ID: r.agent.cfg.NewID("msg"), ConversationID: r.conversation.ID, Role: "user", Content: r.question, CreatedAt: r.started,
	}}
	if result.Answer != "" {
		messages = append(messages, store.Message{
			ID: r.messageID, ConversationID: r.conversation.ID, RunID: r.id, Role: "assistant", Content: result.Answer,
			Citations: result.Citations, CreatedAt: now,
		})
	}
	if r.first {
		return records.StartConversation(ctx, r.conversation, record, messages)
	}
	err = records.AddExchange(ctx, r.conversation, record, messages)
	if errors.Is(err, store.ErrNotFound) {
		return errConversationGone
	}
	return err
}

// thoughts makes one record per step, positions from 1 without gaps. Calls
// that one step made side by side are all kept: their names joined by ";",
// inputs and observations as JSON lists in call order.
func thoughts(steps []Step) []store.Thought {
	out := make([]store.Thought, len(steps))
	for i, s := range steps {
		t := store.Thought{Position: i + 1, Thought: s.Thought, ElapsedMS: s.ElapsedMS}
		switch len(s.ToolCalls) {
		case 0:
		case 1:
			c := s.ToolCalls[0]
			t.Tool, t.ToolInput, t.Observation, t.Error = c.Name, string(c.Arguments), c.Result, c.Error
		default:
			mergeCalls(&t, s.ToolCalls)
		}
		out[i] = t
	}
	return out
}

func mergeCalls(t *store.Thought, calls []CallInfo) {
	names, failures := make([]string, len(calls)), []string{}
	inputs, observations := make([]json.RawMessage, len(calls)), make([]string, len(calls))
	for i, c := range calls {
		names[i], inputs[i], observations[i] = c.Name, c.Arguments, c.Result
		if c.Error != "" {
			failures = append(failures, c.Error)
		}
	}
	in, _ := json.Marshal(inputs)        // valid JSON each, as CallInfo promises
	obs, _ := json.Marshal(observations) // strings always encode
	t.Tool, t.ToolInput, t.Observation, t.Error = strings.Join(names, ";"), string(in), string(obs), strings.Join(failures, "; ")
}
