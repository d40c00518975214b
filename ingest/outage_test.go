package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ragagent/ingest"
	"ragagent/store"
)

// errDown is what an embedder says whose server does not answer.
var errDown = fmt.Errorf("embedder test/length: %w: connection refused", store.ErrUnavailable)

// TestEmbedderDownPausesJobs: jobs wait for it and say so, none fails, no
// attempt is counted, what was stored stays, and they go on by themselves.
func TestEmbedderDownPausesJobs(t *testing.T) {
	h := build(t, t.TempDir(), func(c *ingest.Config) { c.Retry = time.Millisecond })
	h.embed.failAfter, h.embed.fail = 8, errDown
	h.start(t)
	large := h.submit(t, "large.txt", long(20))
	waitFor(t, func() bool { return strings.Contains(h.Waiting(large.Job), "does not answer: connection refused") })
	jobs := []store.Job{large.Job}
	for i := range 30 {
		jobs = append(jobs, h.submit(t, fmt.Sprintf("%d.txt", i), fmt.Sprintf("Text %d.", i)).Job)
	}
	calls := h.embed.asked()
	waitFor(t, func() bool { return h.embed.asked() > calls+5 }) // it is asked again and again
	for _, j := range jobs {
		if now := job(t, h, j.ID); now.Status.Ended() {
			t.Fatalf("job %+v has ended", now)
		}
	}
	n, _, err := h.records.ChunkJournal(t.Context(), large.Document.ID, 1)
	if err != nil || n != 8 {
		t.Errorf("journal: %d chunks, %v, want 8", n, err)
	}
	h.embed.set(nil)
	for _, j := range jobs {
		if last := h.end(t, j.ID); last.Status != store.StatusReady || last.Attempts != 0 {
			t.Errorf("job %+v, want it ready and no attempt in vain", last)
		}
	}
	if why := h.Waiting(store.Job{KnowledgeBaseID: h.kb.ID, Status: store.StatusQueued}); why != "" {
		t.Errorf("still waiting: %s", why)
	}
	h.verify(t)
}

// TestOutageIsOfOneKnowledgeBase: what waits for a service keeps nobody else
// from going on.
func TestOutageIsOfOneKnowledgeBase(t *testing.T) {
	h := build(t, t.TempDir(), func(c *ingest.Config) { c.Retry = time.Hour })
	h.start(t)
	h.embed.set(errDown)
	waits := h.submit(t, "waits.txt", "This one waits.")
	waitFor(t, func() bool { return h.Waiting(waits.Job) != "" && job(t, h, waits.Job.ID).Status == store.StatusQueued })
	h.embed.set(nil)
	other, err := h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	goes, err := h.Submit(t.Context(), "other", ingest.Upload{Name: "goes.txt", Body: strings.NewReader("This one goes on.")})
	if err != nil {
		t.Fatal(err)
	}
	if last := h.end(t, goes.Job.ID); last.Status != store.StatusReady || h.Waiting(store.Job{KnowledgeBaseID: other.ID}) != "" {
		t.Errorf("job %+v", last)
	}
	if now := job(t, h, waits.Job.ID); now.Status != store.StatusQueued || now.Attempts != 0 {
		t.Errorf("job %+v", now)
	}
	if _, err := h.Cancel(t.Context(), waits.Job.ID); err != nil {
		t.Errorf("cancel what waits: %v", err)
	}
}

// TestEmbedderRefusesText: an error that is the text's fault fails the document
// that has it, with the cause, and no other; all that failed can be retried.
func TestEmbedderRefusesText(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	h.embed.set(fmt.Errorf("the input is longer than 512 tokens"))
	var jobs []string
	for i := range 3 {
		jobs = append(jobs, h.submit(t, fmt.Sprintf("%d.txt", i), fmt.Sprintf("Text %d.", i)).Job.ID)
	}
	for _, id := range jobs {
		if last := h.end(t, id); last.Status != store.StatusFailed || last.Error != "embed 1 chunks: the input is longer than 512 tokens" {
			t.Errorf("job %+v", last)
		}
	}
	h.embed.set(nil)
	if _, err := h.RetryFailed(t.Context(), "none"); err == nil {
		t.Error("a knowledge base that is not there: no error")
	}
	if n, err := h.RetryFailed(t.Context(), "kb"); n != 3 || err != nil {
		t.Errorf("retried %d, %v", n, err)
	}
	for _, id := range jobs {
		if last := h.end(t, id); last.Status != store.StatusReady {
			t.Errorf("job %+v", last)
		}
	}
	h.verify(t)
}

func job(t *testing.T, h *house, id string) store.Job {
	t.Helper()
	j, err := h.records.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}
