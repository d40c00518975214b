package ingest_test

import (
	"errors"
	"testing"

	"ragagent/store"
)

// TestFailedAfterPublishing: neither the revision that is stored nor the one it
// replaced is lost when the indexes do not follow, and a retry ends it without
// reading the file again.
func TestFailedAfterPublishing(t *testing.T) {
	for name, before := range map[string]bool{"a new document": false, "a new revision": true} {
		t.Run(name, func(t *testing.T) {
			h := build(t, t.TempDir(), nil)
			h.start(t)
			if before {
				h.ready(t, h.submit(t, "a.txt", paragraphs(4)))
			}
			h.index.setFail(errors.New("no room"))
			s := h.submit(t, "a.txt", paragraphs(6, 1))
			if job := h.end(t, s.Job.ID); job.Status != store.StatusFailed || job.Error != "index: no room" {
				t.Fatalf("job: %+v", job)
			}
			doc := h.document(t, s.Document.ID)
			if doc.Revision != s.Job.Revision || doc.Status != store.StatusFailed || h.original(t, doc) != paragraphs(6, 1) {
				t.Errorf("document: %+v", doc)
			}
			h.index.setFail(nil)
			calls := h.parser.calls
			if _, err := h.Retry(t.Context(), s.Job.ID); err != nil {
				t.Fatal(err)
			}
			done := h.ready(t, s)
			if done.ChunkCount != doc.ChunkCount || h.parser.calls != calls {
				t.Errorf("%d chunks, not %d; parsed %d times more", done.ChunkCount, doc.ChunkCount, h.parser.calls-calls)
			}
			h.verify(t)
		})
	}
}

// setFail lets documents not be put in, or, for nil, be again.
func (x *index) setFail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fail = err
}
