package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ragagent/retrieval/eval"
	"ragagent/store"
)

// outage is how long the worker waits when the records cannot be read or
// written.
const outage = 5 * time.Second

// work does what is waiting, oldest first, until ctx ends.
func (q *Queue) work(ctx context.Context, ended chan<- struct{}) {
	defer close(ended)
	for {
		waiting, err := q.cfg.Records.UnfinishedEvaluations(ctx)
		if err == nil && len(waiting) > 0 {
			if err = q.do(ctx, waiting[0].ID); err == nil {
				continue
			}
		}
		var retry <-chan time.Time
		if err != nil && ctx.Err() == nil {
			q.cfg.Log.Warn("evaluations wait for the records", "error", err)
			retry = time.After(outage)
		}
		select {
		case <-ctx.Done():
			return
		case <-q.wake:
		case <-retry:
		}
	}
}

// do measures one evaluation and stores what came of it. The error is about the
// records, or that ctx has ended.
func (q *Queue) do(ctx context.Context, id string) error {
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	own, expire := context.WithTimeoutCause(own, q.cfg.Timeout, errTimeout)
	defer expire()
	q.enter(&running{id: id, cancel: cancel, since: q.cfg.Now()})
	defer q.enter(nil)

	e, err := q.begin(ctx, id)
	if err != nil || e.Status.Ended() {
		return gone(err)
	}
	out, failed := q.measure(own, e)
	if err := ctx.Err(); err != nil {
		return errors.Join(err, gone(q.giveBack(id)))
	}
	if cause := context.Cause(own); cause != nil {
		failed = cause
	}
	return gone(q.finish(ctx, id, out, failed))
}

// gone takes an evaluation that was deleted meanwhile for done.
func gone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func (q *Queue) enter(r *running) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = r
}

// begin writes down that an attempt is made. One that ended the server again
// and again is not made any more.
func (q *Queue) begin(ctx context.Context, id string) (store.Evaluation, error) {
	return q.cfg.Records.UpdateEvaluation(ctx, id, func(e *store.Evaluation) error {
		if e.Status.Ended() {
			return nil
		}
		now := q.cfg.Now()
		e.Status, e.StartedAt, e.UpdatedAt, e.Done = store.StatusRunning, now, now, 0
		if e.Attempts++; e.Attempts > maxAttempts {
			e.Status, e.Error = store.StatusFailed, fmt.Sprintf("the server ended %d times while it was measured: submit it again", maxAttempts)
		}
		return nil
	}, nil)
}

// giveBack makes an attempt that was ended in good order none.
func (q *Queue) giveBack(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), outage)
	defer cancel()
	_, err := q.cfg.Records.UpdateEvaluation(ctx, id, func(e *store.Evaluation) error {
		if e.Status == store.StatusRunning {
			e.Status, e.Done = store.StatusQueued, 0
			e.Attempts--
		}
		return nil
	}, nil)
	return err
}

// outcome is what is stored of an evaluation.
type outcome struct {
	figures  json.RawMessage
	warnings []string
	parts    map[store.EvaluationPart][]byte
}

// finish stores an outcome, or why there is none, unless the records know better:
// it was cancelled.
func (q *Queue) finish(ctx context.Context, id string, out outcome, failed error) error {
	_, err := q.cfg.Records.UpdateEvaluation(ctx, id, func(e *store.Evaluation) error {
		if e.Status.Ended() {
			return errCancelled
		}
		e.UpdatedAt = q.cfg.Now()
		if failed == nil {
			e.Status, e.Done, e.Figures, e.Warnings = store.StatusReady, e.Total, out.figures, out.warnings
		} else {
			e.Status, e.Error = store.StatusFailed, failed.Error()
		}
		return nil
	}, out.parts)
	if errors.Is(err, errCancelled) {
		return nil
	}
	return err
}

// measure asks the questions.
func (q *Queue) measure(ctx context.Context, e store.Evaluation) (outcome, error) {
	raw, err := q.cfg.Records.EvaluationPart(ctx, e.ID, store.EvaluationRequest)
	if err != nil {
		return outcome{}, err
	}
	var req eval.Request
	if err := json.Unmarshal(raw, &req); err != nil {
		return outcome{}, fmt.Errorf("read the request: %w", err)
	}
	out := outcome{}
	if out.warnings, err = q.absent(ctx, &req); err != nil {
		return outcome{}, err
	}
	runner, err := eval.NewRunner(eval.Config{
		Retriever:      q.cfg.Traffic.inner,
		Wait:           func(ctx context.Context) error { return q.cfg.Traffic.Wait(ctx, q.cfg.Patience) },
		KnowledgeBases: req.KnowledgeBases,
		Mode:           req.Mode,
		NoRewrite:      req.NoRewrite,
		NoRerank:       req.NoRerank,
		Rewrite:        req.Rewrite,
		Rerank:         req.Rerank,
		MMRLambda:      req.MMRLambda,
		Depth:          req.Depth,
		Measures:       req.Measures,
		Locate:         req.Locate(),
		Workers:        1,
		Timeout:        questionTimeout,
		Progress:       q.progress,
		Now:            q.cfg.Now,
	})
	if err != nil {
		return outcome{}, err
	}
	result, err := runner.Run(ctx, req.Dataset())
	if err != nil {
		return outcome{}, err
	}
	result.Names = req.Names
	return out, out.fill(result, eval.Report{Made: q.cfg.Now(), Title: req.Name, Setting: setting(&req), Result: result})
}

func (q *Queue) progress(done, _ int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running != nil {
		q.running.done = done
	}
}

func setting(req *eval.Request) string {
	mode := req.Mode
	if mode == "" {
		mode = "hybrid"
	}
	return fmt.Sprintf("mode %s, top %d", mode, req.Depth)
}

// fill renders a result.
func (out *outcome) fill(result *eval.Result, report eval.Report) (err error) {
	if out.figures, err = json.Marshal(result.Summary()); err != nil {
		return err
	}
	var queries, html bytes.Buffer
	if err := errors.Join(result.WriteQueries(&queries), report.WriteHTML(&html)); err != nil {
		return err
	}
	out.parts = map[store.EvaluationPart][]byte{
		store.EvaluationQueries: queries.Bytes(),
		store.EvaluationReport:  html.Bytes(),
	}
	return nil
}

// absent warns of what is judged relevant and is in none of the knowledge bases.
func (q *Queue) absent(ctx context.Context, req *eval.Request) ([]string, error) {
	absent := req.Absent()
	for _, kb := range req.KnowledgeBases {
		for page := (store.Page{Limit: store.MaxPage}); ; {
			docs, err := q.cfg.Records.Documents(ctx, kb, page)
			if err != nil {
				return nil, err
			}
			for _, doc := range docs {
				absent.Tell(doc)
			}
			if len(docs) < page.Limit {
				break
			}
			page.After = docs[len(docs)-1].ID
		}
	}
	ids := absent.IDs()
	if len(ids) == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("%d judged documents are in none of the knowledge bases and count as not found, for example %q", len(ids), ids[0])}, nil
}
