package ingest_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragagent/ingest"
	"ragagent/store"
)

// twoHouses is a data folder with documents in the knowledge bases "kb" and
// "other"; it returns those of "kb".
func twoHouses(t *testing.T, dir string) []store.Document {
	t.Helper()
	h := build(t, dir, nil)
	h.start(t)
	if _, err := h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "other"}); err != nil {
		t.Fatal(err)
	}
	other, err := h.Submit(t.Context(), "other", ingest.Upload{Name: "o.txt", Body: strings.NewReader("Untouched.")})
	if err != nil {
		t.Fatal(err)
	}
	h.end(t, other.Job.ID)
	var docs []store.Document
	for i := range 3 {
		s := h.submit(t, fmt.Sprintf("%d.txt", i), fmt.Sprintf("%s\n\nNumber %d.", long(3), i))
		h.end(t, s.Job.ID)
		doc, err := h.records.Document(t.Context(), "", s.Document.ID)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	h.verify(t)
	h.close(t)
	return docs
}

// execute changes the records behind the store's back, but as if it had been
// done while they were open.
func execute(t *testing.T, dir, statement string, args ...any) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, "records.db.sums")); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "records.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // what matters has been committed
	restore := withoutSeals(t, db)
	res, err := db.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("nothing was damaged: %d rows, %v", n, err)
	}
	restore()
}

