package chromem

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

const (
	// pruneAt is how many candidates are kept before they are thinned out.
	pruneAt = 1 << 12
	// sparseShare: below one row in so many, rows are read one by one.
	sparseShare = 4
	// frontPause is for how many segments fronts that said little are not asked.
	frontPause = 8
	// denseShare: where a front leaves more than one row in so many, the rest of
	// the bits is read in blocks too.
	denseShare = 8
	// manyShare: where a sketch leaves more than one row in so many, the codes of
	// all rows are read instead, one after the other; and so are those of the
	// next segments, twice as many each time up to wholePause.
	manyShare  = 10
	wholePause = 32
	// atOnce is for how many rows memory is fetched side by side.
	atOnce = 64
	// fetchAhead is how many bytes before their turn bits are fetched.
	fetchAhead = 4096
)

// scan is one worker's part of a search: it collects the rows that may be
// among the k best, by the bounds of their cosines.
type scan struct {
	*search
	floor      best[float32] // the k largest lower bounds
	candidates []candidate
	prune      int
	dots       [maxRows]int32
	sums       [maxRows]uint16
	masks      [maxRows / blockRows]uint32
	rows       [maxRows]int

	waiting []waiting
	pause   int // segments for which fronts are not asked
	wholly  int // segments for which sketches are not
	widely  int // how many those will be the next time
}

// waiting is a row whose cosine is, nearly for certain, at most high.
type waiting struct {
	at   slot
	high float32
}

// candidate is a row whose cosine is within low..high.
type candidate struct {
	at        slot
	low, high float32
}

func (c *scan) start(job *search) {
	c.search = job
	c.floor.reset(job.k, cmp.Compare[float32])
	c.candidates = c.candidates[:0]
	c.waiting, c.pause, c.wholly, c.widely = c.waiting[:0], 0, 0, 1
	c.prune = max(pruneAt, 2*job.k)
}

// run scans the segments of one worker of n: each takes every n-th, so that
// the answer does not depend on who is faster.
func (c *scan) run(ctx context.Context, worker, n int) {
	for i := worker; i < len(c.order); i += n {
		if i/n%checkEvery == 0 && ctx.Err() != nil {
			return
		}
		if i+n < len(c.order) {
			c.announce(c.order[i+n])
		}
		c.segment(c.order[i])
		c.thin()
	}
	c.settle()
}

// announce begins to fetch the beginning of what the next segment needs: the
// processor's own fetching ahead ends with an array.
func (c *scan) announce(p place) {
	k := c.snapshot.views[p.segment].sketch
	if !c.sketched || k == nil {
		return
	}
	fetch(&c.kernels, k.weights)
	fetch(&c.kernels, k.front[:min(fetchAhead, len(k.front))])
}

func (c *scan) segment(p place) {
	i := p.segment
	v := &c.snapshot.views[i]
	if c.sketched && v.sketch != nil && c.floor.full() {
		if least := c.floor.last() - p.base - rounding; least > 0 && c.useful(v.sketch, least) {
			c.sifted(p, v)
			return
		}
	}
	if c.among != nil {
		rows := c.among.segment(i)
		if rows.count()*sparseShare < v.n {
			c.chosen(i, v, rows)
			return
		}
	}
	c.whole(i, v)
}

// whole reads the codes of all rows of a segment.
func (c *scan) whole(i int, v *view) {
	dots := c.dots[:v.n]
	c.kernels.dots(dots, v.codes[:v.n*v.stride], c.codes.codes)
	scales, errors := v.scales[:v.n], v.errors[:v.n]
	floor := c.lowest()
	for row, dot := range dots {
		high := float32(dot)*(c.codes.step*scales[row]) + (c.codes.spread*errors[row] + c.codes.offset)
		if high < floor {
			continue
		}
		floor = c.consider(i, v, row, dot)
	}
}

// useful marks the rows of a sketch whose p·u may be least or more, and says
// whether they are so few that looking at each of them costs less than reading
// all codes in a row.
func (c *scan) useful(k *sketch, least float32) bool {
	if c.wholly > 0 {
		c.wholly--
		return false
	}
	if c.sift(k, least)*manyShare < maxRows {
		c.widely = 1
		return true
	}
	c.wholly = c.widely
	c.widely = min(2*c.widely, wholePause)
	return false
}

