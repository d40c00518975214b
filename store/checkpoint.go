package store

import (
	"context"
	"encoding/json"
	"time"
)

// CheckpointStatus says what became of a run that has not ended.
type CheckpointStatus string

// The life of a checkpoint. It goes away when its run is stored.
const (
	// CheckpointRunning: a process works on the run.
	CheckpointRunning CheckpointStatus = "running"
	// CheckpointWaiting: the run waits for a person.
	CheckpointWaiting CheckpointStatus = "waiting"
	// CheckpointInterrupted: the process that worked on it is gone.
	CheckpointInterrupted CheckpointStatus = "interrupted"
)

// Checkpoint is a run between two rounds: all that another process needs to go
// on with it.
type Checkpoint struct {
	RunID          string
	ConversationID string // of the run; it may not be stored yet
	Agent          string
	Question       string
	Status         CheckpointStatus
	// State is the run's own, as versioned JSON.
	State json.RawMessage
	// Scope is what the caller wrote down to give the run its tools again.
	Scope     json.RawMessage
	Steps     []Thought // so far; positions 1..n
	StartedAt time.Time
	UpdatedAt time.Time
	ExpiresAt time.Time // it cannot be taken from then on
}

// Checkpoints keeps runs that have not ended. All methods may be called
// concurrently.
type Checkpoints interface {
	// SaveCheckpoint stores a round, in one transaction, in the place of the one
	// before. ErrInvalid for state that is not JSON and steps with gaps.
	SaveCheckpoint(ctx context.Context, c Checkpoint) error
	// Checkpoint returns one. ErrNotFound.
	Checkpoint(ctx context.Context, runID string) (Checkpoint, error)
	// TakeCheckpoint makes one that waits or was interrupted a running one and
	// returns it as it was: of several callers one gets it. ErrNotFound;
	// ErrConflict if it runs or has expired at now.
	TakeCheckpoint(ctx context.Context, runID string, now time.Time) (Checkpoint, error)
	// DeleteCheckpoint removes one; that it is not there is no error. Storing
	// the run does the same.
	DeleteCheckpoint(ctx context.Context, runID string) error
	// InterruptCheckpoints marks those that run as interrupted, for a process
	// that starts, removes those that expired before now, and returns how many
	// it has marked.
	InterruptCheckpoints(ctx context.Context, now time.Time) (int, error)
}
