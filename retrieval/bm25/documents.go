package bm25

import (
	"iter"
	"slices"
	"strings"

	"ragagent/store"
)

// Documents implements retrieval.LexicalIndex.
func (x *Index) Documents(collection string) iter.Seq[store.IndexedDocument] {
	return func(yield func(store.IndexedDocument) bool) {
		c := x.collection(collection)
		if c == nil {
			return
		}
		documents := c.snapshot.Load().documents()
		for len(documents) > 0 {
			d, pieces := store.IndexedDocument{ID: documents[0].id, Revision: documents[0].revision}, 0
			for pieces < len(documents) && documents[pieces].id == d.ID {
				d.Chunks += int(documents[pieces].count)
				pieces++
			}
			if !yield(d) {
				return
			}
			documents = documents[pieces:]
		}
	}
}

// documents returns the pieces of those that are alive, by id.
func (s *snapshot) documents() []*document {
	var alive []*document
	for _, v := range s.views {
		for i := range v.documents {
			if d := &v.documents[i]; v.alive(d.first) {
				alive = append(alive, d)
			}
		}
	}
	slices.SortFunc(alive, func(a, b *document) int { return strings.Compare(a.id, b.id) })
	return alive
}
