package ingest

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"ragagent/store"
)

// board tells watchers how jobs stand. A watcher that is slow sees the latest
// state, not every state: nobody ever waits for a watcher.
type board struct {
	mu       sync.Mutex
	closed   bool
	watchers map[string]map[*watcher]struct{} // by job id
	live     map[string]store.Job             // running jobs as they stand
}

type watcher struct {
	ch chan *store.Job // holds at most the latest state; nil: the job is gone
}

func newBoard() *board {
	return &board{watchers: map[string]map[*watcher]struct{}{}, live: map[string]store.Job{}}
}

func (b *board) add(id string) (*watcher, func()) {
	w := &watcher{ch: make(chan *store.Job, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(w.ch)
		return w, func() {}
	}
	set := b.watchers[id]
	if set == nil {
		set = map[*watcher]struct{}{}
		b.watchers[id] = set
	}
	set[w] = struct{}{}
	return w, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(set, w)
		if len(set) == 0 {
			delete(b.watchers, id)
		}
	}
}

func (b *board) publish(job store.Job) { b.send(job.ID, &job) }

func (b *board) gone(id string) { b.send(id, nil) }

func (b *board) send(id string, job *store.Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if job != nil && job.Status == store.StatusRunning {
		b.live[id] = *job
	} else {
		delete(b.live, id)
	}
	for w := range b.watchers[id] {
		select {
		case <-w.ch: // an older state that nobody took
		default:
		}
		w.ch <- job
	}
}

func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, set := range b.watchers {
		for w := range set {
			close(w.ch)
		}
	}
	b.watchers = map[string]map[*watcher]struct{}{}
}

// Live returns a job that was read from the records with the progress of this
// moment, of which the records hear with every heartbeat only.
func (s *Service) Live(job store.Job) store.Job {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	now, ok := s.watch.live[job.ID]
	if !ok || job.Status != store.StatusRunning || !now.StartedAt.Equal(job.StartedAt) {
		return job
	}
	job.Progress, job.UpdatedAt = now.Progress, now.UpdatedAt
	return job
}

// Watch yields a job's present state and then every change, until it has ended
// or the service closes. The sequence is used once. store.ErrNotFound.
func (s *Service) Watch(ctx context.Context, id string) iter.Seq2[store.Job, error] {
	return func(yield func(store.Job, error) bool) {
		w, remove := s.watch.add(id)
		defer remove()
		job, err := s.cfg.Records.Job(ctx, id)
		if err != nil {
			yield(store.Job{}, fmt.Errorf("job: %w", err))
			return
		}
		job = s.Live(job)
		for yield(job, nil) && !job.Status.Ended() {
			select {
			case <-ctx.Done():
				yield(store.Job{}, ctx.Err())
				return
			case next, open := <-w.ch:
				if !open {
					return
				}
				if next == nil {
					yield(store.Job{}, fmt.Errorf("job %s: %w", id, store.ErrNotFound))
					return
				}
				job = *next
			}
		}
	}
}
