package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"ragagent/ingest"
	"ragagent/store"
)

// TestVerifyWhileEverythingChanges: no false alarm, however documents and
// knowledge bases come and go meanwhile.
func TestVerifyWhileEverythingChanges(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	for i := range 10 {
		h.end(t, h.submit(t, "stays.txt", fmt.Sprintf("This text %d stays.", i)).Job.ID)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() { churn(ctx, t, h, w) })
	}
	for range 4 {
		h.verify(t)
		report, err := h.VerifyDeleted(t.Context())
		if err != nil || len(report.Problems) > 0 {
			t.Fatalf("deleted: %+v, %v", report.Problems, err)
		}
	}
	cancel()
	writers.Wait()
	report, err := h.VerifyDeleted(t.Context())
	if err != nil || report.Deleted.Documents == 0 {
		t.Errorf("%+v, %v", report.Deleted, err)
	}
}

// churn adds, cancels and deletes until ctx ends.
func churn(ctx context.Context, t *testing.T, h *house, w int) {
	for i := 0; ctx.Err() == nil; i++ {
		kb := "kb"
		if i%3 == 2 {
			kb = fmt.Sprintf("kb-%d-%d", w, i)
			if _, err := h.CreateKnowledgeBase(ctx, store.KnowledgeBase{Name: kb}); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
		// The content of every second round is the same for all writers.
		text := strings.Repeat(fmt.Sprintf("Text %d of round %d. ", w*(i%2), i), 20)
		s, err := h.Submit(ctx, kb, ingest.Upload{Name: "a.txt", Body: strings.NewReader(text)})
		if err != nil {
			continue // ctx has ended, or another writer took the document
		}
		if i%4 == 1 {
			_, _ = h.Cancel(ctx, s.Job.ID) // it may be ready already
		}
		if kb != "kb" {
			err = h.DeleteKnowledgeBase(ctx, kb)
		} else {
			err = h.DeleteDocument(ctx, kb, s.Document.ID)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
}

// TestVerifyDeletedFindsWhatIsLeft puts back what a deletion removed.
func TestVerifyDeletedFindsWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	h := build(t, dir, nil)
	h.start(t)
	text := strings.Repeat("A text of a few chunks, which goes. ", 30)
	s := h.submit(t, "a.txt", text)
	h.end(t, s.Job.ID)
	chunks, err := h.records.DocumentChunks(t.Context(), s.Document.ID, 0, 10)
	if err != nil || len(chunks) == 0 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	if err := h.DeleteDocument(t.Context(), "kb", s.Document.ID); err != nil {
		t.Fatal(err)
	}
	deleted := func() string {
		t.Helper()
		report, err := h.VerifyDeleted(t.Context())
		if err != nil || report.Deleted.Documents != 1 {
			t.Fatalf("%+v, %v", report.Deleted, err)
		}
		var all []string
		for _, p := range report.Problems {
			if p.Where != "deleted document "+s.Document.ID {
				t.Errorf("where: %q", p.Where)
			}
			all = append(all, p.Detail)
		}
		return strings.Join(all, "\n")
	}
	if got := deleted(); got != "" {
		t.Errorf("after the deletion: %s", got)
	}
	if err := os.WriteFile(blobPath(dir, s.Document.SHA256), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := deleted(); got != "its content is still in the blob folder, as "+s.Document.SHA256 {
		t.Errorf("with its blob: %s", got)
	}
	if err := os.Remove(blobPath(dir, s.Document.SHA256)); err != nil {
		t.Fatal(err)
	}
	h.index.docs[s.Document.ID], h.index.kbs[s.Document.ID] = []string{chunks[0].ID}, h.kb.ID
	got := deleted()
	for _, index := range []string{"lexical", "vector"} {
		if !strings.Contains(got, "the "+index+" index of kb holds its chunk "+chunks[0].ID) {
			t.Errorf("in the index: %s", got)
		}
	}
	delete(h.index.docs, s.Document.ID)
	again := h.submit(t, "b.txt", text) // the same content, as another document
	h.end(t, again.Job.ID)
	if got := deleted(); got != "" {
		t.Errorf("with the same content: %s", got)
	}
}
