package ingest_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

// filtered is an index that is told of changed metadata and sources.
type filtered struct {
	*index
	mu   sync.Mutex
	told []string // documents
}

func (x *filtered) MetadataChanged(_ context.Context, _, documentID string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.told = append(x.told, documentID)
	return nil
}

// since is what was told since the last call, sorted.
func (x *filtered) since() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	told := slices.Sorted(slices.Values(x.told))
	x.told = nil
	return told
}

// TestFiltersFollowSources takes sources from documents that keep others: what
// is filtered by has changed of each document that has one more or one less.
func TestFiltersFollowSources(t *testing.T) {
	x := &filtered{}
	h := build(t, t.TempDir(), func(c *ingest.Config) {
		x.index = c.Indexer.(*index)
		c.Indexer = x
	})
	h.start(t)
	upload := func(path, text string) ingest.Submitted {
		t.Helper()
		s, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: "a.txt", Path: path, Body: strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		h.end(t, s.Job.ID)
		return s
	}
	told := func(what string, want ...string) {
		t.Helper()
		slices.Sort(want)
		if diff := cmp.Diff(want, x.since()); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	one := upload("x/a.txt", "One text.").Document.ID
	told("a new document")
	upload("y/a.txt", "One text.")
	upload("z/a.txt", "One text.")
	told("two more sources", one, one)
	two := upload("y/a.txt", "Another text.").Document.ID
	told("a source that goes its own way", one)
	upload("z/a.txt", "Another text.")
	told("a source that moves", one, two)
	gone, err := h.RemoveSource(t.Context(), "kb", two, store.Source{Path: "z/a.txt"})
	if err != nil || gone {
		t.Fatal(gone, err)
	}
	told("a source that is removed", two)
}
