package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

// TestMetadataChangedWhileAJobRuns changes metadata between the beginning of an
// attempt and its end, of a first revision and of a second.
func TestMetadataChangedWhileAJobRuns(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	hold := make(chan struct{})
	h.parser.hold = hold
	h.start(t)
	for revision, text := range []string{"hold the first", "hold the second"} {
		s, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: "a.txt", Body: strings.NewReader(text), Metadata: store.Metadata{"year": "old", "kept": "yes"}})
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool {
			h.parser.mu.Lock()
			defer h.parser.mu.Unlock()
			return h.parser.calls == revision+1
		})
		change := ingest.DocumentChange{Metadata: store.Metadata{"year": "new"}}
		if _, err := h.UpdateDocument(t.Context(), "kb", s.Document.ID, change); err != nil {
			t.Fatal(err)
		}
		close(hold)
		if job := h.end(t, s.Job.ID); job.Status != store.StatusReady {
			t.Fatal(job.Error)
		}
		doc, err := h.records.Document(t.Context(), "", s.Document.ID)
		if err != nil {
			t.Fatal(err)
		}
		want := store.Metadata{"year": "new", "kept": "yes"}
		if diff := cmp.Diff([]store.Metadata{want, want}, []store.Metadata{doc.Metadata, doc.GivenMetadata}); diff != "" || doc.Revision != revision+1 {
			t.Errorf("revision %d: %s", doc.Revision, diff)
		}
		hold = make(chan struct{})
		h.parser.mu.Lock()
		h.parser.hold = hold
		h.parser.mu.Unlock()
	}
}
