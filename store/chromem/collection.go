package chromem

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	chromemgo "github.com/philippgille/chromem-go"

	"ragagent/store"
)

// collection is a chromem-go collection and the snapshot searches read.
type collection struct {
	dim       int
	exactUpTo int // rows; above, searches may use sketches
	rotation  *rotation
	budget    *budget
	snapshot  atomic.Pointer[snapshot]

	mu     sync.Mutex // held by the writer
	docs   *chromemgo.Collection
	open   int // the segment that has room, -1 for none
	closed bool
}

// errClosed is the answer to a writer who comes after close.
var errClosed = errors.New("the collection is closed")

// newCollection makes an empty collection that nobody sees yet. Each has a
// chromem-go database of its own, so that two of a name may be there at once:
// the one that is shown and the one that is being loaded.
func (x *Index) newCollection(name string, dim int) (*collection, error) {
	docs, err := chromemgo.NewDB().CreateCollection(name, nil, noEmbedding)
	if err != nil {
		return nil, fmt.Errorf("create collection %q: %w", name, err)
	}
	c := &collection{
		dim: dim, exactUpTo: x.exactUpTo, rotation: newRotation(x.kernels, dim),
		budget: x.budget, docs: docs, open: -1,
	}
	c.snapshot.Store(&snapshot{ids: newIDTable(0)})
	return c, nil
}

// noEmbedding stands where chromem-go would else put a client of OpenAI.
func noEmbedding(context.Context, string) ([]float32, error) {
	return nil, errors.New("documents bring their vectors")
}

// close gives the memory back and fails the writers that still come.
func (c *collection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, v := range c.snapshot.Load().views {
		if v.segment != nil {
			c.budget.give(segmentBytes(v.rows(), c.dim))
		}
	}
}

// apply makes the change and shows it. After an error nothing has changed.
func (c *collection) apply(ctx context.Context, change store.VectorChange) error {
	for _, e := range change.Add {
		if err := c.check(e); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	d := newDraft(c)
	for _, id := range change.Remove {
		d.remove(id)
	}
	for _, e := range change.Add {
		d.remove(e.ID)
		if err := d.add(e.ID, e.Vector); err != nil {
			d.abandon()
			return err
		}
	}
	if err := d.compact(); err != nil {
		d.abandon()
		return err
	}
	if err := c.mirror(ctx, d, change.Remove); err != nil {
		d.abandon()
		return err
	}
	d.sketch()
	c.open = d.open
	c.snapshot.Store(&d.snapshot)
	d.release()
	return nil
}

// check refuses what must never be stored.
func (c *collection) check(e store.VectorEntry) error {
	if err := c.checkShape(e); err != nil {
		return err
	}
	return checkUnit(e)
}

func (c *collection) checkShape(e store.VectorEntry) error {
	switch {
	case e.ID == "":
		return store.Invalid("id", "a vector needs an id")
	case len(e.Vector) != c.dim:
		return &store.DimensionError{Want: c.dim, Got: len(e.Vector)}
	}
	return nil
}

func checkUnit(e store.VectorEntry) error {
	if !isUnit(e.Vector) {
		return store.Invalid("vector", "the L2 norm of %q is %v, must be 1 within %v", e.ID, norm(e.Vector), unitTolerance)
	}
	return nil
}

// mirror brings the chromem-go documents in step: they hold no copies, their
// vectors are the rows of the segments.
func (c *collection) mirror(ctx context.Context, d *draft, removed []string) error {
	var gone []string
	for _, id := range removed {
		if _, ok := d.find(id); !ok {
			gone = append(gone, id)
		}
	}
	// Without an id chromem-go's Delete is an error.
	if len(gone) > 0 {
		if err := c.docs.Delete(ctx, nil, nil, gone...); err != nil {
			return fmt.Errorf("remove %d documents: %w", len(gone), err)
		}
	}
	for _, at := range d.written {
		if !d.shows(at) {
			continue // replaced again within the change
		}
		if err := c.addDocument(ctx, d.id(at), d.vector(at)); err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) addDocument(ctx context.Context, id string, vector []float32) error {
	if err := c.docs.AddDocument(ctx, chromemgo.Document{ID: id, Embedding: vector}); err != nil {
		return fmt.Errorf("add document %q: %w", id, err)
	}
	return nil
}
