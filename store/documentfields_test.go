package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
)

func TestDocumentFields(t *testing.T) {
	d := store.Document{
		ID: "doc_1", Name: "c.md", Bytes: 0, Pages: 3, CreatedAt: time.Date(2024, 5, 1, 12, 0, 0, 0, time.FixedZone("", 3600)),
		Sources:  []store.Source{{Origin: "sync:x", Path: "a/b/c.md"}, {Path: "/a/d/e/c.md"}},
		Metadata: store.Metadata{"name": "mine", "year": 2020.},
	}
	got := map[string]any{}
	for _, name := range d.FieldNames() {
		got[name] = d.Field(name)
	}
	want := map[string]any{
		"document_id": "doc_1", "name": "mine", "year": 2020., "bytes": 0., "pages": 3., "created_at": "2024-05-01T11:00:00Z",
		"path": "a/b/c.md", "origin": "sync:x", "folder": []string{"a", "a/b", "a/d", "a/d/e"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d.Field("title") != nil || d.Field("nope") != nil {
		t.Error("there is a field without a value")
	}
	d.Metadata["path"] = "x/y"
	if diff := cmp.Diff([]string{"x"}, d.Field("folder")); diff != "" {
		t.Error(diff)
	}
	names := d.FieldNames()
	slices.Sort(names)
	if len(slices.Compact(names)) != 9 {
		t.Errorf("%v", names)
	}
}
