// Package tool is the contract of things an agent can call, with what every
// tool needs: specifications, results, a registry and schema helpers.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"ragagent/store"
)

// Spec describes a tool.
type Spec struct {
	Name        string          // [a-zA-Z0-9_-], 1..64
	Description string          // for the model
	Parameters  json.RawMessage // JSON Schema of an object; nil means no parameters
	Direct      bool            // the result is the answer, the model is not asked again
	SideEffect  bool            // changes something outside: needs approval
	Idempotent  bool            // same arguments, same result: made once in a run
	Timeout     time.Duration   // 0 means the engine's default (30 s)
}

// Result is what a call gave.
type Result struct {
	// Text is shown to the model, before Passages.
	Text string
	// Passages are sources found by the call. The agent gives them their
	// citation ids (one numbering over a whole run) and shows them to the model.
	Passages []Passage
	// Parts are shown after Text, each as its kind needs it.
	Parts []Part
	// Note is shown after the passages.
	Note string
	// Data is the machine-readable form, for models that read structure. It is
	// shown to others where there is nothing else to show.
	Data json.RawMessage
	// Degraded names what was left out of the work, with the reason, in words
	// for the user.
	Degraded []string
}

// Passage is a piece of a document that may be cited.
type Passage struct {
	ChunkID       string
	DocumentID    string
	DocumentName  string
	KnowledgeBase string // its name
	Title         string
	Headings      []string
	PageStart     int // one-based, 0 for none
	PageEnd       int
	Span          store.Span // of Text in the document's normalised text
	Text          string
	// Context is what has to be known to read Text and stands elsewhere, such
	// as the header row of a table. It is shown, and never quoted.
	Context string
	// Found is what was found, where Text is the section around it; it lies in
	// Span. Zero: all of Text was found.
	Found store.Section
	Score float64 // 0..1
}

// Tool is called by an agent. Call may run concurrently with itself; args have
// been checked against Spec().Parameters. An error is shown to the model as
// the observation and never ends the run.
type Tool interface {
	Spec() Spec
	Call(ctx context.Context, args json.RawMessage) (Result, error)
}

// Conversational is implemented by tools that read the conversation, such as a
// retriever that completes a follow-up question from it. The agent asks once a
// run and calls the tool it gets instead, which has the same Spec; the receiver
// is not changed.
type Conversational interface {
	WithConversation(lines []Line) Tool
}

// Line is one line of a conversation, oldest first.
type Line struct {
	Role string // "user" or "assistant"
	Text string
}
