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
	// workerIDs is how many rows are, that are looked up by their ids.
	workerIDs = 2 << 10
	// manyRows are so many that a search may take all cores for its moment.
	manyRows = 1 << 18
	// centresAhead is how many segments before its turn a centre is fetched.
	centresAhead = 4
	// checkEvery is how many segments are scanned between looks at the context.
	checkEvery = 32
)

// search is one question to one snapshot.
type search struct {
	snapshot *snapshot
	kernels  kernels
	unit     []float32 // the query, L2 norm 1
	codes    queryCodes
	k        int
	allow    func(id string) bool // nil for all
	among    rowSet               // nil for all
	sketched bool                 // sketches may be used
	sketch   sketchQuery          // if they may
	order    []place              // segments to scan, in this order
}

// place is a segment that is to be scanned.
type place struct {
	segment int
	base    float32 // cosine with the centre of its sketch, if that is used
}

// search returns the best rows of a snapshot.
func (x *Index) search(ctx context.Context, c *collection, s *snapshot, unit []float32, q store.VectorQuery) ([]store.VectorHit, error) {
	job := &search{snapshot: s, kernels: x.kernels, unit: unit, k: min(q.K, s.live), allow: q.Allow}
	if q.Among != nil {
		job.among = newRowSet(&x.kernels, s, q.Among, x.workersFor(s, len(q.Among), workerIDs))
		job.k = min(q.K, job.among.count())
	}
	if job.k == 0 {
		return nil, ctx.Err()
	}
	job.codes.encode(unit)
	if s.live > c.exactUpTo && c.dim >= minSketchDim && !q.Exact && q.Among == nil && q.Allow == nil {
		job.sketched = true
		job.sketch.encode(c.rotation, unit)
	}
	job.plan()
	scans := x.scans(job)
	defer func() {
		for _, c := range scans {
			c.search = nil
			x.scratch.Put(c)
		}
	}()
	var wg sync.WaitGroup
	for i, c := range scans[1:] {
		wg.Go(func() { c.run(ctx, i+1, len(scans)) })
	}
	scans[0].run(ctx, 0, len(scans))
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return job.rescore(scans), nil
}

// plan chooses the segments to scan. Those without a sketch come first, then
// those whose centre is the nearest: what they hold lets most of the others'
// rows be passed over.
func (j *search) plan() {
	j.order = make([]place, 0, len(j.snapshot.views))
	for i := range j.snapshot.views {
		v := &j.snapshot.views[i]
		if v.segment == nil || j.among != nil && j.among.segment(i).count() == 0 {
			continue
		}
		p := place{segment: i, base: float32(math.Inf(1))}
		if j.sketched && v.sketch != nil {
			if next := i + centresAhead; next < len(j.snapshot.views) && j.snapshot.views[next].sketch != nil {
				fetch(&j.kernels, j.snapshot.views[next].sketch.centre)
			}
			p.base = j.kernels.cosine(j.unit, v.sketch.centre)
		}
		j.order = append(j.order, p)
	}
	if j.sketched {
		slices.SortFunc(j.order, func(a, b place) int {
			return cmp.Or(cmp.Compare(b.base, a.base), cmp.Compare(a.segment, b.segment))
		})
	}
}

// workersFor returns how many workers are worth it for so many rows of a
// snapshot, if each should have some.
func (x *Index) workersFor(s *snapshot, rows, each int) int {
	workers := x.workers
	if s.live+s.dead > manyRows {
		workers = max(workers, x.workersOfMany)
	}
	return max(1, min(workers, rows/each))
}

// scans returns one scan for each worker that is worth it.
func (x *Index) scans(job *search) []*scan {
	n := x.workersFor(job.snapshot, job.snapshot.live+job.snapshot.dead, workerRows)
	if job.among != nil {
		n = x.workersFor(job.snapshot, job.among.count(), workerIDs)
	}
	n = max(1, min(n, len(job.order)))
	if n > 1 && job.allow != nil {
		var mu sync.Mutex
		ask := job.allow
		job.allow = func(id string) bool {
			mu.Lock()
			defer mu.Unlock()
			return ask(id)
		}
	}
	scans := make([]*scan, n)
	for i := range scans {
		scans[i] = x.scratch.Get().(*scan)
		scans[i].start(job)
	}
	return scans
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

// rescore returns the best of the candidates by their exact cosines.
func (j *search) rescore(scans []*scan) []store.VectorHit {
	merged := &scans[0].floor
	for _, c := range scans[1:] {
		for _, low := range c.floor.items {
			merged.offer(low)
		}
	}
	floor := scans[0].lowest()
	var top best[hit]
	top.reset(j.k, func(a, b hit) int { return compareHits(b, a) })
	score := func(c candidate) {
		top.offer(hit{c.at, j.kernels.cosine(j.unit, j.snapshot.vector(c.at)), j.snapshot.id(c.at)})
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

// lowest returns what the k-th best cosine is at least.
func (c *scan) lowest() float32 {
	if !c.floor.full() {
		return float32(math.Inf(-1))
	}
	return c.floor.last()
}
