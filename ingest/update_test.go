package ingest_test

import (
	"errors"
	"strconv"
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

// TestMetadataOfADuplicate: the same bytes with other metadata set them of the
// document that is there, visible or only on its way, and leave the others.
func TestMetadataOfADuplicate(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	submit := func(text string, given store.Metadata) ingest.Submitted {
		s, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: "a.txt", Body: strings.NewReader(text), Metadata: given})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	h.ready(t, submit("first", store.Metadata{"year": "old", "kept": []string{"a"}}))
	again := submit("first", store.Metadata{"year": 2024.0, "kept": []string{"a"}})
	want := store.Metadata{"year": 2024.0, "kept": []string{"a"}}
	for what, got := range map[string]store.Document{"the answer": again.Document, "the record": h.document(t, again.Document.ID)} {
		if diff := cmp.Diff([]store.Metadata{want, want}, []store.Metadata{got.Metadata, got.GivenMetadata}); diff != "" || got.Revision != 1 || again.DuplicateOf == "" {
			t.Errorf("%s, revision %d: %s", what, got.Revision, diff)
		}
	}
	submit("first", store.Metadata{"year": 2024.0})
	submit("first", nil)
	if doc := h.document(t, again.Document.ID); !doc.UpdatedAt.Equal(again.Document.UpdatedAt) {
		t.Errorf("nothing is new, and it was written at %v and %v", again.Document.UpdatedAt, doc.UpdatedAt)
	}
	if h.index.timesTold(again.Document.ID) == 0 {
		t.Error("filters do not know of it")
	}

	if _, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: "a.txt", Body: strings.NewReader("first"), Metadata: store.Metadata{"": "x"}}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("an empty key: %v", err)
	}
	many := store.Metadata{}
	for i := range 63 {
		many[strconv.Itoa(i)] = true
	}
	if _, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: "a.txt", Body: strings.NewReader("first"), Metadata: many}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("65 keys together: %v", err)
	}

	hold := make(chan struct{})
	h.parser.mu.Lock()
	h.parser.hold = hold
	h.parser.mu.Unlock()
	second := submit("hold the second", nil)
	if submit("hold the second", store.Metadata{"state": "draft"}).DuplicateOf != second.Document.ID {
		t.Error("bytes on their way are not a duplicate")
	}
	close(hold)
	doc := h.ready(t, second)
	want["state"] = "draft"
	if diff := cmp.Diff(want, doc.Metadata); diff != "" || doc.Revision != 2 {
		t.Errorf("revision %d: %s", doc.Revision, diff)
	}
	h.verify(t)
}

// TestMetadataOfAURLThatIsKnown: asked for again, and found to be another
// document's content.
func TestMetadataOfAURLThatIsKnown(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "One.", "/b": "One."})
	h := build(t, t.TempDir(), fetching(t, s, newClock()))
	h.start(t)
	first := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/a", Metadata: store.Metadata{"team": "a"}})
	h.end(t, first.Job.ID)
	again := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/a", Metadata: store.Metadata{"team": "b", "year": 2024.0}})
	if diff := cmp.Diff(store.Metadata{"team": "b", "year": 2024.0}, again.Document.Metadata); diff != "" {
		t.Error(diff)
	}
	other := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/b", Metadata: store.Metadata{"state": "final"}})
	h.end(t, other.Job.ID)
	doc := h.document(t, first.Document.ID)
	if diff := cmp.Diff(store.Metadata{"team": "b", "year": 2024.0, "state": "final"}, doc.Metadata); diff != "" || len(doc.Sources) != 2 {
		t.Errorf("%v: %s", doc.Sources, diff)
	}
	if _, err := h.SubmitURL(t.Context(), "kb", ingest.URLOrder{URL: s.URL + "/a", Metadata: store.Metadata{"": "x"}}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("an empty key: %v", err)
	}
	h.verify(t)
}
