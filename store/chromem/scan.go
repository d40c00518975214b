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
	masks      [maxRows / blockRows]uint32
	blocks     [maxRows / blockRows]int
	rows       [maxRows]int

	pause int // segments for which fronts are not asked
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
	c.pause = 0
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
}

// announce begins to fetch the beginning of what the next segment needs: the
// processor's own fetching ahead ends with an array.
func (c *scan) announce(p place) {
	k := c.snapshot.views[p.segment].sketch
	if !c.sketched || k == nil {
		return
	}
	fetch(&c.kernels, k.rows.factors)
	fetch(&c.kernels, k.rows.slacks)
	if c.pause > 0 {
		fetch(&c.kernels, k.bits[:min(fetchAhead, len(k.bits))])
		return
	}
	fetch(&c.kernels, k.front[:min(fetchAhead, len(k.front))])
}

func (c *scan) segment(p place) {
	i := p.segment
	v := &c.snapshot.views[i]
	if c.sketched && v.sketch != nil && c.floor.full() {
		c.sifted(p, v)
		return
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

// sifted reads the sketch of a segment, and the codes of the rows that may be
// among the best by it. They lie far apart: all are on their way before the
// first is looked at.
func (c *scan) sifted(p place, v *view) {
	c.sift(v.sketch, c.lowest()-p.base)
	rows := c.rows[:0]
	for block, mask := range c.masks {
		for ; mask != 0; mask &= mask - 1 {
			row := block*blockRows + bits.TrailingZeros32(mask)
			fetch(&c.kernels, v.codes[row*v.stride:][:v.stride])
			rows = append(rows, row)
		}
	}
	for _, row := range rows {
		c.kernels.dots(c.dots[:1], v.codes[row*v.stride:][:v.stride], c.codes.codes)
		c.consider(p.segment, v, row, c.dots[0])
	}
}

// sift marks the rows of a sketch that reach least: by the front of it, and in
// the blocks where that leaves any, by all of it. Where the front leaves most
// of them, it is not asked for some segments: the floor is low at first, and
// with some vectors it stays low.
func (c *scan) sift(k *sketch, least float32) {
	if c.pause > 0 {
		c.pause--
		c.kernels.sift(c.masks[:], k.bits, &k.rows, &c.sketch.whole, least, fetchAhead)
		return
	}
	c.kernels.sift(c.masks[:], k.front, &k.rows, &c.sketch.front, least/c.sketch.widen, fetchAhead)
	blocks := c.blocks[:0]
	for i, mask := range c.masks {
		if mask != 0 {
			blocks = append(blocks, i)
		}
	}
	blockBytes := len(k.bits) / len(c.masks)
	for n, i := range blocks {
		next := blocks[min(n+1, len(blocks)-1)]
		rows := estimators{k.rows.factors[i*blockRows:], k.rows.slacks[i*blockRows:]}
		c.kernels.sift(c.masks[i:i+1], k.bits[i*blockBytes:], &rows, &c.sketch.whole, least, (next-i)*blockBytes)
	}
	if 4*len(blocks) > 3*len(c.masks) {
		c.pause = frontPause
	}
}

// chosen reads the codes of some rows of a segment.
func (c *scan) chosen(i int, v *view, rows rowBits) {
	for row := range rows.all() {
		fetch(&c.kernels, v.codes[row*v.stride:][:v.stride])
	}
	for row := range rows.all() {
		c.kernels.dots(c.dots[:1], v.codes[row*v.stride:][:v.stride], c.codes.codes)
		c.consider(i, v, row, c.dots[0])
	}
}

// consider keeps a row if it may be among the best and may be returned, and
// returns the floor after that.
func (c *scan) consider(i int, v *view, row int, dot int32) float32 {
	cosine := float32(dot) * (c.codes.step * v.scales[row])
	bound := c.codes.spread*v.errors[row] + c.codes.offset
	floor := c.lowest()
	if cosine+bound < floor || marked(v.dead, row) {
		return floor
	}
	if c.among != nil && !c.among.segment(i).has(row) || c.allow != nil && !c.allow(v.ids[row]) {
		return floor
	}
	c.candidates = append(c.candidates, candidate{slotOf(i, row), cosine - bound, cosine + bound})
	c.floor.offer(cosine - bound)
	return c.lowest()
}

// thin lets go of candidates that the floor has overtaken.
func (c *scan) thin() {
	if len(c.candidates) <= c.prune {
		return
	}
	floor := c.lowest()
	c.candidates = slices.DeleteFunc(c.candidates, func(x candidate) bool { return x.high < floor })
	c.prune = max(c.prune, 2*len(c.candidates))
}
