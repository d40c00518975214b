package ingest_test

import (
	"errors"
	"testing"

	"ragagent/ingest"
	"ragagent/store"
)

// TestReindex: every document is cut by the present settings, in one step each,
// and what was found before is found until then.
func TestReindex(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	first, second := h.ready(t, h.submit(t, "a.txt", "hold "+long(3))), h.ready(t, h.submit(t, "b.txt", "hold "+long(5)))
	failed := h.submit(t, "bad.txt", "damaged")
	h.end(t, failed.Job.ID)
	smaller := store.Chunking{Size: 64}
	if _, err := h.UpdateKnowledgeBase(t.Context(), "kb", ingest.KnowledgeBaseChange{Chunking: &smaller}); err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	h.parser.mu.Lock()
	h.parser.hold = hold
	h.parser.mu.Unlock()
	begun, err := h.ReindexKnowledgeBase(t.Context(), "kb")
	if err != nil || len(begun.Queued) != 2 || begun.Skipped != 1 {
		t.Fatalf("%+v, %v", begun, err)
	}
	if doc := h.document(t, first.ID); doc.Revision != 1 || doc.ChunkCount != first.ChunkCount || doc.Pending == nil {
		t.Errorf("before its job: %+v", doc)
	}
	close(hold)
	for i, was := range []store.Document{first, second} {
		doc := h.ready(t, begun.Queued[i])
		if doc.ID != was.ID || doc.Revision != 2 || doc.ChunkCount <= was.ChunkCount || doc.SHA256 != was.SHA256 || doc.Name != was.Name {
			t.Errorf("%s: %d chunks, then %d: %+v", was.Name, was.ChunkCount, doc.ChunkCount, doc)
		}
	}
	if _, err := h.ReindexKnowledgeBase(t.Context(), "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v", err)
	}
	h.verify(t)
}
