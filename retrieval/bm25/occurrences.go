package bm25

import (
	"iter"
	"slices"

	"ragagent/retrieval"
)

// Collections returns the names of all collections, ascending.
func (x *Index) Collections() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := make([]string, 0, len(x.collections))
	for name := range x.collections {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Parts returns what a collection is made of now; none if it is not there.
func (x *Index) Parts(collection string) []retrieval.LexicalPart {
	c := x.collection(collection)
	if c == nil {
		return nil
	}
	views := c.snapshot.Load().views
	parts := make([]retrieval.LexicalPart, len(views))
	for i, v := range views {
		parts[i] = occurrences{v}
	}
	return parts
}

// Part implements retrieval.LexicalMatch.
func (m *match) Part(ref retrieval.ChunkRef) (part any, chunk int) {
	i, number := m.at(ref)
	return m.parts[i].segment, int(number)
}

// occurrences is a view as a retrieval.LexicalPart.
type occurrences struct{ view *view }

func (o occurrences) Key() any             { return o.view.segment }
func (o occurrences) Chunks() int          { return o.view.chunks() }
func (o occurrences) Living() int          { return o.view.live.chunks }
func (o occurrences) ID(chunk int) string  { return o.view.ids.at(chunk) }
func (o occurrences) Alive(chunk int) bool { return o.view.alive(uint32(chunk)) }
func (o occurrences) Find(id string) int   { return o.view.find(id) }

// Terms yields the stems of title, headings and text.
func (o occurrences) Terms() iter.Seq2[string, []retrieval.Occurrence] {
	return func(yield func(string, []retrieval.Occurrence) bool) {
		var postings []posting
		var out []retrieval.Occurrence
		stems := &o.view.stems
		for term := range stems.len() {
			postings = appendPostings(postings[:0], stems.list(term))
			out = out[:0]
			for _, p := range postings {
				if o.view.alive(p.doc) {
					out = append(out, retrieval.Occurrence{Chunk: p.doc, Count: p.tf})
				}
			}
			if len(out) > 0 && !yield(stems.term(term), out) {
				return
			}
		}
	}
}
