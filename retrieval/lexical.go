package retrieval

import (
	"context"
	"errors"
	"io"
	"iter"

	"ragagent/store"
)

// LexicalIndex finds chunks by their words; bm25.Index implements it. A
// collection is the chunks of one knowledge base. All methods may be called
// concurrently; searches never wait for a writer, and see all of a change or
// nothing of it.
type LexicalIndex interface {
	// Load makes the collection hold exactly these chunks, which come by
	// document and ordinal; what it held before serves until then. After an
	// error nothing has changed.
	Load(ctx context.Context, collection string, chunks iter.Seq2[store.Chunk, error]) error
	// Replace puts the chunks of a document, by ordinal, in the place of those
	// the collection has of it; none removes it. A collection that is not
	// there is made. After an error nothing has changed.
	Replace(ctx context.Context, collection, documentID string, chunks iter.Seq2[store.Chunk, error]) error
	// Remove takes documents out of a collection, in one step for every search.
	// It returns the ids of the chunks that they had; none of a document, or of
	// a collection, that is not there.
	Remove(collection string, documentIDs []string) []string
	// Drop forgets a collection; one that is not there is no error.
	Drop(collection string)
	// Save writes a collection as it stands: writers go on meanwhile, what they
	// change is not in it. ErrNotFound if there is no such collection.
	Save(ctx context.Context, collection string, w io.Writer) error
	// Restore makes the collection hold exactly what Save wrote, which searches
	// cannot tell from having loaded the chunks. data may be any bytes: they
	// are checked for everything that searching relies on, but not for whether
	// they are what was written, which the caller does. They are copied, and
	// may be changed or unmapped afterwards. store.ErrDamaged if they are not
	// what Save writes, ErrOtherFormat if another version of the program wrote
	// them; after an error nothing has changed.
	Restore(ctx context.Context, collection string, data []byte) error
	// Documents yields the documents of a collection that have chunks, by id,
	// as of one moment; none if there is no such collection.
	Documents(collection string) iter.Seq[store.IndexedDocument]
	// DocumentChunks returns the ids of a document's chunks by ordinal.
	DocumentChunks(collection, documentID string) []string
	// IDs returns the id of every chunk of a collection, ascending; ok is false
	// if there is no such collection.
	IDs(collection string) (ids []string, ok bool)
	// Search matches text against the union of the collections: words weigh by
	// how rare they are in all of them together, so that scores compare.
	// Collections that are not there are empty. The caller releases the match.
	Search(ctx context.Context, collections []string, text string) (LexicalMatch, error)
	// Choose marks the chunks of documents, given by collection, in the
	// collections as they are now; nothing of a collection that has no set.
	Choose(collections []string, documents map[string]DocumentSet) LexicalChoice
	// TermWeights weighs terms, as analysed, in the union of the collections.
	TermWeights(collections []string, terms []string) []TermWeight
}

// ErrOtherFormat says that a saved collection is of another format, or that its
// words were cut and stemmed by other rules: it has to be built from the texts.
var ErrOtherFormat = errors.New("written by another version")

// LexicalMatch is what a text matched in one snapshot of the collections. It
// is used by one goroutine at a time.
type LexicalMatch interface {
	// Terms are the distinct words of the text, after spelling was repaired.
	Terms() []TermWeight
	// Text is the text that was searched, with words that no chunk has replaced
	// by similar ones that some have.
	Text() string
	// Top returns the k chunks with the highest LexicalHit.Score, ties by id.
	// Chunks without any matching word are not among them.
	Top(k int) []LexicalHit
	// Find looks up a chunk of the snapshot by its id.
	Find(id string) (ChunkRef, bool)
	// Part tells where a chunk stands: the LexicalPart.Key of its part, and its
	// number there.
	Part(ref ChunkRef) (part any, chunk int)
	// Hits evaluates chunks of the snapshot, one hit each in the same order; many
	// at once cost little more than one.
	Hits(refs []ChunkRef) []LexicalHit
	// Own returns Words + Surface of a chunk: at once for those that Top and Hits
	// returned and for their neighbours.
	Own(ref ChunkRef) float64
	// Holds returns those of Terms that a chunk has in any field; never nil.
	Holds(ref ChunkRef) []string
	// Explain tells how the chunk's Words came about.
	Explain(ref ChunkRef) []Explanation
	// Release gives the memory of the match back; it must not be used after.
	Release()
}

// ChunkRef names a chunk within one LexicalMatch.
type ChunkRef int64

// NoChunk is the ChunkRef of no chunk.
const NoChunk ChunkRef = -1

// LexicalHit is a chunk with what its words are worth. See docs/scoring.md.
type LexicalHit struct {
	Ref        ChunkRef
	ID         string
	Collection string
	// Words is the weighted sum of the fields, as a share of the most that the
	// query's words could give: about 0..1.
	Words float64
	// Surface is the part for words in exactly the form of the query, 0..SurfaceWeight.
	Surface float64
	// Before and After are the neighbours in the document, NoChunk at its ends.
	Before, After ChunkRef
	// Score is Words + Surface + NeighbourWeight times the better neighbour's
	// Words + Surface.
	Score float64
}

// Weights of the parts of the first stage.
const (
	// SurfaceWeight is what the best match of unstemmed words adds.
	SurfaceWeight = .05
	// NeighbourWeight is what the better neighbouring chunk hands on.
	NeighbourWeight = .05
)
