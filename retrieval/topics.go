package retrieval

import "iter"

// Topics compares chunks with a query by what their words have to do with each
// other in the collection; lsa.Index implements it. Its methods may be called
// concurrently.
type Topics interface {
	// Cosines returns the cosine of each chunk with the query, 0..1, in their
	// order. nil if nothing is known: there are too few chunks, or what is to be
	// known is still being computed. It never waits for that.
	Cosines(terms []TermWeight, chunks []Location) []float64
	// Bytes is the memory that is taken.
	Bytes() int64
}

// Location is where a chunk stands in a snapshot of a collection.
type Location struct {
	Collection string
	ID         string // of the chunk
	Part       any    // LexicalPart.Key of its part
	Chunk      int    // its number there
}

// LexicalPart is an immutable share of a collection. Its methods may be called
// concurrently; chunks are numbered from 0.
type LexicalPart interface {
	// Key tells it from other parts: two with the same key hold the same chunks,
	// of which one may have more that are dead.
	Key() any
	Chunks() int
	Living() int // those that have not been deleted
	ID(chunk int) string
	Alive(chunk int) bool
	// Find returns the number of a chunk, -1 if it is not there.
	Find(id string) int
	// Terms yields every term with the living chunks that have it, ascending.
	// The slice is good until the next.
	Terms() iter.Seq2[string, []Occurrence]
}

// Occurrence says how often a chunk has a term.
type Occurrence struct{ Chunk, Count uint32 }

// TopicWeight is what a topical cosine of 1 adds to the evidence.
const TopicWeight = .05

// topical fills in the candidates' topical cosines.
func (x *Index) topical(match LexicalMatch, candidates []candidate) {
	if x.topics == nil || len(candidates) == 0 {
		return
	}
	at := make([]Location, len(candidates))
	for i := range candidates {
		hit := &candidates[i].lexical
		at[i] = Location{Collection: hit.Collection, ID: hit.ID}
		at[i].Part, at[i].Chunk = match.Part(hit.Ref)
	}
	for i, cosine := range x.topics.Cosines(match.Terms(), at) {
		candidates[i].topic = cosine
	}
}
