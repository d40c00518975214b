package store

import (
	"context"
	"time"
)

// Job is a piece of durable background work.
type Job struct {
	ID              string // "job_..."
	Kind            string // JobIngest
	KnowledgeBaseID string
	DocumentID      string
	Revision        int // of the document that the job makes, from 1
	// Turn orders the jobs that wait: the lowest is taken up first. It is given
	// with the job and stays.
	Turn   int64
	Status Status
	Progress
	Error string // why it failed, and what to do
	// Attempts is how often it was leased since it last got further: since chunks
	// of it were stored, or its revision was published.
	Attempts  int
	CreatedAt time.Time
	UpdatedAt time.Time
	StartedAt time.Time // of the latest attempt; zero if never
	// LeaseUntil is when a running job may be taken by another worker, and one that
	// waits because it was cut off again and again (RequeueAll) by any.
	LeaseUntil time.Time
}

// JobIngest brings a document from its original to visible chunks.
const JobIngest = "ingest"

// Stage is what a running job is doing.
type Stage string

// The stages of an ingest job, in order.
const (
	StageParse Stage = "parse"
	StageChunk Stage = "chunk"
	StageEmbed Stage = "embed"
	StageIndex Stage = "index"
)

// Progress counts the work of the current stage.
type Progress struct {
	Stage Stage
	Done  int // units finished, 0..Total
	Total int // 0 while it is unknown
	// Since is when this process began with the stage, and From what Done was
	// then: what an honest pace is measured from. They are not stored.
	Since time.Time
	// Ends is when the whole job is expected to be done, zero while nobody can
	// tell; not stored either. Where it is given, Since and From are not.
	Ends time.Time
	From int
}

// Suspects says how long jobs wait that may be what ended the server: others
// come before them, and they come one after the other, so that the one is told
// from those that happened to run beside it.
type Suspects struct {
	Attempts int           // how many a suspect has had
	From     time.Time     // when the first of them is taken up, that of the fewest attempts
	Apart    time.Duration // from then on; the last do not wait longer than for maxApart others
}

// maxApart is how many suspects are taken up one by one.
const maxApart = 60

// Turn is when the nth suspect is taken up, from 0.
func (s Suspects) Turn(n int) time.Time {
	return s.From.Add(time.Duration(min(n, maxApart)) * s.Apart)
}

// JobFilter chooses jobs. What is "" chooses nothing.
type JobFilter struct {
	Status        Status
	KnowledgeBase string // id
	Document      string // id
}

// Jobs is the durable queue. All methods may be called concurrently; one job
// is never leased to two workers at once.
type Jobs interface {
	// Lease takes the job of the lowest turn, of several the oldest, that is
	// queued, or running with an expired lease, marks it and its document running
	// and counts the attempt. Those of the knowledge bases except, given by their ids, are passed over.
	// ErrNotFound if there is none.
	Lease(ctx context.Context, now time.Time, lease time.Duration, except ...string) (Job, error)
	// Heartbeat extends the lease and records progress. ErrConflict if the job
	// is no longer running (cancelled, or its document deleted).
	Heartbeat(ctx context.Context, id string, until time.Time, progress Progress) error
	// Requeue gives a running job back, for example on shutdown; the attempt
	// is not counted. Unknown or ended jobs are left alone.
	Requeue(ctx context.Context, id string) error
	// RequeueAll gives every running job back: called once at start, when the
	// process that held the leases is known to be gone. It returns how many.
	// Their attempts stay counted: it may be one of them that ended it. Those
	// with many attempts wait, and so do those that an earlier call has let wait
	// and that were not leased since.
	RequeueAll(ctx context.Context, suspects Suspects) (int, error)
	// Finish ends a running job and its document as ready, and removes what is
	// left of the revision before. ErrConflict if the
	// job is no longer running or nothing was published, ErrNotFound if it is
	// gone.
	Finish(ctx context.Context, id string) error
	// Fail ends a running or queued job and its document with a reason, and
	// removes the chunks of the revision it was making, unless that was
	// published: then it stays visible, and what is left of the revision before
	// stays until the job is retried and finished. Else a revision that was
	// visible before stays so. ErrNotFound; ErrConflict if it has ended.
	Fail(ctx context.Context, id, reason string) error
	// CancelJob ends a queued or running job and its document as cancelled, and
	// removes its chunks, also those of a first revision that was published.
	// ErrNotFound; ErrConflict if it has ended, or its revision has taken the
	// place of an older one.
	CancelJob(ctx context.Context, id string) (Job, error)
	// RetryJob queues a failed or cancelled job and its document again; its
	// attempts are counted from 0. ErrNotFound; ErrConflict if it is in another
	// state, or a newer upload took its place.
	RetryJob(ctx context.Context, id string) (Job, error)
	// RetryFailed does that to every failed job of a knowledge base, "" for all
	// of them, but those that a later job of their document has made pointless.
	// It returns how many, also with an error.
	RetryFailed(ctx context.Context, kb string) (int, error)
	// Job returns one. ErrNotFound.
	Job(ctx context.Context, id string) (Job, error)
	// Jobs lists those that a filter lets through, newest last.
	Jobs(ctx context.Context, filter JobFilter, page Page) ([]Job, error)
	// LatestJobs returns the newest job of each of these documents, by the
	// document's id.
	LatestJobs(ctx context.Context, documents []string) (map[string]Job, error)
	// NextTurn returns the lowest turn of a queued job; if there is none, the
	// highest of all jobs, 0 without any.
	NextTurn(ctx context.Context) (int64, error)
	// CountJobs counts by status.
	CountJobs(ctx context.Context) (map[Status]int, error)
}
