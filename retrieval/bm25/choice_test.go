package bm25

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/retrieval"
	"ragagent/retrieval/attributes"
	"ragagent/store"
)

// Of chosen documents, Top finds what it finds of all, less the others: whether
// few are chosen or most.
func TestTopOfChosen(t *testing.T) {
	vocabulary := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu")
	rapid.Check(t, func(t *rapid.T) {
		index := drawIndex(t)
		seed := rapid.Uint32().Draw(t, "seed")
		next := func(n int) int {
			seed = seed*1664525 + 1013904223
			return int(seed>>8) % n
		}
		share := rapid.SampledFrom([]int{1, 2, 10, 50, 100}).Draw(t, "share")
		sets := map[string]retrieval.DocumentSet{}
		chosen := map[string]bool{}
		names := []string{"one", "two"}
		for _, name := range names {
			table := attributes.New()
			for d := range rapid.IntRange(0, 150).Draw(t, "documents") {
				id := fmt.Sprintf("%s-%d", name, d)
				keep := next(100) < share
				table.Put(&store.Document{ID: id, Metadata: store.Metadata{"keep": keep}})
				chosen[id] = keep
				var chunks []store.Chunk
				for i := range 1 + next(3) {
					words := make([]string, 1+next(8))
					for j := range words {
						words[j] = vocabulary[min(next(len(vocabulary)), next(len(vocabulary)))]
					}
					text := strings.Join(words, " ")
					chunks = append(chunks, store.Chunk{ID: store.ChunkID(id, 1, i, text), DocumentID: id, Ordinal: i, Text: text, Title: words[0]})
				}
				if err := index.Replace(context.Background(), name, id, sequence(chunks...)); err != nil {
					t.Fatal(err)
				}
				if next(10) == 0 { // and some go
					if err := index.Replace(context.Background(), name, id, sequence()); err != nil {
						t.Fatal(err)
					}
				}
			}
			filter, err := store.ParseFilter([]byte(`{"keep":true}`))
			if err != nil {
				t.Fatal(err)
			}
			sets[name] = table.Resolve(filter)
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 4).Draw(t, "query"), " ")
		k := rapid.IntRange(1, 12).Draw(t, "k")
		all, err := index.Search(context.Background(), names, text)
		if err != nil {
			t.Fatal(err)
		}
		defer all.Release()
		choice := index.Choose(names, sets)
		match, err := choice.Search(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		defer match.Release()
		want, got := []string{}, []string{}
		for _, hit := range all.Top(10_000) {
			wanted := isOf(hit, chosen)
			if wanted != choice.Has(hit.Collection, hit.ID) {
				t.Fatalf("%s: Has is %v", hit.ID, !wanted)
			}
			if wanted && len(want) < k {
				want = append(want, fmt.Sprintf("%s %.12f", hit.ID, hit.Score))
			}
		}
		for _, hit := range match.Top(k) {
			got = append(got, fmt.Sprintf("%s %.12f", hit.ID, hit.Score))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		for _, name := range names {
			n, _ := choice.Count(name)
			ids := choice.IDs(name)
			if len(ids) != n {
				t.Fatalf("%d ids of %d", len(ids), n)
			}
			for _, id := range ids {
				if !choice.Has(name, id) {
					t.Fatalf("%s is not chosen", id)
				}
			}
		}
	})
}

// isOf says whether the document of a hit was chosen.
func isOf(hit retrieval.LexicalHit, chosen map[string]bool) bool {
	for id, keep := range chosen {
		if keep && strings.HasPrefix(hit.ID, store.ChunkIDPrefix(id, 1)) {
			return true
		}
	}
	return false
}
