package sqlite_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/store/sqlite"
)

// TestDroppedBlobs: what deleted documents referred to is remembered in the
// same transaction, also when they go with their knowledge base.
func TestDroppedBlobs(t *testing.T) {
	db := open(t, populate(t))
	want := func(hashes ...string) {
		t.Helper()
		got, _, err := db.DroppedBlobs(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(hashes, got); diff != "" {
			t.Errorf("dropped (-want +got):\n%s", diff)
		}
	}
	want()
	doc, err := db.DeleteDocument(t.Context(), crashKB, crashDoc(4).ID)
	if err != nil {
		t.Fatal(err)
	}
	all := append([]string{doc.SHA256}, texts(doc.TextSHA256)...)
	want(sorted(all)...)
	for _, n := range []int{5, 6} {
		doc, err := db.Document(t.Context(), "", crashDoc(n).ID)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, doc.SHA256), texts(doc.TextSHA256)...)
	}
	if err := db.DeleteKnowledgeBase(t.Context(), crashKB); err != nil {
		t.Fatal(err)
	}
	want(sorted(all)...)
	for range all { // one deletion at a time, each with up to two blobs
		hashes, upTo, err := db.DroppedBlobs(t.Context(), 1)
		if err == nil {
			err = db.ForgetDropped(t.Context(), upTo)
		}
		if err != nil || len(hashes) > 2 {
			t.Fatalf("%d blobs, %v", len(hashes), err)
		}
	}
	want()
}

// TestDeletionsAreKeptUntilSwept deletes more documents in one transaction than
// are remembered of those that are swept.
func TestDeletionsAreKeptUntilSwept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	db := open(t, path)
	raw, err := sqlite.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, raw)
	insert := func(from, n int) {
		t.Helper()
		if _, err := raw.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1 + ?2)
			INSERT INTO deleted_documents (id, kb_id, revision, sha256, text_sha256, deleted_at)
			SELECT 'doc_' || i, 'kb', 1, 'hash ' || i, '', 0 FROM n`, from, n); err != nil {
			t.Fatal(err)
		}
	}
	const many = 100_300
	insert(0, many)
	swept := 0
	for {
		hashes, upTo, err := db.DroppedBlobs(t.Context(), 30_000)
		if err == nil {
			err = db.ForgetDropped(t.Context(), upTo)
		}
		if err != nil {
			t.Fatal(err)
		}
		if upTo == 0 {
			break
		}
		swept += len(hashes)
	}
	if swept != many {
		t.Errorf("%d of %d were swept", swept, many)
	}
	insert(many, 1)
	var left int
	if err := raw.QueryRowContext(t.Context(), `SELECT count(*) FROM deleted_documents`).Scan(&left); err != nil || left > 2 {
		t.Errorf("%d are remembered, of which one is younger than 90 days: %v", left, err)
	}
}

func TestDroppedTexts(t *testing.T) {
	db := open(t, populate(t))
	doc, err := db.Document(t.Context(), "", crashDoc(6).ID)
	if err != nil {
		t.Fatal(err)
	}
	old := doc.TextSHA256
	for _, hash := range []string{old, "another", "a third"} { // the same again drops nothing
		doc.TextSHA256 = hash
		if err := db.SetParsed(t.Context(), crashJob(6).ID, doc); err != nil {
			t.Fatal(err)
		}
	}
	got, _, err := db.DroppedBlobs(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sorted([]string{old, "another"}), got); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}

// texts is the hash of a text, nothing if there is none.
func texts(hash string) []string {
	if hash == "" {
		return nil
	}
	return []string{hash}
}

func sorted(hashes []string) []string { return slices.Sorted(slices.Values(hashes)) }
