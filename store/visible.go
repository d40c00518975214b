package store

import (
	"context"
	"iter"
)

// Visible is what of a knowledge base may be found: what search indexes are
// made from and compared with. All methods may be called concurrently; each
// sequence is as of one moment and stops at the first error.
type Visible interface {
	// VisibleChunks yields every visible chunk of a knowledge base with its
	// vector, by document and ordinal; documentID, if not "", limits it to one
	// document.
	VisibleChunks(ctx context.Context, kb, documentID string) iter.Seq2[Chunk, error]
	// VisibleDocuments yields every document that has a visible revision, by id.
	VisibleDocuments(ctx context.Context, kb string) iter.Seq2[IndexedDocument, error]
	// VisibleVectors yields the vector of every visible chunk that has one, by
	// document and ordinal. The vector's memory is used again for the next.
	VisibleVectors(ctx context.Context, kb string) iter.Seq2[VectorEntry, error]
}

// IndexedDocument says what an index holds, or should hold, of a document. A
// visible revision never changes: two that are equal are the same chunks.
type IndexedDocument struct {
	ID       string
	Revision int
	Chunks   int
}
