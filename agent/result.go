package agent

import (
	"encoding/json"
	"iter"

	"ragagent/agent/llm"
	"ragagent/agent/tool"
	"ragagent/store"
)

// Result is what a run came to. Its lists are never nil.
type Result struct {
	// Answer is the concatenation of the run's text deltas. A citation stands
	// in it as [n]; every n is the ID of one of Citations.
	Answer string `json:"answer"`
	// Output is the answer where a form was asked for: it fits the schema.
	Output json.RawMessage `json:"output,omitempty"`
	// Answerable is false when the documents do not tell: the answer refuses,
	// or sources were searched and none is cited.
	Answerable bool             `json:"answerable"`
	Citations  []store.Citation `json:"citations"`
	// Closest are the best sources that were found and did not hold the
	// answer; empty when Answerable.
	Closest []store.Citation `json:"closest,omitempty"`
	// Attachments are the links, images and files that tools gave the user.
	Attachments    []tool.Part    `json:"attachments,omitempty"`
	Steps          []Step         `json:"steps"`
	TotalSteps     int            `json:"total_steps"`
	TotalToolCalls int            `json:"total_tool_calls"`
	TotalElapsedMS int64          `json:"total_elapsed_ms"`
	FinishedReason FinishedReason `json:"finished_reason"`
	Error          string         `json:"error,omitempty"`
	Usage          llm.Usage      `json:"usage"`
	ConversationID string         `json:"conversation_id"`
	MessageID      string         `json:"message_id"`
	RunID          string         `json:"run_id"`
	Degraded       []string       `json:"degraded"`
	// Interrupts are what an interrupted run waits for.
	Interrupts   []Interrupt `json:"interrupts,omitempty"`
	LimitReached bool        `json:"max_iterations_reached,omitempty"`
	// Confidence of the model in its last reply, on its own scale; nil where
	// the model does not say.
	Confidence *float64 `json:"confidence,omitempty"`
}

// FinishedReason says how a run ended.
type FinishedReason string

// Ways to end.
const (
	Complete  FinishedReason = "complete"
	MaxSteps  FinishedReason = "max_steps" // iterations used up, or going round in circles
	Failed    FinishedReason = "error"
	Cancelled FinishedReason = "cancelled"
	Budget    FinishedReason = "budget" // tokens or wall time
	// Interrupted: the run waits for a person and can be resumed.
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

// Collect reads a run to its end. The result is also filled, as far as the run
// got, when there is an error.
func Collect(events iter.Seq2[Event, error]) (Result, error) {
	var result Result
	for e, err := range events {
		if err != nil {
			return result, err
		}
		if e.Result != nil {
			result = *e.Result
		}
	}
	return result, nil
}
