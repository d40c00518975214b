package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
	"ragagent/store/sqlite"
)

func TestOpenRefusesBadSettings(t *testing.T) {
	for _, cfg := range []sqlite.Config{{}, {Path: "x", Readers: -1}, {Path: "x", Readers: 65}} {
		if _, err := sqlite.Open(t.Context(), cfg); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: error is %v, want %v", cfg, err, store.ErrInvalid)
		}
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "none", "x.db")}); err == nil {
		t.Error("a file in a folder that is not there was opened")
	}
}

func TestOpenAgain(t *testing.T) {
	path := populate(t)
	for range 2 { // migrated once, found as it was
		db := open(t, path)
		doc, err := db.Document(t.Context(), "", crashDoc(4).ID)
		if err != nil || doc.Status != store.StatusReady {
			t.Errorf("document is %q, %v", doc.Status, err)
		}
	}
}

func TestOpenTakesAnyPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `a b?c%41#d&mode=ro;'"ü`)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db := open(t, filepath.Join(dir, "records.db"))
	if err := db.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{ID: "kb_1", Name: "one"}); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 || entries[0].Name() != "records.db" {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestANewerFileIsRefused(t *testing.T) {
	path := populate(t)
	damage(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if !errors.Is(err, store.ErrConflict) {
		t.Fatalf("error is %v, want %v", err, store.ErrConflict)
	}
	for _, part := range []string{path, "9999", "newer ragagent"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message %q does not say %q", err, part)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !slices.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestSomethingElseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	content := []byte(strings.Repeat("this is no database. ", 1000))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); err == nil {
		t.Fatal("a text was opened as a database")
	}
	if after, err := os.ReadFile(path); err != nil || !slices.Equal(content, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

// A commit is synced and foreign keys hold on the connection that writes.
func TestSettingsOfTheFile(t *testing.T) {
	path := populate(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, db)
	var mode string
	var page int
	if err := db.QueryRowContext(t.Context(), `SELECT journal_mode, page_size FROM pragma_journal_mode, pragma_page_size`).Scan(&mode, &page); err != nil {
		t.Fatal(err)
	}
	if mode != "wal" || page != 8192 {
		t.Errorf("journal mode %s, page size %d, want wal and 8192", mode, page)
	}
}

func TestReadsDoNotWaitForAWriter(t *testing.T) {
	path := populate(t)
	db := open(t, path)
	other, err := sqlite.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, other)
	tx, err := other.BeginTx(t.Context(), nil) // holds the write lock to the end
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), `UPDATE documents SET name = 'changed'`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // less than the writer's patience
	defer cancel()
	doc, err := db.Document(ctx, "", crashDoc(4).ID)
	if err != nil || doc.Name != "a.txt" {
		t.Errorf("document is %q, %v", doc.Name, err)
	}
	seen := 0
	for _, err := range db.VisibleChunks(ctx, crashKB, "") {
		if err != nil {
			t.Fatal(err)
		}
		seen++
	}
	if want := len(crashChunks(4)); seen != want {
		t.Errorf("%d chunks, want %d", seen, want)
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 10, time.UTC)
	path := populate(t)
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, db)
	job, err := db.RetryJob(t.Context(), crashJob(5).ID)
	if err != nil || !job.UpdatedAt.Equal(now) {
		t.Errorf("job was updated at %v, %v, want %v", job.UpdatedAt, err, now)
	}
	doc, err := db.Document(t.Context(), "", crashDoc(5).ID)
	if err != nil || !doc.UpdatedAt.Equal(now) {
		t.Errorf("document was updated at %v, %v, want %v", doc.UpdatedAt, err, now)
	}
}

func TestReferencedBlobs(t *testing.T) {
	db := open(t, populate(t))
	if err := db.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{ID: "kb_2", Name: "two"}); err != nil {
		t.Fatal(err)
	}
	again := crashDoc(6)
	again.ID, again.KnowledgeBaseID, again.TextSHA256 = "doc_again", "kb_2", ""
	if _, err := db.AddDocument(t.Context(), again, crashJob(9)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for hash, err := range db.ReferencedBlobs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, hash)
	}
	var want []string
	for n := 8; n <= 13; n++ {
		want = append(want, fmt.Sprintf("%064x", n))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blobs (-want +got):\n%s", diff)
	}
}
