package ingest

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"ragagent/store"
)

// TestOutagePauses: pauses double up to their bound, with chance in them, one
// job at a time tries again, and an answer ends it all.
func TestOutagePauses(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := &Service{
		cfg:     Config{Retry: time.Second, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)},
		outages: map[string]*outage{}, wake: make(chan struct{}, 1),
	}
	cause := errors.New("does not answer")
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 90, 90, 90} {
		want *= time.Second
		s.unavailable("kb_1", cause)
		s.unavailable("kb_1", cause) // by another worker
		ids, wait := s.passedOver()
		if len(ids) != 1 || wait < want*3/4 || wait > want*5/4 {
			t.Fatalf("pause %d: %v %v, want %v within a quarter", i, ids, wait, want)
		}
		now = now.Add(wait)
		if ids, _ := s.passedOver(); len(ids) != 0 {
			t.Fatalf("pause %d is over, and passed over are %v", i, ids)
		}
		s.tries("kb_1")
		if ids, wait := s.passedOver(); len(ids) != 1 || wait != 0 {
			t.Fatalf("while one tries: %v %v", ids, wait)
		}
	}
	job := store.Job{KnowledgeBaseID: "kb_1", Status: store.StatusQueued}
	if got := s.Waiting(job); got != "does not answer; it is being tried again" {
		t.Error(got)
	}
	s.tried("kb_1") // cancelled before it could find out
	if ids, _ := s.passedOver(); len(ids) != 0 {
		t.Errorf("nobody tries, and passed over are %v", ids)
	}
	s.tries("kb_1")
	s.unavailable("kb_1", cause)
	s.outages["kb_1"].until = now.Add(8 * time.Second)
	if got := s.Waiting(job); got != "does not answer; next try in 8s" {
		t.Error(got)
	}
	s.answered("kb_1")
	if got := s.Waiting(job); got != "" || len(s.outages) != 0 {
		t.Errorf("%q after an answer", got)
	}
}