// withoutSeals takes away the triggers that keep the checksums of rows: damage
// does not ask them.
func withoutSeals(t *testing.T, db *sql.DB) (restore func()) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%row_sum%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	triggers := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			t.Fatal(err)
		}
		triggers[name] = text
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	all := func(statement func(name string) string) {
		for name := range triggers {
			if _, err := db.ExecContext(t.Context(), statement(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	all(func(name string) string { return `DROP TRIGGER ` + name })
	return func() { all(func(name string) string { return triggers[name] }) }
}

func blobPath(dir, hash string) string { return filepath.Join(dir, "blobs", hash[:2], hash[2:]) }

const ofDocument = ` WHERE ordinal = 1 AND document = (SELECT key FROM documents WHERE id = ?)`

// TestDamage does one damage at a time: the other knowledge base is loaded and
// whole, and verify names the place and says what to do.
func TestDamage(t *testing.T) {
	sound := t.TempDir()
	doc := twoHouses(t, sound)[1]
	for _, c := range []struct {
		name        string
		damage      func(t *testing.T, dir string, doc store.Document)
		quarantined bool
		where, says string // parts of one problem; DOC stands for the document's id
	}{
		{"vector cut", func(t *testing.T, dir string, doc store.Document) {
			execute(t, dir, `UPDATE chunks SET vector = x'00003f'`+ofDocument, doc.ID)
		}, true, "document DOC", "a vector is stored in 3 bytes"},
		{"text cut", func(t *testing.T, dir string, doc store.Document) {
			execute(t, dir, `UPDATE chunks SET text = substr(text, 1, 40)`+ofDocument, doc.ID)
		}, true, "document DOC", "does not hold its text of 40 bytes"},
		{"text changed", func(t *testing.T, dir string, doc store.Document) {
			execute(t, dir, `UPDATE chunks SET text = replace(text, 'Some', 'Sume')`+ofDocument, doc.ID)
		}, true, "document DOC", "its text is not the one it was stored with"},
		{"chunk lost", func(t *testing.T, dir string, doc store.Document) {
			execute(t, dir, `DELETE FROM chunks`+ofDocument, doc.ID)
		}, false, "document DOC", "it says to be number 2"},
		{"metadata unreadable", func(t *testing.T, dir string, doc store.Document) {
			execute(t, dir, `UPDATE documents SET metadata = '{' WHERE id = ?`, doc.ID)
		}, false, "knowledge base kb", "cannot be read: list its documents"},
		{"original changed", func(t *testing.T, dir string, doc store.Document) {
			change(t, blobPath(dir, doc.SHA256), func(raw []byte) []byte { raw[7] ^= 1; return raw })
		}, false, "document DOC", "its blob SHA has changed"},
		{"original cut", func(t *testing.T, dir string, doc store.Document) {
			change(t, blobPath(dir, doc.SHA256), func(raw []byte) []byte { return raw[:len(raw)/2] })
		}, false, "document DOC", "its blob SHA has changed"},
		{"original lost", func(t *testing.T, dir string, doc store.Document) {
			if err := os.Remove(blobPath(dir, doc.SHA256)); err != nil {
				t.Fatal(err)
			}
		}, false, "document DOC", "its blob SHA is missing"},
		{"original is a folder", func(t *testing.T, dir string, doc store.Document) {
			p := blobPath(dir, doc.SHA256)
			if err := errors.Join(os.Remove(p), os.Mkdir(p, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, false, "document DOC", "its blob SHA cannot be read"},
		{"stray file", func(t *testing.T, dir string, _ store.Document) {
			if err := os.WriteFile(filepath.Join(dir, "blobs", "00", "note.txt"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false, "file blobs/00/note.txt", "it is no blob"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
				t.Fatal(err)
			}
			c.damage(t, dir, doc)
			h := build(t, dir, nil)
			if err := h.Load(t.Context(), nil); err != nil {
				t.Fatalf("load: %v", err)
			}
			kb, err := h.records.KnowledgeBase(t.Context(), "kb")
			if err != nil {
				t.Fatal(err)
			}
			var q *ingest.QuarantineError
			if got := h.Quarantined(kb.ID); (got != nil) != c.quarantined || got != nil && !errors.As(got, &q) {
				t.Errorf("quarantined: %v", got)
			}
			other, err := h.records.KnowledgeBase(t.Context(), "other")
			if err != nil || h.Quarantined(other.ID) != nil {
				t.Errorf("the other one: %v, %v", err, h.Quarantined(other.ID))
			}
			report, err := h.Verify(t.Context(), ingest.Verification{})
			if err != nil {
				t.Fatal(err)
			}
			where := strings.ReplaceAll(c.where, "DOC", doc.ID)
			says := strings.ReplaceAll(c.says, "SHA", doc.SHA256)
			found := false
			for _, p := range report.Problems {
				found = found || strings.HasPrefix(p.Where, where) && strings.Contains(p.Detail, says) && p.Action != ""
				if strings.Contains(p.Where, "other") {
					t.Errorf("the other knowledge base: %+v", p)
				}
			}
			if !found {
				t.Errorf("want a problem of %q with %q, got %+v", where, says, report.Problems)
			}
		})
	}
}

func change(t *testing.T, path string, to func([]byte) []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, to(raw), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestQuarantineEnds: uploads are refused while it lasts; deleting the damaged
// document ends it.
func TestQuarantineEnds(t *testing.T) {
	dir := t.TempDir()
	docs := twoHouses(t, dir)
	execute(t, dir, `UPDATE chunks SET vector = x'00003f'`+ofDocument, docs[1].ID)
	h := build(t, dir, nil)
	h.start(t)
	err := h.Quarantined(h.kb.ID)
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), docs[1].ID) {
		t.Fatalf("quarantine: %v", err)
	}
	if _, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: "new.txt", Body: strings.NewReader("new")}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("submit: %v", err)
	}
	if err := h.DeleteDocument(t.Context(), "kb", docs[0].ID); err != nil {
		t.Fatal(err)
	}
	if h.Quarantined(h.kb.ID) == nil {
		t.Error("the quarantine ended while the damage is there")
	}
	if err := h.DeleteDocument(t.Context(), "kb", docs[1].ID); err != nil {
		t.Fatal(err)
	}
	if err := h.Quarantined(h.kb.ID); err != nil {
		t.Errorf("after the damaged document was deleted: %v", err)
	}
	s := h.submit(t, "new.txt", "A new text.")
	if job := h.end(t, s.Job.ID); job.Status != store.StatusReady {
		t.Errorf("job: %+v", job)
	}
	h.verify(t)
}
