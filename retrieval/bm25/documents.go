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
		for _, d := range c.snapshot.Load().documents() {
			if !yield(store.IndexedDocument{ID: d.id, Revision: d.revision, Chunks: int(d.count)}) {
				return
			}
		}
	}
}

// documents returns those that are alive, by id.
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
