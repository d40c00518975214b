package agent

import (
	"encoding/json"
	"time"

	"ragagent/agent/llm"
)

// Kind says what an event tells.
type Kind string

// Kinds of events. Every start is followed by exactly one end of the same ID.
const (
	RunStart       Kind = "run_start"
	RunEnd         Kind = "run_end"
	StepStart      Kind = "step_start"
	StepEnd        Kind = "step_end" // Text is the step's thought
	ToolStart      Kind = "tool_start"
	ToolEnd        Kind = "tool_end"       // Text is the observation as the model sees it
	TextDelta      Kind = "text_delta"     // a piece of the answer
	ThinkingDelta  Kind = "thinking_delta" // a piece of reasoning
	RetryEvent     Kind = "retry"          // a call of the model or a tool is tried again
	HandoffStart   Kind = "handoff_start"  // Label is the agent that gets the run
	HandoffEnd     Kind = "handoff_end"
	InterruptEvent Kind = "interrupt" // Data is the Interrupt that the run waits for
	OutputEvent    Kind = "output"    // Data is the answer, in the form that was asked for
)

// EventStatus of a start or an end.
type EventStatus string

// Statuses.
const (
	StatusStart   EventStatus = "start"
	StatusSuccess EventStatus = "success"
	StatusError   EventStatus = "error"
)

// Event is one thing that happened in a run. IDs are unique within a run.
type Event struct {
	Kind   Kind            `json:"kind"`
	ID     string          `json:"id,omitempty"`     // of the node that starts or ends
	Parent string          `json:"parent,omitempty"` // of the node it belongs to
	Agent  string          `json:"agent,omitempty"`
	Label  string          `json:"label,omitempty"` // for people: tool name, "step 2"
	Status EventStatus     `json:"status,omitempty"`
	Text   string          `json:"text,omitempty"` // delta, thought or observation
	Data   json.RawMessage `json:"data,omitempty"` // arguments, settings
	Usage  *llm.Usage      `json:"usage,omitempty"`
	Err    string          `json:"error,omitempty"`
	Time   time.Time       `json:"time"`
	// Result is set on RunEnd only.
	Result *Result `json:"-"`
}
