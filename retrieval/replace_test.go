package retrieval_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
)

// TestReplaceLong: a document of more chunks than are held at a time is whole or
// is what it was before.
func TestReplaceLong(t *testing.T) {
	for _, n := range []int{4095, 4096, 4097, 8192, 10_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := newWorld(t, nil)
			kb := w.bases["kb_1"]
			revision := func(revision, n int) (chunks []store.Chunk, ids, withVector []string) {
				for i := range n {
					c := store.Chunk{KnowledgeBaseID: kb.ID, DocumentID: "doc", Revision: revision, Ordinal: i, Text: fmt.Sprintf("chunk %d", i)}
					c.ID = store.ChunkID("doc", revision, i, c.Text)
					if i%3 != 0 {
						c.Vector = make([]float32, len(signs))
						c.Vector[i%len(signs)] = 1
						withVector = append(withVector, c.ID)
					}
					chunks, ids = append(chunks, c), append(ids, c.ID)
				}
				slices.Sort(ids)
				slices.Sort(withVector)
				return chunks, ids, withVector
			}
			want := func(words, vectors []string) {
				t.Helper()
				gotWords, gotVectors, err := w.index.Contents(t.Context(), kb.ID)
				if diff := cmp.Diff([][]string{words, vectors}, [][]string{gotWords, gotVectors}); err != nil || diff != "" {
					t.Errorf("%v, contents (-want +got):\n%.2000s", err, diff)
				}
			}
			first, ids, withVector := revision(1, 5000)
			check(t, w.index.Replace(t.Context(), kb, "doc", sequence(first)))
			want(ids, withVector)

			second, newIDs, newWithVector := revision(2, n)
			lost := errors.New("the disk is gone")
			err := w.index.Replace(t.Context(), kb, "doc", func(yield func(store.Chunk, error) bool) {
				for _, c := range second {
					if !yield(c, nil) {
						return
					}
				}
				yield(store.Chunk{}, lost)
			})
			if !errors.Is(err, lost) {
				t.Errorf("an error behind the last chunk: %v", err)
			}
			want(ids, withVector)

			check(t, w.index.Replace(t.Context(), kb, "doc", sequence(second)))
			want(newIDs, newWithVector)
			check(t, w.index.Replace(t.Context(), kb, "doc", sequence(nil)))
			want([]string{}, []string{})
		})
	}
}
