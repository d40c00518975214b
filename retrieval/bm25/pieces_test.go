package bm25

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
)

// inPieces returns an index whose segments have one chunk, and a document of n
// chunks, each with a word of its own.
func inPieces(t testing.TB, n int) (*Index, []store.Chunk) {
	x := newIndex(t)
	x.shop.batchBytes, x.shop.segmentTokens = 1, 1
	var chunks []store.Chunk
	for i := range n {
		chunks = append(chunks, chunk("long", i, "", fmt.Sprintf("common word%d", i)))
	}
	replace(t, x, "kb", "long", chunks...)
	return x, chunks
}

// A document in pieces is one document: its chunks are neighbours, and it comes
// and goes as a whole.
func TestDocumentInPieces(t *testing.T) {
	x, chunks := inPieces(t, 5)
	if n := len(x.collection("kb").snapshot.Load().views); n < 2 {
		t.Fatalf("it is in %d segments", n)
	}
	want := []string{"long#0", "long#1", "long#2", "long#3", "long#4"}
	if diff := cmp.Diff(want, x.DocumentChunks("kb", "long")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]store.IndexedDocument{{ID: "long", Chunks: 5}}, documents(x, "kb")); diff != "" {
		t.Error(diff)
	}
	y := newIndex(t)
	load(t, y, "kb", chunks...)
	for i := range chunks {
		query := fmt.Sprintf("word%d common", i)
		if diff := cmp.Diff(neighbours(t, y, query), neighbours(t, x, query)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	if diff := cmp.Diff(want, x.Remove("kb", []string{"long"})); diff != "" {
		t.Error(diff)
	}
	if s := x.collection("kb").snapshot.Load(); len(s.views) != 0 || s.joints != nil || len(documents(x, "kb")) != 0 {
		t.Error("something is left of it")
	}
}

// neighbours describes the hits of a query with the ids of their neighbours.
func neighbours(t testing.TB, x *Index, query string) (hits []string) {
	m, err := x.Search(t.Context(), []string{"kb"}, query)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	id := map[int64]string{-1: "-"}
	top := m.Top(100)
	for _, h := range top {
		id[int64(h.Ref)] = h.ID
	}
	for _, h := range top {
		hits = append(hits, fmt.Sprintf("%s %s %s %v %v %v", h.ID, id[int64(h.Before)], id[int64(h.After)], h.Score, h.Words, h.Surface))
	}
	return hits
}

// A saved document that lacks a piece is refused.
func TestRestoreOfPieces(t *testing.T) {
	x, _ := inPieces(t, 3)
	saved := save(t, x, "kb")
	y := newIndex(t)
	if err := y.Restore(t.Context(), "kb", saved); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(neighbours(t, x, "common"), neighbours(t, y, "common")); diff != "" {
		t.Error(diff)
	}
	first, err := decodeSegments(t.Context(), saved)
	if err != nil {
		t.Fatal(err)
	}
	for missing := range first {
		c := newCollection("kb", x.shop)
		some := append(append([]*segment{}, first[:missing]...), first[missing+1:]...)
		if last := first[missing].documents[0].offset+first[missing].documents[0].count == 3; c.adopt(some) != last {
			t.Errorf("without piece %d: %v", missing, !last)
		}
	}
	binary.LittleEndian.PutUint32(saved[len(magic)+8:], 99)
	if err := y.Restore(t.Context(), "kb", saved); !errors.Is(err, store.ErrDamaged) {
		t.Error(err)
	}
}

// What is being built counts while it is, and not after.
func TestBuildingCounts(t *testing.T) {
	x, _ := inPieces(t, 1)
	before, most := x.Bytes(), int64(0)
	chunks := func(yield func(store.Chunk, error) bool) {
		for i := range 300 {
			if !yield(chunk("other", i, "", fmt.Sprintf("common word%d", i)), nil) {
				return
			}
			most = max(most, x.Bytes())
		}
	}
	if err := x.Replace(t.Context(), "kb", "other", chunks); err != nil {
		t.Fatal(err)
	}
	if most <= before {
		t.Errorf("%d bytes while building, %d before", most, before)
	}
	if n := x.shop.building.Load(); n != 0 {
		t.Errorf("%d bytes are left of building", n)
	}
	failed := errors.New("no more")
	err := x.Replace(t.Context(), "kb", "other", func(yield func(store.Chunk, error) bool) {
		for i := range 9 {
			yield(chunk("other", i, "", "common"), nil)
		}
		yield(store.Chunk{}, failed)
	})
	if n := x.shop.building.Load(); n != 0 || !errors.Is(err, failed) {
		t.Errorf("%d bytes are left of building: %v", n, err)
	}
}
