package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"ragagent/store"
	"ragagent/store/sqlite"
)

// TestWritesTogether lets many writers commit at once, most of them with a
// neighbour that fails: each gets its own answer, and what was acknowledged is
// there after a reopening, what failed is not.
func TestWritesTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{ID: "kb_1", Name: "one"}); err != nil {
		t.Fatal(err)
	}
	const writers, each = 16, 25
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				n := w*each + i
				doc := store.Document{ID: fmt.Sprintf("doc_%04d", n), KnowledgeBaseID: "kb_1", Name: fmt.Sprint(n), SHA256: fmt.Sprintf("%064x", n)}
				want := error(nil)
				ctx, cancel := context.WithCancel(t.Context())
				switch n % 3 {
				case 1:
					doc.KnowledgeBaseID, want = "kb_none", store.ErrNotFound
				case 2:
					cancel()
					want = context.Canceled
				}
				added, err := db.AddDocument(ctx, doc, store.Job{ID: fmt.Sprintf("job_%04d", n), Kind: store.JobIngest, Revision: 1})
				cancel()
				if !errors.Is(err, want) || added.Duplicate {
					t.Errorf("document %d: %v, want %v; duplicate: %t", n, err, want, added.Duplicate)
				}
			}
		})
	}
	all.Wait()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = sqlite.Open(t.Context(), sqlite.Config{Path: path}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it has served its purpose
	for n := range writers * each {
		_, err := db.Document(t.Context(), "kb_1", fmt.Sprintf("doc_%04d", n))
		if (n%3 == 0) != (err == nil) {
			t.Errorf("document %d: %v", n, err)
		}
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// TestPanicInASharedWrite leaves nobody waiting.
func TestPanicInASharedWrite(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "a.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it has served its purpose
	if err := db.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{ID: "kb_1", Name: "one"}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			defer func() { _ = recover() }()
			for i := range 20 {
				_, _ = db.UpdateKnowledgeBase(t.Context(), "kb_1", func(kb *store.KnowledgeBase) error {
					if w == 3 && i%5 == 0 {
						panic("on purpose")
					}
					kb.Description = fmt.Sprint(w, i)
					return nil
				})
			}
		})
	}
	all.Wait()
	if _, err := db.UpdateKnowledgeBase(t.Context(), "kb_1", func(kb *store.KnowledgeBase) error { kb.Description = "last"; return nil }); err != nil {
		t.Fatal(err)
	}
	if kb, err := db.KnowledgeBase(t.Context(), "kb_1"); err != nil || kb.Description != "last" {
		t.Errorf("%q, %v", kb.Description, err)
	}
}
