package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

func TestDocumentBecomesReady(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	s := h.submit(t, `C:\docs\..\notes.txt`, "One paragraph.\n\nAnother one.")
	if job := h.end(t, s.Job.ID); job.Status != store.StatusReady {
		t.Fatalf("job: %+v", job)
	}
	doc, err := h.records.Document(t.Context(), h.kb.ID, s.Document.ID)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Name != "notes.txt" || doc.Status != store.StatusReady || doc.Revision != 1 || doc.ChunkCount != 1 {
		t.Errorf("document: %+v", doc)
	}
	chunks, err := h.records.DocumentChunks(t.Context(), doc.ID, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if want := "One paragraph.\n\nAnother one."; len(chunks) != 1 || chunks[0].Text != want {
		t.Errorf("chunks: %+v", chunks)
	}
	h.verify(t)
}

func TestSameBytesAreOneDocument(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	first := h.submit(t, "a.txt", "The same text.")
	second := h.submit(t, "b.txt", "The same text.")
	if second.DuplicateOf != first.Document.ID || second.Document.ID != first.Document.ID || second.Job.ID != first.Job.ID {
		t.Errorf("first %+v, second %+v", first, second)
	}
	h.end(t, first.Job.ID)
	h.verify(t)
}

func TestFailuresSayWhyAndCanBeRetried(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	for name, c := range map[string]struct{ text, want string }{
		"damaged": {"damaged goods", "the file is damaged"},
		"empty":   {" \n", "no text found"},
		"panic":   {"panic now", "internal error while reading this document; the log has the details"},
	} {
		t.Run(name, func(t *testing.T) {
			s := h.submit(t, name, c.text)
			job := h.end(t, s.Job.ID)
			if job.Status != store.StatusFailed || job.Error != c.want {
				t.Errorf("job: %+v", job)
			}
			again := h.submit(t, name, c.text) // the same file again means: try again
			if again.DuplicateOf != s.Document.ID || again.Document.Status != store.StatusQueued {
				t.Errorf("again: %+v", again)
			}
			if job := h.end(t, s.Job.ID); job.Status != store.StatusFailed {
				t.Errorf("second attempt: %+v", job)
			}
		})
	}
	h.verify(t)
}

func TestJobGoesOnWhereItWas(t *testing.T) {
	dir := t.TempDir()
	h := build(t, dir, nil)
	h.embed.stop = 10 // two batches of four are journalled, the third hangs
	h.start(t)
	s := h.submit(t, "long.txt", long(20))
	waitFor(t, func() bool {
		n, _, err := h.records.ChunkJournal(t.Context(), s.Document.ID, 1)
		return err == nil && n == 8
	})
	h.close(t)

	h = build(t, dir, nil)
	h.start(t)
	if job := h.end(t, s.Job.ID); job.Status != store.StatusReady || job.Attempts != 0 { // it got further
		t.Errorf("job: %+v", job)
	}
	doc, err := h.records.Document(t.Context(), "", s.Document.ID)
	if err != nil {
		t.Fatal(err)
	}
	if h.embed.texts != doc.ChunkCount-8 {
		t.Errorf("%d chunks embedded after the restart, want %d of %d", h.embed.texts, doc.ChunkCount-8, doc.ChunkCount)
	}
	h.verify(t)
}

func TestCancelRunningJob(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.parser.hold = make(chan struct{})
	h.start(t)
	s := h.submit(t, "hold.txt", "hold this")
	waitFor(t, func() bool {
		job, err := h.records.Job(t.Context(), s.Job.ID)
		return err == nil && job.Status == store.StatusRunning
	})
	if job, err := h.Cancel(t.Context(), s.Job.ID); err != nil || job.Status != store.StatusCancelled {
		t.Fatalf("cancel: %+v, %v", job, err)
	}
	if _, err := h.Cancel(t.Context(), s.Job.ID); !errors.Is(err, store.ErrConflict) {
		t.Errorf("second cancel: %v", err)
	}
	if job := h.end(t, s.Job.ID); job.Status != store.StatusCancelled {
		t.Errorf("job: %+v", job)
	}
	close(h.parser.hold)
	if job, err := h.Retry(t.Context(), s.Job.ID); err != nil || job.Status != store.StatusQueued {
		t.Fatalf("retry: %+v, %v", job, err)
	}
	if job := h.end(t, s.Job.ID); job.Status != store.StatusReady {
		t.Errorf("job: %+v", job)
	}
	h.verify(t)
}

// TestCancelBetweenPublishAndFinish: the truth takes the revision back, and the
// index, which was about to follow it, has to follow that too.
func TestCancelBetweenPublishAndFinish(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	var s ingest.Submitted
	submitted := make(chan struct{})
	var cancelled sync.WaitGroup
	h.index.before = func() {
		<-submitted
		// Cancel waits for the index, which waits here: only its transaction
		// comes in between.
		cancelled.Go(func() {
			if _, err := h.Cancel(context.WithoutCancel(t.Context()), s.Job.ID); err != nil {
				t.Error(err)
			}
		})
		waitFor(t, func() bool {
			job, err := h.records.Job(context.WithoutCancel(t.Context()), s.Job.ID)
			return err == nil && job.Status == store.StatusCancelled
		})
	}
	h.start(t)
	s = h.submit(t, "a.txt", "Visible for a moment.")
	close(submitted)
	if job := h.end(t, s.Job.ID); job.Status != store.StatusCancelled {
		t.Errorf("job: %+v", job)
	}
	cancelled.Wait()
	h.close(t) // the worker has ended, nothing comes back
	if len(h.index.docs) != 0 {
		t.Errorf("index: %v", h.index.docs)
	}
}

func TestDeleteWhileRunning(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.parser.hold = make(chan struct{})
	h.start(t)
	s := h.submit(t, "hold.txt", "hold this")
	waitFor(t, func() bool {
		h.parser.mu.Lock()
		defer h.parser.mu.Unlock()
		return h.parser.calls == 1
	})
	if err := h.DeleteDocument(t.Context(), "kb", s.Document.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.records.Document(t.Context(), "", s.Document.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("document: %v", err)
	}
	h.verify(t)
	h.index.mu.Lock() // the interrupted job may still be ending
	defer h.index.mu.Unlock()
	if len(h.index.docs) != 0 {
		t.Errorf("index: %v", h.index.docs)
	}
}

func TestDeleteKeepsSharedBlob(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	if _, err := h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "other"}); err != nil {
		t.Fatal(err)
	}
	a := h.submit(t, "a.txt", "Shared by two knowledge bases.")
	b, err := h.Submit(t.Context(), "other", ingest.Upload{Name: "b.txt", Body: strings.NewReader("Shared by two knowledge bases.")})
	if err != nil || b.DuplicateOf != "" {
		t.Fatalf("%+v, %v", b, err)
	}
	h.end(t, a.Job.ID)
	h.end(t, b.Job.ID)
	if err := h.DeleteDocument(t.Context(), "kb", a.Document.ID); err != nil {
		t.Fatal(err)
	}
	if f, err := h.blobs.Open(t.Context(), b.Document.SHA256); err != nil {
		t.Errorf("the blob went with the first document: %v", err)
	} else {
		f.Close()
	}
	if err := h.DeleteKnowledgeBase(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	for hash, err := range h.blobs.List(t.Context()) {
		t.Errorf("left behind: %s %v", hash, err)
	}
}

func TestInvalidInput(t *testing.T) {
	h := build(t, t.TempDir(), func(c *ingest.Config) { c.MaxFileBytes = 10 })
	h.start(t)
	submit := func(up ingest.Upload) error {
		if up.Body == nil {
			up.Body = strings.NewReader("x")
		}
		_, err := h.Submit(t.Context(), "kb", up)
		return err
	}
	many := store.Metadata{}
	for i := range 65 {
		many[fmt.Sprint(i)] = "x"
	}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"no name":     {submit(ingest.Upload{Name: ".."}), "name: is missing: give the document a file name"},
		"long name":   {submit(ingest.Upload{Name: strings.Repeat("../", 10) + strings.Repeat("n", 300)}), "name: has 300 bytes, at most 255 are allowed: rename the file"},
		"not UTF-8":   {submit(ingest.Upload{Name: "\xff"}), "name: is not valid UTF-8: rename the file"},
		"metadata":    {submit(ingest.Upload{Name: "a", Metadata: store.Metadata{"x": map[string]any{}}}), "metadata.x: must be a string, a number, true or false, or a list of strings"},
		"many keys":   {submit(ingest.Upload{Name: "a", Metadata: many}), "metadata: has 65 keys, at most 64 are allowed"},
		"kb name":     {second(h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: " "})), "name: is missing: give the knowledge base a name"},
		"kb dots":     {second(h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: ".."})), `name: must not be "..", because it is used in addresses`},
		"kb slash":    {second(h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "a/b"})), `name: must not hold / \ ? or #, because it is used in addresses`},
		"kb embedder": {second(h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "n", Embedder: "x/y"})), `embedder: "x/y" is not served here: leave it out or use "test/length"`},
		"kb chunking": {second(h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "n", Chunking: store.Chunking{Size: 5}})), "chunking.size: is 5, allowed are 32 to 4096 tokens, or 0 for the default"},
	} {
		t.Run(name, func(t *testing.T) {
			var field *store.FieldError
			if !errors.As(c.err, &field) || !errors.Is(c.err, store.ErrInvalid) {
				t.Fatalf("got %v", c.err)
			}
			if diff := cmp.Diff(c.want, field.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
	if err := submit(ingest.Upload{Name: "big", Body: strings.NewReader("eleven byte")}); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := h.Submit(t.Context(), "nowhere", ingest.Upload{Name: "a", Body: strings.NewReader("x")}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown knowledge base: %v", err)
	}
	h.verify(t)
}

// TestSubmitAndDeleteAtOnce hammers one content: whatever the order, a blob is
// there if and only if a document refers to it.
func TestSubmitAndDeleteAtOnce(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				s, err := h.Submit(context.WithoutCancel(t.Context()), "kb", ingest.Upload{Name: "x", Body: strings.NewReader("contended")})
				if err != nil {
					t.Error(err)
					return
				}
				err = h.DeleteDocument(context.WithoutCancel(t.Context()), "kb", s.Document.ID)
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := h.submit(t, "last", "contended")
	if job := h.end(t, s.Job.ID); job.Status != store.StatusReady {
		t.Errorf("job: %+v", job)
	}
	h.verify(t)
}

// TestChangesAtOnceAreAllKept: of two who change different settings neither
// undoes what the other did.
func TestChangesAtOnceAreAllKept(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	for i := range 10 {
		description, settings := fmt.Sprint("version ", i), store.RetrievalSettings{TopK: i + 1}
		changes := []ingest.KnowledgeBaseChange{{Description: &description}, {Retrieval: &settings}}
		var wg sync.WaitGroup
		for _, change := range changes {
			wg.Go(func() {
				if _, err := h.UpdateKnowledgeBase(t.Context(), h.kb.ID, change); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		kb, err := h.records.KnowledgeBase(t.Context(), h.kb.ID)
		if err != nil || kb.Description != description || kb.Retrieval != settings {
			t.Fatalf("%q and %+v, want %q and %+v: %v", kb.Description, kb.Retrieval, description, settings, err)
		}
	}
}