// sifted looks at the marked rows of a segment. The codes of the promising ones
// are read at once, which raises the floor; the others wait until it is as high
// as it gets.
func (c *scan) sifted(p place, v *view) {
	rows := c.rows[:0]
	for block, mask := range c.masks {
		for mask &^= v.dead.block(block); mask != 0; mask &= mask - 1 {
			row := block*blockRows + bits.TrailingZeros32(mask)
			fetch(&c.kernels, v.sketch.record(row))
			rows = append(rows, row)
		}
	}
	floor := c.floor.last()
	now := rows[:0]
	for _, row := range rows {
		estimate, slack := c.sketch.estimate(v.sketch.record(row))
		switch estimate += p.base; {
		case estimate >= floor:
			c.fetchRow(v, row)
			now = append(now, row)
		case estimate+slack >= floor:
			c.waiting = append(c.waiting, waiting{slotOf(p.segment, row), estimate + slack})
		}
	}
	for _, row := range now {
		c.score(p.segment, v, row)
	}
}

// sift marks the rows of a sketch that reach least, and counts them: by the front
// of it, or by all of it where the front leaves most of them. The floor is low at
// first, and with some vectors it stays low.
func (c *scan) sift(k *sketch, least float32) (n int) {
	clear(c.sums[:])
	q := &c.sketch
	c.kernels.add(c.sums[:], k.front, q.table[:16*q.front.groups], fetchAhead)
	if c.pause == 0 {
		c.kernels.pick(c.masks[:], c.sums[:], k.weights, q.threshold(&q.front, k, least))
		if n = c.marked(); n*denseShare < maxRows {
			return n
		}
		c.pause = frontPause
	}
	c.pause--
	c.kernels.add(c.sums[:], k.rest, q.table[16*q.front.groups:], fetchAhead)
	c.kernels.pick(c.masks[:], c.sums[:], k.weights, q.threshold(&q.whole, k, least))
	return c.marked()
}

func (c *scan) marked() (n int) {
	for _, mask := range c.masks {
		n += bits.OnesCount32(mask)
	}
	return n
}

// settle reads the codes of the rows that wait and still may be among the best.
// They lie far apart: many are on their way before the first is looked at.
func (c *scan) settle() {
	floor := c.lowest()
	rest := slices.DeleteFunc(c.waiting, func(w waiting) bool { return w.high < floor })
	for len(rest) > 0 {
		batch := rest[:min(atOnce, len(rest))]
		rest = rest[len(batch):]
		for _, w := range batch {
			if w.high >= c.lowest() {
				c.fetchRow(&c.snapshot.views[w.at.segment()], w.at.row())
			}
		}
		for _, w := range batch {
			if w.high >= c.lowest() {
				c.score(w.at.segment(), &c.snapshot.views[w.at.segment()], w.at.row())
			}
		}
	}
	c.waiting = c.waiting[:0]
}

// fetchRow begins to fetch what score reads of a row.
func (c *scan) fetchRow(v *view, row int) {
	fetch(&c.kernels, v.codes[row*v.stride:][:v.stride])
	fetch(&c.kernels, v.scales[row:row+1])
	fetch(&c.kernels, v.errors[row:row+1])
}

// score reads the codes of one row.
func (c *scan) score(segment int, v *view, row int) {
	c.kernels.dots(c.dots[:1], v.codes[row*v.stride:][:v.stride], c.codes.codes)
	c.consider(segment, v, row, c.dots[0])
}

// chosen reads the codes of some rows of a segment.
func (c *scan) chosen(i int, v *view, rows rowBits) {
	for row := range rows.all() {
		c.fetchRow(v, row)
	}
	for row := range rows.all() {
		c.score(i, v, row)
	}
}

// consider keeps a row if it may be among the best and may be returned, and
// returns the floor after that.
func (c *scan) consider(i int, v *view, row int, dot int32) float32 {
	cosine := float32(dot) * (c.codes.step * v.scales[row])
	bound := c.codes.spread*v.errors[row] + c.codes.offset
	floor := c.lowest()
	if cosine+bound < floor || v.dead.has(row) {
		return floor
	}
	if c.among != nil && !c.among.segment(i).has(row) || c.allow != nil && !c.allow(v.ids[row]) {
		return floor
	}
	c.candidates = append(c.candidates, candidate{slotOf(i, row), cosine - bound, cosine + bound})
	c.floor.offer(cosine - bound)
	return c.lowest()
}

// thin lets go of rows that the floor has overtaken.
func (c *scan) thin() {
	if len(c.candidates)+len(c.waiting) <= c.prune {
		return
	}
	floor := c.lowest()
	c.candidates = slices.DeleteFunc(c.candidates, func(x candidate) bool { return x.high < floor })
	c.waiting = slices.DeleteFunc(c.waiting, func(x waiting) bool { return x.high < floor })
	c.prune = max(c.prune, 2*(len(c.candidates)+len(c.waiting)))
}
