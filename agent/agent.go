// Package agent runs language models with tools: one loop owns limits, usage,
// interrupts and ends; strategies only translate between the loop and a way of
// prompting. A run is one stream of events, which traces, SSE, stored runs and
// results are views of.
package agent

import (
	"encoding/json"
	"time"

	"ragagent/agent/llm"
	"ragagent/store"
)

// Result is what a run came to.
type Result struct {
	Answer string `json:"answer"`
	// Answerable is false when the documents do not tell.
	Answerable     bool             `json:"answerable"`
	Citations      []store.Citation `json:"citations"`
	Steps          []Step           `json:"steps"`
	TotalSteps     int              `json:"total_steps"`
	TotalToolCalls int              `json:"total_tool_calls"`
	TotalElapsedMS int64            `json:"total_elapsed_ms"`
	FinishedReason FinishedReason   `json:"finished_reason"`
	Error          string           `json:"error,omitempty"`
	Usage          llm.Usage        `json:"usage"`
	ConversationID string           `json:"conversation_id"`
	MessageID      string           `json:"message_id"`
	RunID          string           `json:"run_id"`
	Degraded       []string         `json:"degraded"`
	LimitReached   bool             `json:"max_iterations_reached,omitempty"`
}

// FinishedReason says how a run ended.
type FinishedReason string

// Ways to end.
const (
	Complete    FinishedReason = "complete"
	MaxSteps    FinishedReason = "max_steps"
	Failed      FinishedReason = "error"
	Cancelled   FinishedReason = "cancelled"
	Budget      FinishedReason = "budget"
	Interrupted FinishedReason = "interrupted"
)

// Step is one turn of the model with the calls it made.
type Step struct {
	Step      int        `json:"step"` // from 1
	Thought   string     `json:"thought"`
	ToolCalls []CallInfo `json:"tool_calls"`
	ElapsedMS int64      `json:"elapsed_ms"`
}

// CallInfo is one tool call and what came of it.
type CallInfo struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // always valid JSON
	Result    string          `json:"result"`    // the observation as the model saw it
	Error     string          `json:"error,omitempty"`
	ElapsedMS int64           `json:"elapsed_ms"`
}

// Kind says what an event tells.
type Kind string

// Kinds of events. Every start is followed by exactly one end of the same ID.
const (
	RunStart      Kind = "run_start"
	RunEnd        Kind = "run_end"
	StepStart     Kind = "step_start"
	StepEnd       Kind = "step_end"
	ToolStart     Kind = "tool_start"
	ToolEnd       Kind = "tool_end"
	TextDelta     Kind = "text_delta"     // a piece of the answer
	ThinkingDelta Kind = "thinking_delta" // a piece of reasoning
	RetryEvent    Kind = "retry"          // a model call is tried again
)

// EventStatus of an end.
type EventStatus string

// Statuses.
const (
	StatusStart   EventStatus = "start"
	StatusSuccess EventStatus = "success"
	StatusError   EventStatus = "error"
)

// Event is one thing that happened in a run.
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

// Input is one question to an agent.
type Input struct {
	Question string
	// ConversationID continues a stored conversation; "" starts one.
	ConversationID string
	// History stands before the question where the caller brings its own
	// messages; it is used instead of the stored conversation's.
	History []llm.Message
	// MaxIterations is 1..99; 0 means DefaultMaxIterations.
	MaxIterations int
}

// Bounds of a run.
const (
	DefaultMaxIterations = 5
	MaxMaxIterations     = 99
)
