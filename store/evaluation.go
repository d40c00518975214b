package store

import (
	"context"
	"encoding/json"
	"time"
)

// Evaluation is one measurement of retrieval: questions whose relevant
// documents are known are asked, and what comes back is measured.
type Evaluation struct {
	ID             string // "eval_..."
	Name           string // 0..MaxName bytes
	KnowledgeBases []string
	Status         Status
	Error          string // why it failed, and what to do
	Done, Total    int    // questions
	// Attempts counts how often it was begun: the end of a server cuts it off,
	// and the next one begins it anew.
	Attempts int
	// Figures are what was measured, as a JSON object; nil before it is ready.
	Figures json.RawMessage
	// Warnings are what makes the figures lower than they should be.
	Warnings  []string
	CreatedAt time.Time
	StartedAt time.Time // of the last attempt; zero before the first
	UpdatedAt time.Time
}

// EvaluationPart names something large that belongs to an evaluation.
type EvaluationPart string

// The parts of an evaluation.
const (
	EvaluationRequest EvaluationPart = "request" // what was asked for, as JSON
	EvaluationQueries EvaluationPart = "queries" // the figures of every query, as JSON lines
	EvaluationReport  EvaluationPart = "report"  // for people, as HTML
)

// MaxEvaluations bounds how many are kept: each may bring megabytes.
const MaxEvaluations = 1000

// Evaluations keeps evaluations. All methods may be called concurrently.
type Evaluations interface {
	// AddEvaluation stores one with its EvaluationRequest. ErrConflict if its id
	// is there already, ErrTooLarge if MaxEvaluations are.
	AddEvaluation(ctx context.Context, e Evaluation, request []byte) error
	// Evaluation returns one. ErrNotFound.
	Evaluation(ctx context.Context, id string) (Evaluation, error)
	// Evaluations lists them.
	Evaluations(ctx context.Context, page Page) ([]Evaluation, error)
	// UnfinishedEvaluations are those that have not ended, by id.
	UnfinishedEvaluations(ctx context.Context) ([]Evaluation, error)
	// EvaluationPart returns a part. ErrNotFound, also while there is none.
	EvaluationPart(ctx context.Context, id string, part EvaluationPart) ([]byte, error)
	// UpdateEvaluation reads one, lets edit change it, and stores what it says
	// after that, but for its id, name, knowledge bases, total and creation, and
	// puts parts beside it, in one transaction. An error of edit is returned as
	// it is and changes nothing. ErrNotFound.
	UpdateEvaluation(ctx context.Context, id string, edit func(*Evaluation) error, parts map[EvaluationPart][]byte) (Evaluation, error)
	// DeleteEvaluation removes one with its parts. ErrNotFound.
	DeleteEvaluation(ctx context.Context, id string) error
}
