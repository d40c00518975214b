package ingest_test

import (
	"fmt"
	"testing"

	"ragagent/store"
)

// TestOtherEmbedderForEver has an index that never takes the vectors: the job
// ends, and says why; one that takes them after a while ends well.
func TestOtherEmbedderForEver(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	h.index.setFail(fmt.Errorf("test: %w", store.ErrOtherEmbedder))
	s := h.submit(t, "a.txt", "A text.")
	if job := h.end(t, s.Job.ID); job.Status != store.StatusFailed || job.Attempts != 0 { // it was published
		t.Errorf("job: %+v", job)
	}
	if _, err := h.Retry(t.Context(), s.Job.ID); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return must(h.records.Job(t.Context(), s.Job.ID)).Status == store.StatusRunning })
	h.index.setFail(nil)
	h.ready(t, s)
}
