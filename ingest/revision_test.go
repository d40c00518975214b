package ingest_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

// paragraphs are n chunks, each with a number, and the ones named changed.
func paragraphs(n int, changed ...int) string {
	var b strings.Builder
	for i := range n {
		version := "first"
		if slices.Contains(changed, i) {
			version = "second"
		}
		fmt.Fprintf(&b, "Paragraph %d, %s version. %s\n\n", i, version, strings.Repeat("Some words that fill a chunk up to its size. ", 40))
	}
	return b.String()
}

// ready follows a job that has to end well.
func (h *house) ready(t *testing.T, s ingest.Submitted) store.Document {
	t.Helper()
	if job := h.end(t, s.Job.ID); job.Status != store.StatusReady {
		t.Fatalf("job: %+v", job)
	}
	return h.document(t, s.Document.ID)
}

func (h *house) original(t *testing.T, doc store.Document) string {
	t.Helper()
	blob, err := h.blobs.Open(t.Context(), doc.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	raw, err := io.ReadAll(blob)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (h *house) blobCount(t *testing.T) (n int) {
	t.Helper()
	for _, err := range h.blobs.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestRevision changes two chunks of thirty: they alone are embedded, and
// nothing of the first version is left anywhere.
func TestRevision(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	first := h.ready(t, h.submit(t, "a.txt", paragraphs(30)))
	h.embed.mu.Lock()
	h.embed.texts = 0
	h.embed.mu.Unlock()
	s := h.submit(t, "a.txt", paragraphs(30, 3, 17))
	if s.DuplicateOf != "" || s.Document.ID != first.ID || s.Job.Revision != 2 {
		t.Fatalf("submitted: %+v", s)
	}
	second := h.ready(t, s)
	if second.Revision != 2 || second.Pending != nil || second.ChunkCount != first.ChunkCount || h.original(t, second) != paragraphs(30, 3, 17) {
		t.Errorf("document: %+v", second)
	}
	h.embed.mu.Lock()
	if h.embed.texts != 2 {
		t.Errorf("%d texts were embedded, want the 2 that changed", h.embed.texts)
	}
	h.embed.mu.Unlock()
	if n := h.blobCount(t); n != 1 { // the text is the original
		t.Errorf("%d blobs, want 1", n)
	}
	h.verify(t)

	again := h.submit(t, "a.txt", paragraphs(30, 3, 17))
	if again.DuplicateOf != first.ID || again.Job.ID != s.Job.ID {
		t.Errorf("the same bytes again: %+v", again)
	}
	other := h.submit(t, "b.txt", paragraphs(30, 3, 17))
	if other.DuplicateOf != first.ID || other.Source.Path != "b.txt" {
		t.Errorf("the same bytes elsewhere: %+v", other)
	}
	if diff := cmp.Diff([]store.Source{{Path: "a.txt"}, {Path: "b.txt"}}, h.document(t, first.ID).Sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}

func TestRevisionThatFails(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	first := h.ready(t, h.submit(t, "a.txt", "The first version."))
	s := h.submit(t, "a.txt", "damaged goods")
	if job := h.end(t, s.Job.ID); job.Status != store.StatusFailed {
		t.Fatalf("job: %+v", job)
	}
	doc := h.document(t, first.ID)
	if doc.Status != store.StatusFailed || doc.Revision != 1 || h.original(t, doc) != "The first version." ||
		!strings.HasPrefix(doc.Error, "revision 2 failed: the file is damaged") || !strings.HasSuffix(doc.Error, "; revision 1 is still searched") {
		t.Errorf("document: %+v", doc)
	}
	h.verify(t)
	retried := h.submit(t, "a.txt", "damaged goods") // is to try again
	if retried.Job.ID != s.Job.ID || h.end(t, s.Job.ID).Status != store.StatusFailed {
		t.Errorf("sent again: %+v", retried)
	}
	back := h.submit(t, "a.txt", "The first version.")
	if back.DuplicateOf != first.ID || back.Document.Status != store.StatusReady || back.Document.Error != "" {
		t.Errorf("back to the first: %+v", back)
	}
	if n := h.blobCount(t); n != 1 {
		t.Errorf("%d blobs, want 1", n)
	}
	third := h.ready(t, h.submit(t, "a.txt", "The third version."))
	if third.ID != first.ID || third.Revision != 3 {
		t.Errorf("document: %+v", third)
	}
	h.verify(t)
}

// TestRevisionSupersedes sends a newer version while one is being read.
func TestRevisionSupersedes(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	hold := make(chan struct{})
	h.parser.hold = hold
	h.start(t)
	first := h.submit(t, "a.txt", "hold this")
	waitFor(t, func() bool {
		job, err := h.records.Job(t.Context(), first.Job.ID)
		return err == nil && job.Status == store.StatusRunning
	})
	doc := h.ready(t, h.submit(t, "a.txt", "The newer one."))
	if doc.ID != first.Document.ID || doc.Revision != 2 || h.original(t, doc) != "The newer one." {
		t.Errorf("document: %+v", doc)
	}
	if job := h.end(t, first.Job.ID); job.Status != store.StatusCancelled || job.Error != "a newer upload took the place of this one" {
		t.Errorf("the job before: %+v", job)
	}
	if _, err := h.Retry(t.Context(), first.Job.ID); err == nil {
		t.Error("it can be retried")
	}
	close(hold)
	if n := h.blobCount(t); n != 1 {
		t.Errorf("%d blobs, want 1", n)
	}
	h.verify(t)
}

// TestRevisionGoesOnAfterARestart interrupts the embedding of a second version.
func TestRevisionGoesOnAfterARestart(t *testing.T) {
	dir := t.TempDir()
	h := build(t, dir, nil)
	h.start(t)
	first := h.ready(t, h.submit(t, "a.txt", "Short."))
	h.embed.mu.Lock()
	h.embed.texts, h.embed.stop = 0, 8
	h.embed.mu.Unlock()
	s := h.submit(t, "a.txt", long(20))
	waitFor(t, func() bool {
		n, _, err := h.records.ChunkJournal(t.Context(), first.ID, 2)
		return err == nil && n == 8
	})
	h.close(t)

	h = build(t, dir, nil)
	h.start(t)
	doc := h.ready(t, s)
	if doc.Revision != 2 || h.embed.texts != doc.ChunkCount-8 {
		t.Errorf("revision %d, %d of %d chunks embedded after the restart", doc.Revision, h.embed.texts, doc.ChunkCount)
	}
	h.verify(t)
}

func TestSourcesMoveBetweenDocuments(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	a := h.ready(t, h.submit(t, "a.txt", "One text."))
	b := h.ready(t, h.submit(t, "b.txt", "Another text."))
	s := h.submit(t, "b.txt", "One text.")
	if s.DuplicateOf != a.ID {
		t.Fatalf("submitted: %+v", s)
	}
	h.index.mu.Lock()
	_, there := h.index.docs[b.ID]
	h.index.mu.Unlock()
	if there || h.blobCount(t) != 1 {
		t.Errorf("the document without a source is in the index: %t; %d blobs", there, h.blobCount(t))
	}
	if gone, err := h.RemoveSource(t.Context(), "kb", a.ID, store.Source{Path: "a.txt"}); gone || err != nil {
		t.Errorf("removing a source: gone %t, %v", gone, err)
	}
	if gone, err := h.RemoveSource(t.Context(), "kb", a.ID, store.Source{Path: "b.txt"}); !gone || err != nil {
		t.Errorf("removing the last: gone %t, %v", gone, err)
	}
	if h.blobCount(t) != 0 || len(h.index.docs) != 0 {
		t.Errorf("%d blobs, index %v", h.blobCount(t), h.index.docs)
	}
	h.verify(t)
}

func TestUpdateOfADocument(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	s, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: "a.txt", Body: strings.NewReader("A text."), Metadata: store.Metadata{"team": "x", "year": 1.0}})
	if err != nil {
		t.Fatal(err)
	}
	h.ready(t, s)
	got, err := h.UpdateDocument(t.Context(), "kb", s.Document.ID, ingest.DocumentChange{Metadata: store.Metadata{"year": 2.0}, Remove: []string{"team"}})
	if diff := cmp.Diff(store.Metadata{"year": 2.0}, got.Document.Metadata); diff != "" || err != nil || got.Job.ID != "" {
		t.Errorf("%v, job %q, metadata (-want +got):\n%s", err, got.Job.ID, diff)
	}
	title := "A better title"
	got, err = h.UpdateDocument(t.Context(), "kb", s.Document.ID, ingest.DocumentChange{Title: &title})
	if err != nil || got.Job.Revision != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	doc := h.ready(t, got)
	if diff := cmp.Diff([]any{title, 2, store.Metadata{"year": 2.0}}, []any{doc.Title, doc.Revision, doc.Metadata}); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if got, err = h.UpdateDocument(t.Context(), "kb", s.Document.ID, ingest.DocumentChange{Title: &title}); err != nil || got.Job.ID != "" {
		t.Errorf("the same title: %+v, %v", got, err)
	}
	doc = h.ready(t, h.submit(t, "a.txt", "Another text."))
	if diff := cmp.Diff([]any{title, 3, store.Metadata{"year": 2.0}}, []any{doc.Title, doc.Revision, doc.Metadata}); diff != "" {
		t.Errorf("what was given does not hold on (-want +got):\n%s", diff)
	}
	empty := " "
	for name, change := range map[string]ingest.DocumentChange{
		"title": {Title: &empty}, "metadata.x": {Metadata: store.Metadata{"x": 1}},
	} {
		if _, err := h.UpdateDocument(t.Context(), "kb", doc.ID, change); err == nil || !strings.HasPrefix(err.Error(), name) && !strings.Contains(err.Error(), name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.verify(t)
}

// TestManyRevisionsAtOnce lets clients send versions of few files while workers
// are at them: what is acknowledged last of each is what is there in the end.
func TestManyRevisionsAtOnce(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	const files, versions = 4, 12
	last := make([]ingest.Submitted, files)
	done := make(chan int)
	for f := range files {
		go func() {
			defer func() { done <- f }()
			for v := range versions {
				s, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: fmt.Sprintf("%d.txt", f), Body: strings.NewReader(fmt.Sprintf("File %d, version %d.", f, v))})
				if err != nil {
					t.Error(err)
					return
				}
				last[f] = s
				time.Sleep(time.Duration(v%3) * time.Millisecond) // let some of them become visible
			}
		}()
	}
	for range files {
		<-done
	}
	for f, s := range last {
		doc := h.ready(t, s)
		if want := fmt.Sprintf("File %d, version %d.", f, versions-1); h.original(t, doc) != want {
			t.Errorf("file %d is %q, want %q", f, h.original(t, doc), want)
		}
	}
	if n := h.blobCount(t); n != files {
		t.Errorf("%d blobs, want %d", n, files)
	}
	h.verify(t)
}

// TestEmptyFileIsRefused: at once, so that nothing takes its place.
func TestEmptyFileIsRefused(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	h.ready(t, h.submit(t, "a.txt", "text"))
	_, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: "a.txt", Body: strings.NewReader("")})
	var field *store.FieldError
	if !errors.As(err, &field) || field.Field != "file" {
		t.Errorf("%v", err)
	}
	if n := h.blobCount(t); n != 1 {
		t.Errorf("%d blobs, want 1", n)
	}
	h.verify(t)
}
