package retrieval_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"ragagent/store"
)

// reader counts what is read, and fails when told.
type reader struct {
	truth *truth
	read  int
	fail  error
}

func (r *reader) ChunksByID(_ context.Context, ids []string) (chunks []store.Chunk, err error) {
	known := map[string]store.Chunk{}
	for _, c := range r.truth.chunks {
		known[c.ID] = c
	}
	for _, id := range ids {
		chunks = append(chunks, known[id])
	}
	r.read += len(ids)
	return chunks, r.fail
}

// What a restored index lacks is read once; one that was built has it already.
func TestWarm(t *testing.T) {
	f, u := saved(t)
	for i := range 300 {
		u.put(fmt.Sprintf("doc_%d", 1000+i), 1, 1)
	}
	index := shelf(t, f)
	if err := index.Load(t.Context(), kbOne, u.VisibleChunks(t.Context(), "", "")); err != nil {
		t.Fatal(err)
	}
	r := &reader{truth: u}
	if err := index.Warm(t.Context(), r); err != nil || r.read != 0 {
		t.Errorf("%d read of an index that was built: %v", r.read, err)
	}
	if err := index.Save(t.Context(), "kb_1"); err != nil {
		t.Fatal(err)
	}

	index = shelf(t, f)
	if ok, err := index.Restore(t.Context(), kbOne, u); !ok || err != nil {
		t.Fatalf("restored: %t, %v", ok, err)
	}
	broken := errors.New("broken")
	r.fail = broken
	if err := index.Warm(t.Context(), r); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
	r.read, r.fail = 0, nil
	for range 2 {
		if err := index.Warm(t.Context(), r); err != nil || r.read != len(u.chunks) {
			t.Errorf("%d read of %d: %v", r.read, len(u.chunks), err)
		}
	}
}
