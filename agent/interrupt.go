package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"ragagent/agent/llm"
	"ragagent/agent/tool"
	"ragagent/store"
)

// Kinds of interrupts.
const (
	InterruptApproval = "approval"
	InterruptQuestion = "question"
)

// Interrupt is what a run waits for: that a person approves of a call with
// exactly these arguments, or answers a question.
type Interrupt struct {
	CallID    string          `json:"call_id"`
	Kind      string          `json:"kind"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // cast to the tool's schema
	Question  string          `json:"question,omitempty"`
	ExpiresAt time.Time       `json:"expires_at"`
}

// Decision is what a person says to an Interrupt.
type Decision struct {
	CallID string `json:"call_id"`
	// Approve lets the call be made; without it the model is told that it was
	// refused.
	Approve bool `json:"approve"`
	// Arguments that were approved of. Where they are given they have to be
	// those of the interrupt, as JSON values.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Reason    string          `json:"reason,omitempty"` // of a refusal, for the model
	Answer    string          `json:"answer,omitempty"` // to a question
}

// Interrupts returns what a stored run waits for; none if it does not.
func Interrupts(state json.RawMessage) ([]Interrupt, error) {
	s, err := readSnapshot(state)
	if err != nil || s.Pending == nil {
		return nil, err
	}
	return s.Pending.Waits, nil
}

// pause stops a run before a turn in which a call needs a person. None of the
// turn's calls is made: they are when it is resumed. nil where nothing waits.
func (r *run) pause(s *stepRecord, turn Turn) *ending {
	if !r.interactive || r.decisions != nil {
		return nil
	}
	var waits []Interrupt
	for i, asked := range turn.Calls[:min(len(turn.Calls), r.limits.CallsPerTurn)] {
		if w, waiting := r.waitsFor(s, i, asked); waiting {
			waits = append(waits, w)
		}
	}
	if len(waits) == 0 {
		return nil
	}
	r.pending = &pendingTurn{
		Reply: saved(llm.Message{Role: llm.Assistant, Content: turn.Text, Thinking: turn.Thinking, ToolCalls: turn.Calls}),
		Said:  turn.Said, Waits: waits,
	}
	for _, w := range waits {
		data, _ := json.Marshal(w) // strings, a time and valid JSON
		r.emit(Event{Kind: InterruptEvent, ID: w.CallID + "_wait", Parent: s.id, Label: w.Tool, Data: data})
	}
	return &ending{reason: Interrupted}
}

// waitsFor says whether a call that can be made needs a person first.
func (r *run) waitsFor(s *stepRecord, i int, asked llm.ToolCall) (Interrupt, bool) {
	entry, ok := r.tools.Resolve(asked.Name)
	if !ok {
		return Interrupt{}, false
	}
	_, question := entry.Tool.(userTool)
	if !question && (!entry.Spec.SideEffect || r.agent.cfg.Approve != nil) {
		return Interrupt{}, false
	}
	args, err := entry.Schema.Cast(asked.Arguments)
	if err != nil || r.calls[callKey(entry.Spec.Name, args)] >= r.limits.IdenticalCalls {
		return Interrupt{}, false // it will not be made
	}
	w := Interrupt{
		CallID: callID(s, i), Kind: InterruptApproval, Tool: entry.Spec.Name, Arguments: args,
		ExpiresAt: r.agent.cfg.Now().Add(checkpointLife),
	}
	if question {
		w.Kind, w.Question = InterruptQuestion, questionIn(args)
	}
	return w, true
}

// decided is what was said of a call; refused in words if it is not the call
// that was asked about.
func (r *run) decided(c *call) (Decision, error) {
	d, ok := r.decisions[c.id]
	if !ok {
		return d, fmt.Errorf("%s was not called: nobody has approved of it", c.asked.Name)
	}
	for _, w := range r.waited {
		if w.CallID == c.id && w.Tool == c.asked.Name && bytes.Equal(w.Arguments, c.args) {
			return d, nil
		}
	}
	return d, fmt.Errorf("%s was not called: it is not the call that was approved of", c.asked.Name)
}

// because appends a reason, if there is one.
func because(reason string) string {
	if reason = strings.TrimSpace(reason); reason == "" {
		return ""
	}
	return ": " + oneLine(reason)
}

// checkDecisions wants one decision for each interrupt, and no other.
func checkDecisions(waits []Interrupt, decisions []Decision) (map[string]Decision, error) {
	byCall := map[string]Decision{}
	for _, d := range decisions {
		if _, twice := byCall[d.CallID]; twice {
			return nil, store.Invalid("decisions", "there are two for call %q", d.CallID)
		}
		byCall[d.CallID] = d
	}
	for _, w := range waits {
		d, ok := byCall[w.CallID]
		switch {
		case !ok:
			return nil, store.Invalid("decisions", "call %q (%s) waits for one", w.CallID, w.Tool)
		case len(d.Arguments) > 0 && !sameJSON(d.Arguments, w.Arguments):
			return nil, store.Invalid("decisions", "call %q has other arguments than those that were approved of", w.CallID)
		case w.Kind == InterruptQuestion && strings.TrimSpace(d.Answer) == "":
			return nil, store.Invalid("decisions", "call %q is a question: give an answer", w.CallID)
		}
	}
	if len(byCall) > len(waits) {
		return nil, store.Invalid("decisions", "%d are for calls that do not wait", len(byCall)-len(waits))
	}
	return byCall, nil
}

// sameJSON compares values, whatever their white space and order of keys.
func sameJSON(a, b json.RawMessage) bool {
	normal := func(raw json.RawMessage) ([]byte, error) {
		var v any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}
	x, errX := normal(a)
	y, errY := normal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// AskUser is the name of the tool through which a model asks the person it
// works for. It is offered in interactive runs.
const AskUser = "ask_user"

// userTool is the tool ask_user; answer is set when there is one.
type userTool struct{ answer string }

// Spec implements tool.Tool.
func (userTool) Spec() tool.Spec {
	return tool.Spec{
		Name:        AskUser,
		Description: "Asks the user a question and returns the answer. Use it only where you cannot go on without.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","minLength":1}},"required":["question"]}`),
	}
}

// Call implements tool.Tool.
func (t userTool) Call(context.Context, json.RawMessage) (tool.Result, error) {
	if t.answer == "" {
		return tool.Result{}, errors.New("the user cannot be asked now: go on without")
	}
	return tool.Text("The user answers: " + t.answer), nil
}

func questionIn(args json.RawMessage) string {
	var in struct {
		Question string `json:"question"`
	}
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	return in.Question
}
