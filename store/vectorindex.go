package store

import (
	"context"
	"iter"
)

// VectorIndex finds the vectors nearest to a query, by collection. A
// collection is the vectors of one knowledge base in one embedder's space.
// All methods may be called concurrently; searches never wait for a writer for
// longer than it takes to swap a snapshot.
type VectorIndex interface {
	// CreateCollection makes an empty collection of the given dimension, or
	// does nothing if it is there with the same one. DimensionError otherwise.
	CreateCollection(ctx context.Context, name string, dim int) error
	// DeleteCollection removes it; a name that is not there is no error.
	DeleteCollection(ctx context.Context, name string) error
	// Load makes a collection of exactly these vectors, in the place of one that
	// may be there, whatever its dimension: for every search in one step. It is
	// the fast way to fill one. Vectors and errors are those of Apply; of an id
	// that comes twice the last vector counts; the slices are the caller's again
	// when the iterator goes on. An error, also one that the iterator yields,
	// leaves everything as it was. Until Load returns, the old vectors take
	// memory too; changes made meanwhile are made to them and go with them.
	Load(ctx context.Context, name string, dim int, entries iter.Seq2[VectorEntry, error]) error
	// Apply removes the ids and then adds the vectors, in one step for every
	// search: it sees all of the change or nothing of it. An id that is there
	// already is replaced; removing an id that is not there is no error.
	// Vectors have L2 norm 1 within 1e-6 (ErrInvalid else; a zero or
	// non-finite vector is never stored) and the collection's dimension
	// (DimensionError). ErrNotFound if there is no such collection. The index
	// copies what it keeps: the slices are the caller's again when Apply returns.
	Apply(ctx context.Context, name string, change VectorChange) error
	// Search returns the K nearest by cosine, best first, ties by ascending id;
	// fewer if there are fewer. The scores are exact. So is the choice, but for
	// a large collection asked without Exact, Among and Allow: there an index
	// may miss one hit in a hundred of the ten best. A K of 0 or less, a zero or
	// non-finite vector is ErrInvalid; a K above the count is fine.
	Search(ctx context.Context, name string, query VectorQuery) ([]VectorHit, error)
	// Cosines returns the exact cosine of each id with the query, in the order
	// of ids; 0 for an id that has no vector.
	Cosines(ctx context.Context, name string, query []float32, ids []string) ([]float32, error)
	// Count returns the number of vectors. ErrNotFound.
	Count(ctx context.Context, name string) (int, error)
	// IDs returns every id, ascending: verify compares them with the truth.
	IDs(ctx context.Context, name string) ([]string, error)
}

// VectorChange is one atomic change of a collection.
type VectorChange struct {
	Remove []string
	Add    []VectorEntry
}

// VectorEntry is a vector under its chunk's id.
type VectorEntry struct {
	ID     string
	Vector []float32
}

// VectorQuery asks for the vectors nearest to one.
type VectorQuery struct {
	Vector []float32 // any length but 0; compared by direction
	K      int       // hits wanted, 1 or more
	// Among, if not nil, are the ids that may be returned, in any order; one
	// that is not there is passed over. Only these are looked at: the fewer,
	// the faster. An empty slice finds nothing.
	Among []string
	// Allow, if not nil, says which ids may be returned. It is asked late, only
	// for ids that could be among the best: it suits a filter that keeps much.
	Allow func(id string) bool
	// Exact wants the answer of a full scan whatever the size.
	Exact bool
}

// VectorHit is a found vector.
type VectorHit struct {
	ID    string
	Score float32 // cosine, -1..1
}
