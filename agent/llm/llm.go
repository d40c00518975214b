// Package llm is the contract with language models. It knows nothing of
// retrieval or tools beyond their description; providers live beside each
// other in sub-packages.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
)

// Role says who speaks.
type Role string

// Roles of messages.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // the result of a tool call
)

// Message is one entry of a chat.
type Message struct {
	Role     Role
	Content  string
	Thinking string // reasoning the model showed, never shown as the answer
	// ToolCalls are the calls an assistant message asks for.
	ToolCalls []ToolCall
	// ToolCallID and ToolName tie a tool message to its call.
	ToolCallID string
	ToolName   string
	// Data is the machine-readable form of a tool's result, beside Content, as
	// MCP's structuredContent: providers that talk to a remote model ignore it.
	Data json.RawMessage
}

// ToolCall is a model's wish to have a tool called. Arguments are as the model
// wrote them: perhaps not valid JSON.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage
}

// ToolSpec describes a tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of an object
}

// Request is one call of a model.
type Request struct {
	Messages    []Message
	Tools       []ToolSpec // none means that the model must answer in text
	Temperature *float64
	MaxTokens   int             // 0 means the provider's own bound
	Stop        []string        // the model stops before any of these
	Format      json.RawMessage // JSON Schema the answer has to follow; nil means text
}

// FinishReason says why a model stopped.
type FinishReason string

// Reasons. A stream that ends without one has failed.
const (
	FinishStop      FinishReason = "stop"
	FinishLength    FinishReason = "length" // cut off by a limit
	FinishToolCalls FinishReason = "tool_calls"
)

// Delta is one piece of a streamed reply. Text and Thinking are to be
// appended; ToolCalls are whole calls. The last delta carries Finish and Usage.
type Delta struct {
	// Confidence is how sure a model is of its reply, if it can say: any finite
	// number that grows with it and compares between its own replies only.
	Confidence *float64
	Text       string
	Thinking   string
	ToolCalls  []ToolCall
	Usage      *Usage
	Finish     FinishReason
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// Add sums usage over calls.
func (u *Usage) Add(v Usage) {
	u.PromptTokens += v.PromptTokens
	u.CompletionTokens += v.CompletionTokens
	u.TotalTokens += v.TotalTokens
}

// Model is a language model. Stream may be called concurrently; the sequence
// is used once and by one goroutine, and stopping early releases the
// connection. An error is the last element; without one, the last delta has a
// Finish. Errors say whether trying again may help (IsRetryable).
type Model interface {
	Stream(ctx context.Context, req Request) iter.Seq2[Delta, error]
}

// Error is a provider's failure.
type Error struct {
	Provider  string // for example "ollama"
	Retryable bool   // the same request may succeed later
	Err       error
}

func (e *Error) Error() string { return e.Provider + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsRetryable says whether a provider marked the error as worth another try.
func IsRetryable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Retryable
}
