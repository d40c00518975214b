package chromem

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"ragagent/store"
)

// Bounds and defaults of an Index.
const (
	// MaxDim is the largest dimension of a collection.
	MaxDim = 1 << 14
	// DefaultMaxBytes is the ceiling of Config.MaxBytes: 16 GiB.
	DefaultMaxBytes = 16 << 30
	// DefaultExactUpTo is the default of Config.ExactUpTo: an exact search of so
	// many vectors takes about a millisecond.
	DefaultExactUpTo = 1 << 16
)

// Config says how an Index works.
type Config struct {
	// MaxBytes bounds the memory of all rows, see Index.Bytes; a change that
	// would pass it is store.ErrTooLarge. 0 means DefaultMaxBytes.
	MaxBytes int64
	// ExactUpTo is up to how many vectors every search is exact. Above, those
	// that may be approximate are: they read one bit per dimension of most rows.
	// 0 means DefaultExactUpTo.
	ExactUpTo int
	// Workers is how many cores one search may use. 0 means half of
	// GOMAXPROCS, at least 1, so that two searches at once are as quick as one;
	// and all of them where there are more than 262,144 vectors.
	Workers int
}

// Index is a store.VectorIndex in memory.
type Index struct {
	kernels kernels
	workers int
	budget  *budget
	scratch sync.Pool // of *scan

	exactUpTo     int
	workersOfMany int // for more than manyRows

	mu          sync.RWMutex // guards the map, not what it holds
	collections map[string]*collection
}

var _ store.VectorIndex = (*Index)(nil)

// New returns an empty Index.
func New(c Config) *Index {
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.ExactUpTo <= 0 {
		c.ExactUpTo = DefaultExactUpTo
	}
	many := c.Workers
	if c.Workers <= 0 {
		many = runtime.GOMAXPROCS(0)
		c.Workers = max(1, many/2)
	}
	return &Index{
		kernels: fastest(), workers: c.Workers, exactUpTo: c.ExactUpTo, workersOfMany: many,
		budget:      &budget{max: c.MaxBytes},
		scratch:     sync.Pool{New: func() any { return new(scan) }},
		collections: make(map[string]*collection),
	}
}

// CreateCollection makes an empty collection of 1..MaxDim dimensions, or does
// nothing if it is there with the same one; store.DimensionError otherwise.
func (x *Index) CreateCollection(ctx context.Context, name string, dim int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkCollection(name, dim); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if c, ok := x.collections[name]; ok {
		if c.dim != dim {
			return &store.DimensionError{Want: c.dim, Got: dim}
		}
		return nil
	}
	c, err := x.newCollection(name, dim)
	if err != nil {
		return err
	}
	x.collections[name] = c
	return nil
}

func checkCollection(name string, dim int) error {
	if name == "" {
		return store.Invalid("name", "a collection needs a name")
	}
	if dim < 1 || dim > MaxDim {
		return store.Invalid("dim", "%d dimensions, allowed are 1..%d", dim, MaxDim)
	}
	return nil
}

// DeleteCollection removes a collection and gives its memory back; a name that
// is not there is no error. Searches under way end with what they had.
func (x *Index) DeleteCollection(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.put(name, nil)
	return nil
}

// Load implements store.VectorIndex. Vectors are copied, checked and encoded
// on all cores while the iterator, on the caller's goroutine, brings the next.
func (x *Index) Load(ctx context.Context, name string, dim int, entries iter.Seq2[store.VectorEntry, error]) error {
	if err := checkCollection(name, dim); err != nil {
		return err
	}
	c, err := x.newCollection(name, dim)
	if err != nil {
		return err
	}
	if err := c.load(ctx, entries); err != nil {
		return fmt.Errorf("load collection %q: %w", name, err)
	}
	x.put(name, c)
	return nil
}

// put shows a collection under its name, or none if c is nil, and closes the
// one that was there.
func (x *Index) put(name string, c *collection) {
	x.mu.Lock()
	old := x.collections[name]
	if c != nil {
		x.collections[name] = c
	} else {
		delete(x.collections, name)
	}
	x.mu.Unlock()
	if old != nil {
		old.close() // waits for its writer, and nobody waits with it
	}
}

// Apply implements store.VectorIndex. The vectors are copied; an id is 1 byte
// or longer. ErrTooLarge leaves the collection as it was.
func (x *Index) Apply(ctx context.Context, name string, change store.VectorChange) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for {
		c, err := x.collection(name)
		if err != nil {
			return err
		}
		err = c.apply(ctx, change)
		if errors.Is(err, errClosed) {
			continue // removed, or loaded anew, since it was looked up
		}
		if err != nil {
			return fmt.Errorf("change collection %q: %w", name, err)
		}
		return nil
	}
}

// Search implements store.VectorIndex. Allow is asked at most once per id, by
// one goroutine at a time.
func (x *Index) Search(ctx context.Context, name string, query store.VectorQuery) ([]store.VectorHit, error) {
	if query.K <= 0 {
		return nil, store.Invalid("k", "%d, must be 1 or more", query.K)
	}
	c, err := x.collection(name)
	if err != nil {
		return nil, err
	}
	unit, err := unitQuery(query.Vector, c.dim)
	if err != nil {
		return nil, err
	}
	return x.search(ctx, c, c.snapshot.Load(), unit, query)
}

// Cosines implements store.VectorIndex.
func (x *Index) Cosines(ctx context.Context, name string, query []float32, ids []string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := x.collection(name)
	if err != nil {
		return nil, err
	}
	unit, err := unitQuery(query, c.dim)
	if err != nil {
		return nil, err
	}
	s := c.snapshot.Load()
	cosines := make([]float32, len(ids))
	for i, id := range ids {
		if at, ok := s.find(id); ok {
			cosines[i] = x.kernels.cosine(unit, s.vector(at))
		}
	}
	return cosines, nil
}

// Count implements store.VectorIndex.
func (x *Index) Count(ctx context.Context, name string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c, err := x.collection(name)
	if err != nil {
		return 0, err
	}
	return c.snapshot.Load().live, nil
}

// IDs implements store.VectorIndex.
func (x *Index) IDs(ctx context.Context, name string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := x.collection(name)
	if err != nil {
		return nil, err
	}
	s := c.snapshot.Load()
	ids := make([]string, 0, s.live)
	for at := range s.all() {
		ids = append(ids, s.id(at))
	}
	slices.Sort(ids)
	return ids, nil
}

func (x *Index) collection(name string) (*collection, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if c, ok := x.collections[name]; ok {
		return c, nil
	}
	return nil, notFound(name)
}

func notFound(name string) error {
	return fmt.Errorf("collection %q: %w", name, store.ErrNotFound)
}
