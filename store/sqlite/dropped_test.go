package sqlite_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDroppedBlobs: what deleted documents referred to is remembered in the
// same transaction, also when they go with their knowledge base.
func TestDroppedBlobs(t *testing.T) {
	db := open(t, populate(t))
	want := func(hashes ...string) {
		t.Helper()
		got, err := db.DroppedBlobs(t.Context())
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
	if err := db.ForgetDropped(t.Context()); err != nil {
		t.Fatal(err)
	}
	want()
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
	got, err := db.DroppedBlobs(t.Context())
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
