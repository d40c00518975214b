package ingest_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

// TestDeleteDocuments deletes more than one group, with ids that are none, that
// come twice, and of a document that is being read.
func TestDeleteDocuments(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.parser.hold = make(chan struct{})
	h.start(t)
	var none []string
	for i := range 600 { // more than two groups
		none = append(none, fmt.Sprintf("doc_%03d", i))
	}
	ids := slices.Clone(none)
	for i := range 8 {
		s := h.submit(t, fmt.Sprintf("%d.txt", i), fmt.Sprintf("text %d", i))
		h.end(t, s.Job.ID)
		ids = append(ids, s.Document.ID, s.Document.ID)
	}
	kept := h.submit(t, "kept.txt", "kept")
	h.end(t, kept.Job.ID)
	running := h.submit(t, "held.txt", "hold")
	deleted, err := h.DeleteDocuments(t.Context(), "kb", append(ids, running.Document.ID))
	if diff := cmp.Diff(ingest.Deleted{Documents: 9, Missing: none}, deleted); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	h.index.mu.Lock()
	if len(h.index.docs) != 1 || len(h.index.docs[kept.Document.ID]) != 1 {
		t.Errorf("indexed: %v", h.index.docs)
	}
	h.index.mu.Unlock()
	for hash, err := range h.blobs.List(t.Context()) {
		if err != nil || hash != kept.Document.SHA256 {
			t.Errorf("blob %s, %v", hash, err)
		}
	}
	h.verify(t)
	if _, err := h.DeleteDocuments(t.Context(), "kb", slices.Repeat([]string{"doc"}, ingest.MaxDelete+1)); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("too many: %v", err)
	}
	if _, err := h.DeleteDocuments(t.Context(), "none", ids); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no knowledge base: %v", err)
	}
}

// TestDeleteTheSameAtOnce: calls that share documents do not wait for each
// other for ever, and each document is counted once.
func TestDeleteTheSameAtOnce(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	var ids []string
	for i := range 8 {
		s := h.submit(t, fmt.Sprintf("%d.txt", i), fmt.Sprintf("text %d", i))
		h.end(t, s.Job.ID)
		ids = append(ids, s.Document.ID)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	n := 0
	for i := range 4 {
		some := slices.Clone(ids)
		if i%2 == 1 {
			slices.Reverse(some)
		}
		all.Go(func() {
			deleted, err := h.DeleteDocuments(t.Context(), "kb", some)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			n += deleted.Documents
			mu.Unlock()
		})
	}
	all.Wait()
	if n != len(ids) {
		t.Errorf("%d deleted, want %d", n, len(ids))
	}
	h.verify(t)
}
