package chromem

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"ragagent/store"
)

const (
	// workerRows is how many rows are worth a goroutine.
	workerRows = 16 << 10
	// checkEvery is how many segments are scanned between looks at the context.
	checkEvery = 32
	// pruneAt is how many candidates are kept before they are thinned out.
	pruneAt = 1 << 12
)

// search returns the k best rows of a snapshot.
func (x *Index) search(ctx context.Context, s *snapshot, unit []float32, k int, allow func(string) bool) ([]store.VectorHit, error) {
	k = min(k, s.live)
	if k == 0 {
		return nil, ctx.Err()
	}
	scans := x.scans(s, allow)
	defer func() {
		for _, c := range scans {
			c.allow = nil
			x.scratch.Put(c)
		}
	}()
	var wg sync.WaitGroup
	for i, c := range scans {
		c.start(x.kernels, unit, k)
		from, to := i*len(s.views)/len(scans), (i+1)*len(s.views)/len(scans)
		if i == len(scans)-1 {
			c.run(ctx, s, from, to)
			break
		}
		wg.Go(func() { c.run(ctx, s, from, to) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return x.rescore(s, unit, k, scans), nil
}

// scans returns one scan for each worker that is worth it.
func (x *Index) scans(s *snapshot, allow func(string) bool) []*scan {
	n := max(1, min(x.workers, (s.live+s.dead)/workerRows, len(s.views)))
	if n > 1 && allow != nil {
		var mu sync.Mutex
		ask := allow
		allow = func(id string) bool {
			mu.Lock()
			defer mu.Unlock()
			return ask(id)
		}
	}
	scans := make([]*scan, n)
	for i := range scans {
		scans[i] = x.scratch.Get().(*scan)
		scans[i].allow = allow
	}
	return scans
}

// scan is one worker's part of a search: it collects the rows that may be
// among the k best, by the bounds of their cosines.
type scan struct {
	kernels    kernels
	query      queryCodes
	allow      func(id string) bool
	floor      best[float32] // the k largest lower bounds
	candidates []candidate
	prune      int
	dots       [maxRows]int32
}

// candidate is a row whose cosine is within low..high.
type candidate struct {
	at        slot
	low, high float32
}

func (c *scan) start(k kernels, unit []float32, n int) {
	c.kernels = k
	c.query.encode(unit)
	c.floor.reset(n, cmp.Compare[float32])
	c.candidates = c.candidates[:0]
	c.prune = max(pruneAt, 2*n)
}

func (c *scan) run(ctx context.Context, s *snapshot, from, to int) {
	for i := from; i < to; i++ {
		if (i-from)%checkEvery == 0 && ctx.Err() != nil {
			return
		}
		if v := &s.views[i]; v.segment != nil {
			c.segment(i, v)
		}
	}
}

func (c *scan) segment(i int, v *view) {
	dots := c.dots[:v.n]
	c.kernels.dots(dots, v.codes[:v.n*v.stride], c.query.codes)
	scales, errors := v.scales[:v.n], v.errors[:v.n]
	floor := c.lowest()
	for row, dot := range dots {
		cosine := float32(dot) * (c.query.step * scales[row])
		bound := c.query.spread*errors[row] + c.query.offset
		if cosine+bound < floor || marked(v.dead, row) {
			continue
		}
		if c.allow != nil && !c.allow(v.ids[row]) {
			continue
		}
		c.candidates = append(c.candidates, candidate{slotOf(i, row), cosine - bound, cosine + bound})
		c.floor.offer(cosine - bound)
		floor = c.lowest()
	}
	if len(c.candidates) > c.prune {
		c.candidates = slices.DeleteFunc(c.candidates, func(x candidate) bool { return x.high < floor })
		c.prune = max(c.prune, 2*len(c.candidates))
	}
}

// lowest returns what the k-th best cosine is at least.
func (c *scan) lowest() float32 {
	if !c.floor.full() {
		return float32(math.Inf(-1))
	}
	return c.floor.last()
}

// hit is a row with its exact cosine.
type hit struct {
	at    slot
	score float32
	id    string
}

// compareHits orders by falling score, then by rising id.
func compareHits(a, b hit) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return cmp.Compare(a.id, b.id)
}

// rescore returns the k best of the candidates by their exact cosines.
func (x *Index) rescore(s *snapshot, unit []float32, k int, scans []*scan) []store.VectorHit {
	floor := scans[0].lowest()
	if len(scans) > 1 {
		merged := &scans[0].floor
		for _, c := range scans[1:] {
			for _, low := range c.floor.items {
				merged.offer(low)
			}
		}
		floor = scans[0].lowest()
	}
	var top best[hit]
	top.reset(k, func(a, b hit) int { return compareHits(b, a) })
	score := func(c candidate) {
		top.offer(hit{c.at, x.kernels.cosine(unit, s.vector(c.at)), s.id(c.at)})
	}
	// Those that are certainly as good as the floor come first: after them the
	// k-th best is nearly known, and most of the others need no look.
	for _, c := range scans {
		for _, cand := range c.candidates {
			if cand.low >= floor {
				score(cand)
			}
		}
	}
	for _, c := range scans {
		for _, cand := range c.candidates {
			if cand.low < floor && cand.high >= floor && (!top.full() || cand.high >= top.last().score) {
				score(cand)
			}
		}
	}
	slices.SortFunc(top.items, compareHits)
	hits := make([]store.VectorHit, len(top.items))
	for i, h := range top.items {
		hits[i] = store.VectorHit{ID: h.id, Score: h.score}
	}
	return hits
}
