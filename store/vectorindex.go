package store

import "context"

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
	// Apply removes the ids and then adds the vectors, in one step for every
	// search: it sees all of the change or nothing of it. An id that is there
	// already is replaced; removing an id that is not there is no error.
	// Vectors have L2 norm 1 within 1e-6 (ErrInvalid else; a zero or
	// non-finite vector is never stored) and the collection's dimension
	// (DimensionError). ErrNotFound if there is no such collection. The index
	// keeps the slices it is given; the caller does not change them again.
	Apply(ctx context.Context, name string, change VectorChange) error
	// Search returns the k nearest by cosine, best first, ties by ascending
	// id; fewer if there are fewer. k of 0 or less, a zero or non-finite query
	// vector is ErrInvalid; a k above the count is fine. allow, if not nil,
	// says which ids may be returned; the result is exact among those.
	Search(ctx context.Context, name string, query []float32, k int, allow func(id string) bool) ([]VectorHit, error)
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

// VectorHit is a found vector.
type VectorHit struct {
	ID    string
	Score float32 // cosine, -1..1
}
