package store

import (
	"context"
	"encoding/json"
	"time"
)

// Run is the record of one agent run.
type Run struct {
	ID             string // "run_..."
	ConversationID string
	Agent          string
	Question       string
	Answer         string
	FinishedReason string
	Error          string
	// Trace is the tree of the run as JSON: nodes with label, data, status,
	// parent and times.
	Trace     json.RawMessage
	Steps     []Thought
	StartedAt time.Time
	EndedAt   time.Time
}

// Thought is one step of a run: positions are 1..n, unique and without gaps.
type Thought struct {
	Position    int
	Thought     string
	Tool        string // "" for a step without a call
	ToolInput   string // arguments as JSON
	Observation string
	Error       string
	ElapsedMS   int64
}

// Runs reads runs; Conversations writes them.
type Runs interface {
	// Run returns one with its steps by position. ErrNotFound.
	Run(ctx context.Context, id string) (Run, error)
}
