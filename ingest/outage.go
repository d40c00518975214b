package ingest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"ragagent/store"
)

// maxOutagePause bounds the time between two tries of a service that does not
// answer, but for the jitter.
const maxOutagePause = 90 * time.Second

// outage is why no job of a knowledge base is taken up: a service that they
// need does not answer. Its jobs wait; those of others go on.
type outage struct {
	reason string
	pause  time.Duration // the latest one
	until  time.Time     // then the next job tries again
	trying bool          // one does
}

// unavailable notes that a service did not answer a job. Each time in a row the
// pause is twice as long, and a quarter more or less by chance, so that those
// who wait for one service do not all come back at once.
func (s *Service) unavailable(kbID string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	o := s.outages[kbID]
	if o == nil {
		o = &outage{}
		s.outages[kbID] = o
	}
	if o.reason = cause.Error(); !o.trying && now.Before(o.until) {
		return // another worker has met it too
	}
	o.trying = false
	o.pause = min(max(2*o.pause, s.cfg.Retry), max(maxOutagePause, s.cfg.Retry))
	o.until = now.Add(time.Duration(float64(o.pause) * (.75 + rand.Float64()/2)))
	s.cfg.Log.Warn("jobs wait for a service", "knowledge base", kbID, "next try", o.until, "error", cause)
}

// answered notes that a service did answer a job.
func (s *Service) answered(kbID string) {
	s.mu.Lock()
	_, was := s.outages[kbID]
	delete(s.outages, kbID)
	s.mu.Unlock()
	if was {
		s.cfg.Log.Info("jobs go on", "knowledge base", kbID)
		s.nudge()
	}
}

// tried notes that a job has ended which may have been the one to try again,
// whatever it has found out.
func (s *Service) tried(kbID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.outages[kbID]; o != nil {
		o.trying = false
	}
}

// passedOver are the knowledge bases of which no job is to be taken now, and how
// long until that changes; 0 if nobody knows.
func (s *Service) passedOver() (ids []string, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	for id, o := range s.outages {
		left := o.until.Sub(now)
		if !o.trying && left <= 0 {
			continue
		}
		ids = append(ids, id)
		if left > 0 && (wait == 0 || left < wait) {
			wait = left
		}
	}
	return ids, wait
}

// tries notes that a job is taken up.
func (s *Service) tries(kbID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.outages[kbID]; o != nil {
		o.trying = true
	}
}

// Waiting says why a job that has not ended does not go on at present, "" if it
// does or nothing but other jobs is in its way.
func (s *Service) Waiting(job store.Job) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o := s.outages[job.KnowledgeBaseID]; {
	case job.Status.Ended():
		return ""
	case s.stall.reason != "":
		return s.stall.reason
	case job.Stage == store.StageFetch && job.Status == store.StatusQueued:
		return job.Error
	case o == nil || job.Status == store.StatusRunning:
		return ""
	case o.trying:
		return o.reason + "; it is being tried again"
	default:
		left := max(o.until.Sub(s.cfg.Now()), 0).Round(time.Second)
		return fmt.Sprintf("%s; next try in %s", o.reason, max(left, time.Second))
	}
}
