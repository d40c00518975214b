package chromem

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"ragagent/store"
)

// Compaction starts when more than a quarter of the rows are removed ones, and
// at least so many that it is worth while.
const (
	deadShare   = 4
	deadAtLeast = 64
)

// draft is the next snapshot in the making. It shares with the published one
// what does not change and copies the rest.
type draft struct {
	snapshot
	c       *collection
	open    int
	written []slot       // rows written, in order
	copied  map[int]bool // segments whose bitmap is the draft's own
	made    []*segment   // to give back if the draft is abandoned
	freed   []*segment   // to give back when it is published
}

func newDraft(c *collection) *draft {
	d := &draft{snapshot: *c.snapshot.Load(), c: c, open: c.open, copied: make(map[int]bool)}
	d.views = slices.Clone(d.views)
	return d
}

// remove hides the row of an id, if there is one.
func (d *draft) remove(id string) {
	if at, ok := d.find(id); ok {
		d.hide(at)
	}
}

func (d *draft) hide(at slot) {
	v := &d.views[at.segment()]
	if !d.copied[at.segment()] {
		own := new(bitmap)
		if v.dead != nil {
			*own = *v.dead
		}
		v.dead, d.copied[at.segment()] = own, true
	}
	v.dead[at.row()>>6] |= 1 << (at.row() & 63)
	v.deadRows++
	d.live--
	d.dead++
}

// add writes a row for an id that has none.
func (d *draft) add(id string, vector []float32) error {
	if d.open < 0 || d.views[d.open].n == d.views[d.open].rows() {
		if err := d.grow(); err != nil {
			return err
		}
	}
	v := &d.views[d.open]
	at := slotOf(d.open, v.n)
	v.set(v.n, id, vector)
	v.n++
	d.live++
	if d.ids.full() {
		d.reindex() // which finds the new row
	} else {
		d.ids.add(id, at)
	}
	d.written = append(d.written, at)
	return nil
}

// rowsAfter is the size of the next segment of a collection with so many rows:
// as large as the collection, within bounds.
func rowsAfter(live int) int { return max(minRows, min(maxRows, 1<<bits.Len(uint(live)))) }

// grow opens a new segment.
func (d *draft) grow() error {
	rows := rowsAfter(d.live)
	if err := d.c.budget.take(segmentBytes(rows, d.c.dim)); err != nil {
		return err
	}
	s := newSegment(rows, d.c.dim)
	d.made = append(d.made, s)
	place := slices.IndexFunc(d.views, func(v view) bool { return v.segment == nil })
	if place < 0 {
		place = len(d.views)
		if place == maxSegments {
			return fmt.Errorf("%d segments: %w", place, store.ErrTooLarge)
		}
		d.views = append(d.views, view{})
	}
	d.views[place] = view{segment: s}
	d.copied[place] = false
	d.open = place
	return nil
}

// reindex makes the table of ids anew from the rows that are shown.
func (d *draft) reindex() {
	d.ids = newIDTable(2 * d.live)
	for at := range d.all() {
		d.ids.add(d.id(at), at)
	}
}

// compact lets go of segments without rows, and empties those with the most
// removed rows until few are left.
func (d *draft) compact() error {
	for i, v := range d.views {
		if v.segment != nil && v.n == v.deadRows && v.n > 0 {
			d.free(i)
		}
	}
	for d.dead >= deadAtLeast && d.dead*deadShare > d.dead+d.live {
		worst := 0
		for i := range d.views {
			if d.views[i].deadRows > d.views[worst].deadRows {
				worst = i
			}
		}
		if err := d.empty(worst); err != nil {
			return err
		}
	}
	return nil
}

// empty moves what a segment shows to the open one and lets go of it.
func (d *draft) empty(i int) error {
	if i == d.open {
		d.open = -1 // what is moved must not come back
	}
	for row := range d.views[i].n {
		if v := d.views[i]; !v.dead.has(row) {
			d.hide(slotOf(i, row))
			if err := d.add(v.ids[row], v.vector(row)); err != nil {
				return err
			}
		}
	}
	d.free(i)
	return nil
}

// free lets go of a segment that shows nothing.
func (d *draft) free(i int) {
	if i == d.open {
		d.open = -1
	}
	d.dead -= d.views[i].deadRows
	d.freed = append(d.freed, d.views[i].segment)
	d.views[i] = view{}
}

// sketch makes the sketches of full segments that have none, if the collection
// is large enough to use them. Nothing may fail after it: an abandoned row
// would stay in the sketch.
func (d *draft) sketch() {
	if d.live <= d.c.exactUpTo || d.c.dim < minSketchDim {
		return
	}
	var missing []int
	for i, v := range d.views {
		if v.segment != nil && v.n == maxRows && v.sketch == nil {
			missing = append(missing, i)
		}
	}
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(missing))
	for w := range workers {
		wg.Go(func() {
			for m := w; m < len(missing); m += workers {
				v := &d.views[missing[m]]
				v.sketch = newSketch(d.c.rotation, v.segment)
			}
		})
	}
	wg.Wait()
}

// abandon gives back what the draft took. Rows it wrote behind the published
// ones and entries it made in the table are overwritten and overlooked.
func (d *draft) abandon() { d.giveBack(d.made) }

// release gives back what the published draft no longer shows.
func (d *draft) release() { d.giveBack(d.freed) }

func (d *draft) giveBack(segments []*segment) {
	for _, s := range segments {
		d.c.budget.give(segmentBytes(s.rows(), d.c.dim))
	}
}
