package api

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/store"
)

type jobAnswer struct {
	ID              string       `json:"id"`
	Kind            string       `json:"kind"`
	KnowledgeBaseID string       `json:"knowledge_base_id"`
	DocumentID      string       `json:"document_id"`
	Status          store.Status `json:"status"`
	Stage           store.Stage  `json:"stage"`
	Done            int          `json:"done"`
	Total           int          `json:"total"`
	// ETAMS is null while nobody can tell.
	ETAMS *int64 `json:"eta_ms"`
	Error string `json:"error,omitempty"`
	// Waiting is why a job that has not ended does not go on at present.
	Waiting   string     `json:"waiting,omitempty"`
	Attempts  int        `json:"attempts"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	StartedAt *time.Time `json:"started_at"`
}

func (s *Server) jobOf(j store.Job) jobAnswer {
	j = s.cfg.Ingest.Live(j)
	out := jobAnswer{
		ID:              j.ID,
		Kind:            j.Kind,
		KnowledgeBaseID: j.KnowledgeBaseID,
		DocumentID:      j.DocumentID,
		Status:          j.Status,
		Stage:           j.Stage,
		Done:            j.Done,
		Total:           j.Total,
		ETAMS:           eta(j, s.cfg.Now()),
		Error:           j.Error,
		Waiting:         s.cfg.Ingest.Waiting(j),
		Attempts:        j.Attempts,
		CreatedAt:       j.CreatedAt.UTC(),
		UpdatedAt:       j.UpdatedAt.UTC(),
	}
	if !j.StartedAt.IsZero() {
		started := j.StartedAt.UTC()
		out.StartedAt = &started
	}
	return out
}

// eta extends the pace of the present stage to its rest, in milliseconds: 0 for
// an ended job, nil where there is no pace yet. What an earlier attempt has done
// of the stage is not counted as this one's pace.
func eta(j store.Job, now time.Time) *int64 {
	var ms int64
	if j.Status.Ended() {
		return &ms
	}
	if j.Status == store.StatusRunning && j.Ends.After(now) {
		ms = j.Ends.Sub(now).Milliseconds()
		return &ms
	}
	elapsed, done := now.Sub(j.Since), j.Done-j.From
	if j.Status != store.StatusRunning || j.Since.IsZero() || elapsed <= 0 || done <= 0 || j.Total < j.Done {
		return nil
	}
	ms = int64(float64(elapsed.Milliseconds()) * float64(j.Total-j.Done) / float64(done))
	return &ms
}

func (s *Server) listJobs(c echo.Context) error {
	page, err := pageOf(c.QueryParams(), "job")
	if err != nil {
		return err
	}
	status := store.Status(c.QueryParam("status"))
	switch status {
	case "", store.StatusQueued, store.StatusRunning, store.StatusReady, store.StatusFailed, store.StatusCancelled:
	default:
		return invalidField("status", "must be queued, running, ready, failed or cancelled")
	}
	filter := store.JobFilter{Status: status, Document: c.QueryParam("document")}
	if name := c.QueryParam("knowledge_base"); name != "" {
		kb, err := s.cfg.Records.KnowledgeBase(c.Request().Context(), name)
		if err != nil {
			return missing(err, "knowledge base", name)
		}
		filter.KnowledgeBase = kb.ID
	}
	rows, err := s.cfg.Records.Jobs(c.Request().Context(), filter, probe(page))
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, listOf(rows, page, func(j store.Job) string { return j.ID }, s.jobOf))
}

func (s *Server) getJob(c echo.Context) error {
	id := param(c, "id")
	job, err := s.cfg.Records.Job(c.Request().Context(), id)
	if err != nil {
		return missing(err, "job", id)
	}
	return reply(c, http.StatusOK, s.jobOf(job))
}

func (s *Server) cancelJob(c echo.Context) error { return s.changeJob(c, s.cfg.Ingest.Cancel) }

func (s *Server) retryJob(c echo.Context) error { return s.changeJob(c, s.cfg.Ingest.Retry) }

// retryFailed queues every failed job again, or those of one knowledge base.
func (s *Server) retryFailed(c echo.Context) error {
	var in struct {
		KnowledgeBase string `json:"knowledge_base"`
	}
	var body []byte
	if c.Request().ContentLength != 0 {
		var err error
		if body, err = decodeJSON(c.Request(), s.cfg.MaxJSONBytes, &in); err != nil {
			return err
		}
	}
	return s.once(c, fingerprintOf(body), func() (int, any, error) {
		n, err := s.cfg.Ingest.RetryFailed(c.Request().Context(), in.KnowledgeBase)
		if err != nil {
			return 0, nil, missing(err, "knowledge base", in.KnowledgeBase)
		}
		return http.StatusOK, map[string]int{"retried": n}, nil
	})
}

// documentsOf answers documents with the latest job of each.
func (s *Server) documentsOf(ctx context.Context, docs []store.Document) (answer func(store.Document) documentAnswer, err error) {
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	jobs, err := s.cfg.Records.LatestJobs(ctx, ids)
	if err != nil {
		return nil, err
	}
	addresses, err := s.cfg.Records.DocumentAddresses(ctx, ids)
	if err != nil {
		return nil, err
	}
	return func(d store.Document) documentAnswer {
		out := documentOf(d)
		if a, ok := addresses[d.ID]; ok {
			out.Address = addressOf(a)
		}
		if job, ok := jobs[d.ID]; ok {
			out.JobID = job.ID
			if !job.Status.Ended() {
				at := s.jobOf(job)
				out.Job = &documentJob{Status: at.Status, Stage: at.Stage, Done: at.Done, Total: at.Total, ETAMS: at.ETAMS, Waiting: at.Waiting}
			}
		}
		return out
	}, nil
}

// documentJob is how far the job is that a document waits for.
type documentJob struct {
	Status  store.Status `json:"status"`
	Stage   store.Stage  `json:"stage"`
	Done    int          `json:"done"`
	Total   int          `json:"total"`
	ETAMS   *int64       `json:"eta_ms"`
	Waiting string       `json:"waiting,omitempty"`
}

func (s *Server) changeJob(c echo.Context, change func(context.Context, string) (store.Job, error)) error {
	id := param(c, "id")
	return s.once(c, fingerprintOf(nil), func() (int, any, error) {
		job, err := change(c.Request().Context(), id)
		if err != nil {
			return 0, nil, missing(err, "job", id)
		}
		return http.StatusOK, s.jobOf(job), nil
	})
}

// watchJob streams a job's state, now and at every change, until it has ended
// or the server stops. A client that comes back starts with the present state:
// nothing is missed that still holds.
func (s *Server) watchJob(c echo.Context) error {
	id := param(c, "id")
	ctx, cancel := context.WithCancel(c.Request().Context())
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	if _, err := s.cfg.Records.Job(ctx, id); err != nil {
		return missing(err, "job", id)
	}
	stream := newEventStream(c.Response(), time.Tick(heartbeat))
	if c.Request().Method == http.MethodHead {
		stream.open()
		return nil
	}
	err := pump(ctx, stream,
		func(ctx context.Context) iter.Seq2[store.Job, error] { return s.cfg.Ingest.Watch(ctx, id) },
		func(j store.Job) error { return stream.send("job", s.jobOf(j)) })
	if ctx.Err() != nil {
		return nil // the client went, or the server goes: it will ask again
	}
	return stream.end(missing(err, "job", id))
}
