// Package queue measures retrieval in the background: evaluations that are
// asked for wait in the records, and one after the other is done, question by
// question, each only when nobody else is being answered.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ragagent/retrieval/eval"
	"ragagent/store"
)

// Records is where evaluations are kept, and where documents are looked up.
type Records interface {
	store.Evaluations
	Documents(ctx context.Context, kb string, page store.Page) ([]store.Document, error)
}

// Defaults of a Config.
const (
	DefaultPatience = 250 * time.Millisecond
	DefaultTimeout  = 6 * time.Hour
)

const (
	maxWaiting      = 100 // evaluations that have not ended
	maxAttempts     = 5   // that ended with the process
	questionTimeout = time.Minute
)

// Config wires a Queue.
type Config struct {
	Records Records  // required
	Traffic *Traffic // required: the retriever, and who else asks it
	// Patience is how long a question waits for the others to be answered
	// before it is asked all the same; 0 means DefaultPatience.
	Patience time.Duration
	// Timeout ends an evaluation; 0 means DefaultTimeout.
	Timeout time.Duration
	Log     *slog.Logger     // nil: discarded
	Now     func() time.Time // nil means time.Now
}

// Queue does evaluations, one at a time. Its methods may be called
// concurrently.
type Queue struct {
	cfg  Config
	wake chan struct{} // of one element: there may be something to do

	mu      sync.Mutex
	running *running // nil while nothing is
	stop    context.CancelFunc
	ended   chan struct{} // closed when the worker is gone; nil before Start
}

// running is the evaluation that is being done.
type running struct {
	id     string
	cancel context.CancelCauseFunc
	done   int
	since  time.Time
}

// Why an evaluation ends before its time.
var (
	errCancelled = errors.New("cancelled")
	errTimeout   = errors.New("it took longer than is allowed")
)

// New checks cfg. Nothing is done before Start.
func New(cfg Config) (*Queue, error) {
	if cfg.Records == nil || cfg.Traffic == nil {
		return nil, errors.New("queue: Config.Records and Traffic are required")
	}
	if cfg.Patience <= 0 {
		cfg.Patience = DefaultPatience
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Queue{cfg: cfg, wake: make(chan struct{}, 1)}, nil
}

// Submit checks what is asked for and stores it: when it returns, the
// evaluation will be done, whatever becomes of this process. Errors are
// store.ErrInvalid, and store.ErrInUse while too many are waiting.
func (q *Queue) Submit(ctx context.Context, req eval.Request) (store.Evaluation, error) {
	if err := req.Check(); err != nil {
		return store.Evaluation{}, err
	}
	waiting, err := q.cfg.Records.UnfinishedEvaluations(ctx)
	if err != nil {
		return store.Evaluation{}, err
	}
	if len(waiting) >= maxWaiting {
		return store.Evaluation{}, fmt.Errorf("%w: %d evaluations are waiting already", store.ErrInUse, len(waiting))
	}
	raw, err := json.Marshal(req)
	if err != nil {
		return store.Evaluation{}, fmt.Errorf("store the request: %w", err)
	}
	now := q.cfg.Now()
	e := store.Evaluation{
		ID: store.NewID("eval"), Name: req.Name, KnowledgeBases: req.KnowledgeBases,
		Status: store.StatusQueued, Total: len(req.Questions), CreatedAt: now, UpdatedAt: now,
	}
	if err := q.cfg.Records.AddEvaluation(ctx, e, raw); err != nil {
		return store.Evaluation{}, err
	}
	q.look()
	return e, nil
}

// look lets the worker see whether there is something to do.
func (q *Queue) look() {
	select {
	case q.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Cancel ends an evaluation that has not ended; one that has stays as it is.
// ErrNotFound.
func (q *Queue) Cancel(ctx context.Context, id string) (store.Evaluation, error) {
	e, err := q.cfg.Records.UpdateEvaluation(ctx, id, func(e *store.Evaluation) error {
		if !e.Status.Ended() {
			e.Status, e.UpdatedAt = store.StatusCancelled, q.cfg.Now()
		}
		return nil
	}, nil)
	if err != nil {
		return e, err
	}
	q.interrupt(id)
	return e, nil
}

// Delete removes an evaluation, cancelled if it was running. ErrNotFound.
func (q *Queue) Delete(ctx context.Context, id string) error {
	if err := q.cfg.Records.DeleteEvaluation(ctx, id); err != nil {
		return err
	}
	q.interrupt(id)
	return nil
}

func (q *Queue) interrupt(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running != nil && q.running.id == id {
		q.running.cancel(errCancelled)
	}
}

// Live returns an evaluation that was read from the records with its progress
// of this moment, and when this attempt will be done at its present pace: zero
// where that is not known.
func (q *Queue) Live(e store.Evaluation) (store.Evaluation, time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.running
	if r == nil || r.id != e.ID || e.Status.Ended() {
		return e, time.Time{}
	}
	e.Status, e.Done = store.StatusRunning, r.done
	if r.done == 0 {
		return e, time.Time{}
	}
	now := q.cfg.Now()
	pace := now.Sub(r.since) / time.Duration(r.done)
	return e, now.Add(pace * time.Duration(max(e.Total-r.done, 0)))
}

// Start takes up what is waiting, also what the end of another process cut off.
func (q *Queue) Start() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	q.stop, q.ended = stop, make(chan struct{})
	go q.work(ctx, q.ended)
	q.look()
}

// Close ends the worker. What it was doing is begun anew by the next Start.
func (q *Queue) Close() error {
	q.mu.Lock()
	stop, ended := q.stop, q.ended
	q.mu.Unlock()
	if ended != nil {
		stop()
		<-ended
	}
	return nil
}
