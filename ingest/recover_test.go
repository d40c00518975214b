package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

// keep puts content among the blobs that no document refers to, as an upload
// does that is killed before it is recorded (under way), or somebody else.
func (h *house) keep(t *testing.T, content string, underWay bool) string {
	t.Helper()
	staged, err := h.blobs.Stage(t.Context(), strings.NewReader(content), 1<<20)
	if err == nil {
		err = staged.Commit()
	}
	if err == nil && !underWay {
		err = staged.Discard()
	}
	if err != nil {
		t.Fatal(err)
	}
	return staged.SHA256()
}

func (h *house) listed(t *testing.T) []string {
	t.Helper()
	var all []string
	for hash, err := range h.blobs.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, hash)
	}
	return all
}

func (h *house) has(t *testing.T, hash string) bool { return slices.Contains(h.listed(t), hash) }

// TestRecoverRemovesUnfinishedUploads: however many there were at once, and
// nothing else.
func TestRecoverRemovesUnfinishedUploads(t *testing.T) {
	dir := t.TempDir()
	h := build(t, dir, nil)
	h.start(t)
	kept := h.submit(t, "a.txt", "A text.")
	h.end(t, kept.Job.ID)
	foreign := h.keep(t, "nobody knows whose", false)
	for _, content := range []string{"killed", "killed too", "A text."} { // the last is recorded
		h.keep(t, content, true)
	}
	h.close(t)
	h = build(t, dir, nil)
	for range 2 { // once more does nothing
		if err := h.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{kept.Document.SHA256, foreign}
		slices.Sort(want)
		if diff := cmp.Diff(want, h.listed(t)); diff != "" {
			t.Errorf("blobs (-want +got):\n%s", diff)
		}
	}
	if left, err := h.blobs.Unsettled(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("still under way: %v, %v", left, err)
	}
}

// TestRecoverFinishesDeletions: the records forgot a document, the process
// ended before its blobs were gone.
func TestRecoverFinishesDeletions(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	gone := h.submit(t, "gone.txt", "A text that goes.")
	h.end(t, gone.Job.ID)
	h.end(t, h.submit(t, "stays.txt", "A text that stays.").Job.ID)
	if _, err := h.records.DeleteDocument(t.Context(), "", gone.Document.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The text of this parser is the original: one blob for each document.
	if all := h.listed(t); len(all) != 1 || all[0] == gone.Document.SHA256 {
		t.Errorf("blobs: %v", all)
	}
}

// cutOff are records of many deletions of which nobody knows whether their blobs
// are gone.
type cutOff struct {
	ingest.Records
	mu     sync.Mutex
	hashes []string
	done   int
}

func (r *cutOff) DroppedBlobs(_ context.Context, limit int) ([]string, int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	some := r.hashes[r.done:min(len(r.hashes), r.done+limit)]
	if len(some) == 0 {
		return nil, 0, nil
	}
	return slices.Clone(some), int64(r.done + len(some)), nil
}

func (r *cutOff) ForgetDropped(_ context.Context, upTo int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = int(upTo)
	return nil
}

func (r *cutOff) left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.hashes) - r.done
}

// TestManyDeletionsCutOff has a kill come between the records and the blobs of
// more deletions than a start looks after at once: the rest goes in the
// background, and none is forgotten while a backup holds blobs back.
func TestManyDeletionsCutOff(t *testing.T) {
	records := &cutOff{}
	h := build(t, t.TempDir(), func(c *ingest.Config) {
		records.Records = c.Records
		c.Records = records
	})
	for i := range 25_000 {
		hash := fmt.Sprintf("%064x", i)
		if i%5000 == 0 {
			hash = h.keep(t, fmt.Sprintf("text %d", i), false)
		}
		records.hashes = append(records.hashes, hash)
	}
	release := h.HoldBlobs()
	for range 2 {
		if err := h.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if all := h.listed(t); len(all) != 5 || records.left() != 25_000 {
		t.Errorf("%d blobs, %d deletions, during a hold", len(all), records.left())
	}
	release()
	if err := h.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := h.listed(t); len(all) != 3 || records.left() != 15_000 {
		t.Errorf("%d blobs, %d deletions, after a start", len(all), records.left())
	}
	h.start(t)
	waitFor(t, func() bool { return records.left() == 0 })
	if all := h.listed(t); len(all) != 0 {
		t.Errorf("left behind: %v", all)
	}
}

// TestHoldBlobs: what is deleted during a hold goes when the last one ends.
func TestHoldBlobs(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	s := h.submit(t, "a.txt", "Held for a while.")
	h.end(t, s.Job.ID)
	first, second := h.HoldBlobs(), h.HoldBlobs()
	if err := h.DeleteDocument(t.Context(), "kb", s.Document.ID); err != nil {
		t.Fatal(err)
	}
	first()
	first() // once more does nothing
	if !h.has(t, s.Document.SHA256) {
		t.Error("the blob went during a hold")
	}
	second()
	if all := h.listed(t); len(all) != 0 {
		t.Errorf("left behind: %v", all)
	}
	again := h.submit(t, "a.txt", "Held for a while.")
	h.end(t, again.Job.ID)
	release := h.HoldBlobs()
	if err := h.DeleteDocument(t.Context(), "kb", again.Document.ID); err != nil {
		t.Fatal(err)
	}
	back := h.submit(t, "a.txt", "Held for a while.") // before the hold ends
	release()
	h.end(t, back.Job.ID)
	if !h.has(t, back.Document.SHA256) {
		t.Error("the end of a hold took a blob that is in use again")
	}
	h.verify(t)
}

// TestBlobsWithoutARecordDoNotWait: a hold keeps what documents referred to; a
// blob that none ever did goes at once, because nothing remembers it.
func TestBlobsWithoutARecordDoNotWait(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	other, err := h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	kept := h.submit(t, "a.txt", "In both.")
	h.end(t, kept.Job.ID)
	defer h.HoldBlobs()()
	if err := h.DeleteDocument(t.Context(), "kb", kept.Document.ID); err != nil {
		t.Fatal(err)
	}
	// The knowledge base goes while the upload is read.
	for _, text := range []string{"Never referred to.", "In both."} {
		body := io.MultiReader(strings.NewReader(text), atEnd(func() {
			err := h.records.DeleteKnowledgeBase(t.Context(), other.ID)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
		}))
		_, err := h.Submit(t.Context(), other.ID, ingest.Upload{Name: "late.txt", Body: body})
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("submit: %v", err)
		}
		if other, err = h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "other"}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{kept.Document.SHA256}, h.listed(t)); diff != "" {
		t.Errorf("blobs during the hold (-want +got):\n%s", diff)
	}
}

// atEnd is an empty body that calls a function when it is read.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}
