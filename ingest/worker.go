package ingest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"ragagent/store"
)

// Causes with which a running job's context ends. The worker tells from them
// whether the job failed or was taken away.
var (
	errDeleted   = errors.New("the document was deleted")
	errCancelled = errors.New("the job was cancelled")
	errLost      = errors.New("the lease was lost")
	// A newer upload took the place of what the job was making.
	errSuperseded = errors.New("the job was superseded")
)

// poll is how long an idle worker sleeps when nobody wakes it: only work of
// which this process was not told, such as an expired lease, waits that long.
const poll = 5 * time.Second

// untilNext is poll, or less if something begins earlier.
func untilNext(wait time.Duration) time.Duration {
	if wait > 0 {
		return min(wait, poll)
	}
	return poll
}

// nudge wakes one idle worker.
func (s *Service) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// work takes jobs until ctx ends.
func (s *Service) work(ctx context.Context) {
	giveWay()
	for s.awaitRoom(ctx) {
		s.giveBackAll(ctx)
		except, wait := s.passedOver()
		job, err := s.cfg.Records.Lease(ctx, s.cfg.Now(), s.cfg.Lease, except...)
		switch {
		case err == nil:
			s.turns.taken(job.Turn)
			s.tries(job.KnowledgeBaseID)
			s.nudge() // there may be more than one
			s.attempt(ctx, job)
			s.tried(job.KnowledgeBaseID)
			continue
		case ctx.Err() != nil:
			return
		case store.IsFull(err):
			s.pauseJobs(err)
			continue
		case !errors.Is(err, store.ErrNotFound):
			s.cfg.Log.Error("no job could be taken", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-time.After(min(untilNext(wait), s.cfg.Wary)):
		}
	}
}

// attempt runs one leased job to an end: ready, failed, cancelled or given back.
func (s *Service) attempt(ctx context.Context, job store.Job) {
	s.watch.publish(job)
	if job.Attempts > s.cfg.MaxAttempts {
		s.fail(ctx, job, fmt.Errorf("gave up after %d attempts that got no further, each of which ended with the server: retry it, or remove the document", s.cfg.MaxAttempts))
		return
	}
	run, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	run, stop := context.WithTimeoutCause(run, s.cfg.JobTimeout,
		fmt.Errorf("not finished after %s: split the document", s.cfg.JobTimeout))
	defer stop()
	defer s.track(&running{job: job, cancel: cancel})()
	task := &task{Service: s, job: job}
	heart := make(chan struct{})
	go func() {
		defer close(heart)
		task.beat(run, cancel)
	}()
	err := task.guarded(run)
	cancel(err)
	<-heart
	s.conclude(ctx, job, err, context.Cause(run))
}

// track makes an attempt one that can be interrupted, until done is called.
func (s *Service) track(r *running) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[r] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, r)
	}
}

// follow takes a document out of the indexes that the truth does not show:
// cancelled or failed between being published and being finished, it was taken
// back. Whoever shows a document puts it into the indexes himself.
func (s *Service) follow(ctx context.Context, kbID, documentID string) {
	defer s.order.lock(documentID)()
	doc, err := s.cfg.Records.Document(ctx, kbID, documentID)
	gone := errors.Is(err, store.ErrNotFound)
	if err == nil && doc.Revision > 0 {
		return
	}
	var kb store.KnowledgeBase
	if err == nil || gone { // not being able to tell is no reason to take anything out
		kb, err = s.cfg.Records.KnowledgeBase(ctx, kbID)
	}
	if err == nil {
		err = s.replace(ctx, kb, documentID, noChunks)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		s.cfg.Log.Error("a withdrawn document may still be in the index", "document", documentID, "error", err)
	}
}

// conclude writes down how an attempt ended.
func (s *Service) conclude(ctx context.Context, job store.Job, err, cause error) {
	done := context.WithoutCancel(ctx)
	switch {
	case err == nil:
		s.resumeJobs(true)
		s.announce(done, job.ID)
	case errors.Is(cause, errDeleted), errors.Is(cause, errCancelled), errors.Is(cause, errSuperseded), errors.Is(cause, errLost):
		// Decided already, by somebody else.
		s.follow(done, job.KnowledgeBaseID, job.DocumentID)
		s.announce(done, job.ID)
	case ctx.Err() != nil:
		s.giveBack(done, job.ID)
		s.announce(done, job.ID)
	case store.IsFull(err):
		s.pauseJobs(err)
		s.giveBack(done, job.ID)
		s.announce(done, job.ID)
	case errors.Is(err, store.ErrUnavailable):
		s.unavailable(job.KnowledgeBaseID, err)
		s.giveBack(done, job.ID)
		s.announce(done, job.ID)
	default:
		if errors.Is(err, context.DeadlineExceeded) && cause != nil {
			err = cause
		}
		s.fail(done, job, err)
	}
}

