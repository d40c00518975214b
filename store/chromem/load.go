package chromem

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"

	"ragagent/store"
)

// loader fills a collection that nobody sees yet. One goroutine copies vectors
// into segments, workers check and encode those that are full.
type loader struct {
	c     *collection
	parts []*filled
	rows  int
}

// filled is a segment and what becomes of it.
type filled struct {
	view
	sketched bool // wanted
}

// load fills an empty collection. After an error it holds no memory of the
// budget.
func (c *collection) load(ctx context.Context, entries iter.Seq2[store.VectorEntry, error]) error {
	l := &loader{c: c}
	if err := l.run(ctx, entries); err != nil {
		for _, p := range l.parts {
			c.budget.give(segmentBytes(p.rows(), c.dim))
		}
		return err
	}
	return nil
}

func (l *loader) run(ctx context.Context, entries iter.Seq2[store.VectorEntry, error]) error {
	if err := l.fill(ctx, entries); err != nil {
		return err
	}
	d := l.draft()
	l.index(d)
	if err := d.compact(); err != nil {
		d.abandon()
		return err
	}
	if err := l.c.mirror(ctx, d, nil); err != nil {
		d.abandon()
		return err
	}
	d.sketch()
	l.c.open = d.open
	l.c.snapshot.Store(&d.snapshot)
	d.release()
	return nil
}

// fill takes all entries, and returns when all are encoded.
func (l *loader) fill(ctx context.Context, entries iter.Seq2[store.VectorEntry, error]) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := runtime.GOMAXPROCS(0)
	full := make(chan *filled, workers)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for p := range full {
				if err := l.c.encode(ctx, p); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := func() error {
		defer wg.Wait()
		defer close(full)
		return l.take(ctx, entries, full)
	}()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// take copies the entries, and hands on each segment when it is full and the
// last one as it is.
func (l *loader) take(ctx context.Context, entries iter.Seq2[store.VectorEntry, error], full chan<- *filled) error {
	var open *filled
	for e, err := range entries {
		if err != nil {
			return err
		}
		if err := l.c.checkShape(e); err != nil {
			return err
		}
		if open == nil {
			if open, err = l.grow(ctx); err != nil {
				return err
			}
		}
		open.put(open.n, e.ID, e.Vector)
		open.n++
		l.rows++
		if open.n == open.rows() {
			open.sketched = l.rows > l.c.exactUpTo
			full <- open
			open = nil
		}
	}
	if open != nil {
		full <- open
	}
	return nil
}

func (l *loader) grow(ctx context.Context) (*filled, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	rows := rowsAfter(l.rows)
	if len(l.parts) == maxSegments {
		return nil, fmt.Errorf("%d segments: %w", len(l.parts), store.ErrTooLarge)
	}
	if err := l.c.budget.take(segmentBytes(rows, l.c.dim)); err != nil {
		return nil, err
	}
	p := &filled{view: view{segment: newSegment(rows, l.c.dim)}}
	l.parts = append(l.parts, p)
	return p, nil
}

// encode makes everything of a part that rests on its vectors alone.
func (c *collection) encode(ctx context.Context, p *filled) error {
	for row := range p.n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := checkUnit(store.VectorEntry{ID: p.ids[row], Vector: p.vector(row)}); err != nil {
			return err
		}
		p.encode(row)
		if err := c.addDocument(ctx, p.ids[row], p.vector(row)); err != nil {
			return err
		}
	}
	if p.sketched && p.n == maxRows && c.dim >= minSketchDim {
		p.sketch = newSketch(c.rotation, p.segment)
	}
	return nil
}

// draft is a draft of all parts, without a table of ids.
func (l *loader) draft() *draft {
	d := newDraft(l.c)
	for i, p := range l.parts {
		d.views = append(d.views, p.view)
		d.live += p.n
		if p.n < p.rows() {
			d.open = i
		}
	}
	return d
}

// index makes the table of ids. Of an id that came twice it hides all rows but
// the last; which of them chromem-go was told last is not known, so it is to be
// told again.
func (l *loader) index(d *draft) {
	d.ids = newIDTable(d.live)
	for at := range d.all() {
		id := d.id(at)
		if old, ok := d.find(id); ok {
			d.hide(old)
			d.written = append(d.written, at)
		}
		d.ids.add(id, at)
	}
}
