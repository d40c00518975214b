package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"ragagent/ingest/fetch"
	"ragagent/store"
)

// Servers elsewhere may be slow, so that fetching has goroutines of its own:
// workers never wait for them.
const (
	fetchers     = 3
	crawlers     = 2
	fetchPoll    = 2 * time.Second
	maxFetches   = 6 // attempts at a URL that fails in a way that may pass
	firstBackOff = 5 * time.Second
	maxBackOff   = 10 * time.Minute
	maxCrawlTime = 24 * time.Hour // of one attempt
)

// nudgeFetch wakes one idle goroutine of each kind.
func (s *Service) nudgeFetch() {
	for _, wake := range []chan struct{}{s.fetches, s.crawls} {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

func (s *Service) startFetching(ctx context.Context) {
	if s.cfg.Fetcher == nil {
		return
	}
	for range fetchers {
		s.workers.Go(func() {
			s.fetchUntil(ctx, s.fetches, func() bool { return s.fetchOne(ctx, store.JobFetch) || s.refreshOne(ctx) })
		})
	}
	for range crawlers {
		s.workers.Go(func() {
			s.fetchUntil(ctx, s.crawls, func() bool { return s.fetchOne(ctx, store.JobCrawl) })
		})
	}
}

// fetchUntil does what there is to do until ctx ends.
func (s *Service) fetchUntil(ctx context.Context, wake <-chan struct{}, one func() bool) {
	for s.awaitRoom(ctx) {
		if one() {
			continue
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(fetchPoll):
		}
	}
}

// fetchOne runs one job that has to fetch, if there is one.
func (s *Service) fetchOne(ctx context.Context, kind string) bool {
	job, err := s.cfg.Records.LeaseFetch(ctx, kind, s.cfg.Now(), s.cfg.Lease)
	if err != nil {
		s.logFetch(ctx, "no fetch could be taken", err)
		return false
	}
	s.nudgeFetch() // there may be more than one
	s.watch.publish(job)
	limit := s.cfg.JobTimeout
	if kind == store.JobCrawl {
		limit = maxCrawlTime
	}
	run, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	run, stop := context.WithTimeoutCause(run, limit, fmt.Errorf("not fetched after %s", limit))
	defer stop()
	defer s.track(&running{job: job, cancel: cancel})()
	t := &task{Service: s, job: job}
	heart := make(chan struct{})
	go func() {
		defer close(heart)
		t.beat(run, cancel)
	}()
	if kind == store.JobCrawl {
		err = t.crawl(run)
	} else {
		err = t.fetch(run)
	}
	cancel(err)
	<-heart
	s.endFetch(ctx, job, err, context.Cause(run))
	return true
}

// logFetch says what went wrong, unless nothing did.
func (s *Service) logFetch(ctx context.Context, what string, err error) {
	if !errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
		s.cfg.Log.Error(what, "error", err)
	}
}

// endFetch puts a fetch off that may succeed later; every other end is that of
// any job.
func (s *Service) endFetch(ctx context.Context, job store.Job, err, cause error) {
	var web *webError
	taken := errors.Is(cause, errDeleted) || errors.Is(cause, errCancelled) || errors.Is(cause, errLost) || ctx.Err() != nil
	if taken || !errors.As(err, &web) || !fetch.Temporary(web.cause) {
		s.conclude(ctx, job, err, cause)
		return
	}
	if job.Attempts >= maxFetches {
		s.fail(ctx, job, fmt.Errorf("given up after %d attempts: %w", job.Attempts, err))
		return
	}
	ctx = context.WithoutCancel(ctx)
	until := s.cfg.Now().Add(s.backOff(job.Attempts, web.cause))
	reason := fmt.Sprintf("%v; next try at %s", err, until.UTC().Format(time.RFC3339))
	if err := s.cfg.Records.PostponeFetch(ctx, job.ID, until, reason); err != nil && !errors.Is(err, store.ErrConflict) {
		s.logFetch(ctx, "fetch not put off", err)
	}
	s.announce(ctx, job.ID)
}

// backOff is the pause after a number of failures in a row: doubled each time,
// half of it at random, and not shorter than the server asks for.
func (s *Service) backOff(failures int, err error) time.Duration {
	pause := min(firstBackOff<<min(max(failures-1, 0), 20), maxBackOff)
	pause = pause/2 + time.Duration(s.cfg.Jitter()*float64(pause/2))
	var status *fetch.StatusError
	if errors.As(err, &status) {
		pause = max(pause, status.RetryAfter)
	}
	return pause
}

// webError is what went wrong elsewhere, as opposed to here.
type webError struct{ cause error }

func (e *webError) Error() string { return e.cause.Error() }
func (e *webError) Unwrap() error { return e.cause }

// fetch gets the content of the job's document and gives the job to the workers.
func (t *task) fetch(ctx context.Context) error {
	t.report(store.Progress{Stage: store.StageFetch})
	doc, err := t.cfg.Records.Document(ctx, t.job.KnowledgeBaseID, t.job.DocumentID)
	if err != nil {
		return err
	}
	order, err := t.orderOf(ctx, doc)
	if err != nil {
		return err
	}
	resp, err := t.cfg.Fetcher.Fetch(ctx, fetch.Request{URL: order.URL})
	if err != nil {
		return &webError{err}
	}
	defer resp.Body.Close()
	body := &download{from: resp.Body, each: func(done int64) {
		t.report(store.Progress{Stage: store.StageFetch, Done: int(done), Total: int(max(resp.Size, 0))})
	}}
	content, err := t.sniff(ctx, body)
	defer content.close()
	content.tag(resp)
	var staged store.Staged
	if err == nil && content.archive {
		return t.fetchArchive(ctx, doc, order, resp, content)
	}
	if err == nil {
		staged, err = t.cfg.Blobs.Stage(ctx, content, t.cfg.MaxFileBytes)
	}
	if body.err != nil {
		return &webError{fmt.Errorf("fetch %s: %w", order.URL, body.err)}
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", order.URL, err)
	}
	defer func() { _ = staged.Discard() }() // nothing to do once committed
	name, err := cleanName(resp.Name)
	if err != nil {
		name = doc.Name
	}
	return t.putFetched(ctx, doc, staged, store.Fetched{
		Name: name, MIME: resp.ContentType, Bytes: staged.Size(), SHA256: staged.SHA256(),
		Address: t.fetchedNow(store.Address{KnowledgeBaseID: doc.KnowledgeBaseID, URL: order.URL, Refresh: order.Refresh}, resp),
	})
}

// putFetched commits a content and what refers to it.
func (t *task) putFetched(ctx context.Context, was store.Document, staged store.Staged, f store.Fetched) error {
	record := func() (bool, error) {
		defer t.blobs.lock(f.SHA256)()
		if err := staged.Commit(); err != nil {
			return false, fmt.Errorf("store %s: %w", f.Address.URL, err)
		}
		duplicate, err := t.cfg.Records.PutFetched(ctx, t.job.ID, f)
		if err != nil {
			t.discardBlob(context.WithoutCancel(ctx), f.SHA256)
		}
		return duplicate, err
	}
	duplicate, err := record()
	if err != nil {
		return err
	}
	if was.SHA256 != f.SHA256 {
		t.dropBlob(context.WithoutCancel(ctx), was.SHA256)
	}
	if !duplicate {
		t.nudge()
		return nil
	}
	// The job is that of the document which has the content, one more source and
	// what was given with the URL.
	ctx = context.WithoutCancel(ctx)
	job, err := t.cfg.Records.Job(ctx, t.job.ID)
	if err != nil {
		return err
	}
	doc, err := t.cfg.Records.Document(ctx, job.KnowledgeBaseID, job.DocumentID)
	if err != nil {
		return err
	}
	if err := t.takeOver(ctx, &doc, was.GivenMetadata); err != nil {
		return err
	}
	return t.followMetadata(ctx, job.KnowledgeBaseID, job.DocumentID)
}

// fetchedNow is an address after a fetch that went well.
func (s *Service) fetchedNow(a store.Address, resp *fetch.Response) store.Address {
	now := s.cfg.Now()
	a.FetchedAt, a.GoneSince, a.Failures, a.Error = now, time.Time{}, 0, ""
	a.FinalURL = resp.URL
	if !resp.NotModified {
		a.ETag, a.LastModified = resp.ETag, resp.LastModified
	}
	a.NextAt = s.nextFetch(now, a.Refresh)
	return a
}

// nextFetch spreads fetches of the same period over a tenth of it.
func (s *Service) nextFetch(now time.Time, every time.Duration) time.Time {
	if every == 0 {
		return time.Time{}
	}
	return now.Add(every - every/20 + time.Duration(s.cfg.Jitter()*float64(every/10)))
}

// download is a body that tells how far it was read, and remembers its error.
type download struct {
	from io.Reader
	each func(done int64)
	done int64
	told int64
	err  error
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.from.Read(p)
	if d.done += int64(n); d.each != nil && d.done-d.told >= 256<<10 {
		d.told = d.done
		d.each(d.done)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		d.err = err
	}
	return n, err
}