// fail ends a job that is still running; of one that has been cancelled or
// deleted meanwhile, the truth has the last word.
func (s *Service) fail(ctx context.Context, job store.Job, err error) {
	ctx = context.WithoutCancel(ctx)
	defer s.order.lock("end " + job.ID)() // as in Cancel
	switch failed := s.cfg.Records.Fail(ctx, job.ID, err.Error()); {
	case failed == nil:
		s.cfg.Log.Warn("ingest failed", "job", job.ID, "document", job.DocumentID, "error", err)
	case !errors.Is(failed, store.ErrConflict) && !errors.Is(failed, store.ErrNotFound):
		s.cfg.Log.Error("failure not recorded", "job", job.ID, "cause", err, "error", failed)
	}
	s.follow(ctx, job.KnowledgeBaseID, job.DocumentID)
	s.announce(ctx, job.ID)
}

// announce tells watchers how a job stands in the truth.
func (s *Service) announce(ctx context.Context, id string) {
	job, err := s.cfg.Records.Job(ctx, id)
	if err != nil {
		s.watch.gone(id)
		return
	}
	s.watch.publish(job)
}

// interrupt ends the attempts that match, with a cause.
func (s *Service) interrupt(match func(store.Job) bool, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.running {
		if match(r.job) {
			r.cancel(cause)
		}
	}
}

// Cancel ends a queued or running job and its document. store.ErrNotFound;
// store.ErrConflict if it has ended.
func (s *Service) Cancel(ctx context.Context, id string) (store.Job, error) {
	defer s.order.lock("end " + id)() // until the index has followed: verify waits for it
	job, err := s.cfg.Records.CancelJob(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return s.cancelChange(ctx, id)
	}
	if err != nil {
		return job, err
	}
	// An attempt that began after this, because somebody has retried the job
	// at once, is another one.
	s.interrupt(func(j store.Job) bool { return j.ID == id && !j.StartedAt.After(job.StartedAt) }, errCancelled)
	s.follow(context.WithoutCancel(ctx), job.KnowledgeBaseID, job.DocumentID)
	s.watch.publish(job)
	return job, nil
}

// Retry queues a failed or cancelled job again. store.ErrNotFound;
// store.ErrConflict if it is in another state.
func (s *Service) Retry(ctx context.Context, id string) (store.Job, error) {
	job, err := s.cfg.Records.RetryJob(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return s.retryChange(ctx, id)
	}
	if err != nil {
		return job, err
	}
	s.watch.publish(job)
	s.nudge()
	s.nudgeFetch()
	return job, nil
}

// RetryFailed queues every failed job of a knowledge base again, of all of them
// for "", and returns how many. store.ErrNotFound.
func (s *Service) RetryFailed(ctx context.Context, kbIDOrName string) (int, error) {
	id := ""
	if kbIDOrName != "" {
		kb, err := s.cfg.Records.KnowledgeBase(ctx, kbIDOrName)
		if err != nil {
			return 0, err
		}
		id = kb.ID
	}
	n, err := s.cfg.Records.RetryFailed(ctx, id)
	if n > 0 {
		s.nudge()
		s.nudgeFetch()
	}
	return n, err
}

// guarded runs the task; a panic in it fails the job, not the server.
func (t *task) guarded(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.cfg.Log.Error("panic in a job", "job", t.job.ID, "panic", p, "stack", string(debug.Stack()))
			err = errors.New("internal error while reading this document; the log has the details")
		}
	}()
	// A knowledge base that is switched to another embedder meanwhile loses what
	// this attempt has made with the old one: it begins again with the new one.
	for again := 0; ; again++ {
		err := t.run(ctx)
		switched := errors.Is(err, store.ErrOtherEmbedder) || isGap(err) // or switched and back
		if !switched || ctx.Err() != nil || again == maxAgain {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(firstAgain << again):
		}
	}
}

// Bounds of beginning again after a switch. Where nobody has switched, the
// records and the index do not agree: then the job fails, after three seconds.
const (
	maxAgain   = 9
	firstAgain = 5 * time.Millisecond
)

// isGap says that chunks which an attempt has stored are not there any more.
func isGap(err error) bool {
	var field *store.FieldError
	return errors.As(err, &field) && field.Field == "ordinal"
}
