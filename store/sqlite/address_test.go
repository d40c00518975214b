package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"ragagent/store"
	"ragagent/store/sqlite"
)

// TestFetchedAddressStays orders a URL that its job has fetched already: what
// the fetch wrote down holds.
func TestFetchedAddressStays(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "a.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it has served its purpose
	if err := db.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{ID: "kb_1", Name: "one"}); err != nil {
		t.Fatal(err)
	}
	doc := store.Document{ID: "doc_1", KnowledgeBaseID: "kb_1", Name: "a", SHA256: "00"}
	if _, err := db.AddDocument(t.Context(), doc, store.Job{ID: "job_1", Kind: store.JobFetch, Revision: 1}); err != nil {
		t.Fatal(err)
	}
	ordered := store.Address{KnowledgeBaseID: "kb_1", DocumentID: "doc_1", URL: "https://a.example/", Refresh: time.Hour}
	fetched := ordered
	fetched.FetchedAt = time.Unix(100, 0).UTC()
	fetched.NextAt, fetched.ETag = fetched.FetchedAt.Add(time.Hour), "tag"
	for _, put := range []store.Address{ordered, fetched, ordered} {
		if err := db.PutAddress(t.Context(), put); err != nil {
			t.Fatal(err)
		}
	}
	if a, err := db.Address(t.Context(), "kb_1", fetched.URL); err != nil || a != fetched {
		t.Errorf("got %+v, %v, want %+v", a, err, fetched)
	}
}
