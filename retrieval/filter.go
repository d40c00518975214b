package retrieval

import (
	"context"
	"fmt"

	"ragagent/store"
)

// LexicalChoice is the chunks of some documents in one snapshot of collections.
// It may be used concurrently.
type LexicalChoice interface {
	// Search is LexicalIndex.Search in the snapshot, but Top finds chosen chunks
	// only: those that it would find without the choice, at the same scores,
	// less the others. Words weigh as in all chunks.
	Search(ctx context.Context, text string) (LexicalMatch, error)
	// Count returns how many chunks of a collection are chosen, and how many
	// there are.
	Count(collection string) (chosen, all int)
	// IDs returns the ids of the chosen chunks of a collection, never nil.
	IDs(collection string) []string
	// Has says whether a chunk is chosen.
	Has(collection, id string) bool
}

// choose resolves the filter of a plan, if it has one.
func (x *Index) choose(pl *plan) error {
	if pl.Filter == nil {
		return nil
	}
	if x.tables.records == nil {
		return store.Invalid("filter", "the index has no metadata to filter by: leave it out")
	}
	sets := make(map[string]DocumentSet, len(pl.bases))
	unknown := pl.Filter.Fields(nil)
	documents := 0
	for _, kb := range pl.bases {
		table := x.tables.of(kb.ID)
		if table == nil {
			continue // nothing of it can be found
		}
		set := table.Resolve(pl.Filter)
		sets[kb.ID] = set
		documents += set.Total
		known := unknown[:0]
		for _, field := range unknown {
			if !table.Has(field) {
				known = append(known, field)
			}
		}
		unknown = known
	}
	for _, field := range unknown {
		if documents > 0 && !store.IsBuiltinField(field) {
			pl.notes = append(pl.notes, fmt.Sprintf("filter: no document has the field %q", field))
		}
	}
	pl.choice = x.lexical.Choose(pl.collections(), sets)
	return nil
}

// match searches the words of a text in what may be found.
func (x *Index) match(ctx context.Context, text string, pl *plan) (LexicalMatch, error) {
	if pl.choice != nil {
		return pl.choice.Search(ctx, text)
	}
	return x.lexical.Search(ctx, pl.collections(), text)
}

const (
	// fewChunks are so few that the vectors are asked for by name.
	fewChunks = 2000
	// manyShare: above one chunk in so many, the nearest of all chunks are asked
	// for, and those that are not chosen left out.
	manyShare = 8
)

// nearest returns the k chosen chunks of a knowledge base that are nearest to a
// vector in one of its spaces; of all chunks without a filter.
func (x *Index) nearest(ctx context.Context, kb, space string, vector []float32, k int, choice LexicalChoice) ([]store.VectorHit, error) {
	q := store.VectorQuery{Vector: vector, K: k}
	if choice == nil {
		return x.vectors.Search(ctx, space, q)
	}
	chosen, all := choice.Count(kb)
	if chosen == 0 {
		return nil, nil
	}
	if chosen <= fewChunks || chosen*manyShare < all {
		q.Among = choice.IDs(kb)
		return x.vectors.Search(ctx, space, q)
	}
	// A quarter more than the share of the chosen lets expect; the scan of all
	// rows that asks for each is slower by far than one that may use sketches.
	q.K = k*all/chosen + k*all/chosen/4
	hits, err := x.vectors.Search(ctx, space, q)
	if err != nil {
		return nil, err
	}
	found := make([]store.VectorHit, 0, k)
	for _, hit := range hits {
		if len(found) < k && choice.Has(kb, hit.ID) {
			found = append(found, hit)
		}
	}
	if len(found) == k || len(hits) < q.K {
		return found, nil
	}
	q.K, q.Allow = k, func(id string) bool { return choice.Has(kb, id) }
	return x.vectors.Search(ctx, space, q)
}
