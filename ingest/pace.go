package ingest

import (
	"path"
	"strings"
	"sync"
	"time"

	"ragagent/store"
)

// pace is what one unit of some work took lately: sums over jobs, of which each
// new one halves the weight of those before. What every job takes whatever its
// size is told apart from what its units take by size: of jobs that are far from
// alike only the large ones count.
type pace struct{ spent, units float64 }

// alike is how many times as large as another a job may be for one to tell of
// the other: beyond that, what a small file takes to be opened and recorded
// would be taken for the pace of a large one.
const alike = 12

func (p *pace) add(spent time.Duration, units int) {
	switch n := float64(units); {
	case spent <= 0 || units <= 0 || alike*n < p.units:
		return
	case n > alike*p.units:
		*p = pace{spent.Seconds(), n}
	default:
		p.spent, p.units = p.spent/2+spent.Seconds(), p.units/2+n
	}
}

// of returns what units are expected to take, in seconds; not ok while nothing
// is known of as many.
func (p pace) of(units float64) (seconds float64, ok bool) {
	if p.units == 0 || units > alike*p.units {
		return 0, false
	}
	return units * p.spent / p.units, true
}

// paces is what the service has learned of how long its work takes. A job whose
// end depends on work that was never done before, or not on nearly as much, has no
// expected end.
type paces struct {
	mu sync.Mutex
	// Per byte of the original, by the ending of its name: formats differ by
	// orders of magnitude.
	parse  map[string]*pace
	chunks map[string]*pace // chunks that come of it, in the place of seconds
	// Per chunk.
	cut   pace
	embed map[string]*pace // by embedder
	index pace
}

// maxPaces bounds what is remembered of each kind.
const maxPaces = 256

func newPaces() *paces {
	return &paces{parse: map[string]*pace{}, chunks: map[string]*pace{}, embed: map[string]*pace{}}
}

// known returns the pace under a name, which it makes.
func known(m map[string]*pace, name string) *pace {
	p := m[name]
	if p == nil {
		p = &pace{}
		if len(m) < maxPaces {
			m[name] = p
		}
	}
	return p
}

// course is what an attempt has to do, as far as it is known.
type course struct {
	format   string // ending of the name
	embedder string
	bytes    int // of the original; 0 while unknown
	chunks   int // 0 while unknown

	stage store.Stage
	began time.Time // with the stage
	from  int       // what was done of it then
	done  int
	total int
}

func formatOf(name string) string { return strings.ToLower(path.Ext(name)) }

// learn takes the figures of a stage that has ended.
func (p *paces) learn(c course, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	spent := now.Sub(c.began)
	switch c.stage {
	case store.StageParse:
		known(p.parse, c.format).add(spent, c.bytes)
	case store.StageChunk:
		p.cut.add(spent, c.chunks)
		known(p.chunks, c.format).add(time.Duration(c.chunks)*time.Second, c.bytes)
	case store.StageEmbed:
		known(p.embed, c.embedder).add(spent, c.chunks-c.from)
	case store.StageIndex:
		p.index.add(spent, c.chunks)
	}
}

// ends is when the whole job is expected to be done: the rest of this stage by
// its own pace, or where it has none yet by that of earlier jobs, and the stages
// behind it by that of earlier jobs. Zero if that cannot be said.
func (p *paces) ends(c course, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	left, ok := p.left(c, now)
	if !ok {
		return time.Time{}
	}
	return now.Add(time.Duration(left * float64(time.Second)))
}

func (p *paces) left(c course, now time.Time) (seconds float64, ok bool) {
	chunks := float64(c.chunks)
	if c.chunks == 0 {
		if chunks, ok = known(p.chunks, c.format).of(float64(c.bytes)); !ok {
			return 0, false
		}
	}
	stages := []struct {
		stage store.Stage
		pace  pace
		units float64
	}{
		{store.StageParse, *known(p.parse, c.format), float64(c.bytes)},
		{store.StageChunk, p.cut, chunks},
		{store.StageEmbed, *known(p.embed, c.embedder), chunks},
		{store.StageIndex, p.index, chunks},
	}
	behind := false
	for _, s := range stages {
		rest, ok := s.pace.of(s.units)
		switch {
		case s.stage == c.stage:
			behind = true
			rest, ok = c.rest(rest, ok, now)
		case !behind:
			continue
		}
		if !ok {
			return 0, false
		}
		seconds += rest
	}
	return seconds, behind
}

// rest is what the present stage still takes; whole is what all of it takes by
// the pace of earlier jobs. What an earlier attempt has done of it is not
// counted as this one's pace.
func (c course) rest(whole float64, ok bool, now time.Time) (seconds float64, known bool) {
	elapsed := now.Sub(c.began).Seconds()
	if did := c.done - c.from; did > 0 && elapsed > 0 {
		return elapsed * float64(c.total-c.done) / float64(did), true
	}
	if c.total > 0 {
		whole *= float64(c.total-c.from) / float64(c.total)
	}
	return max(whole-elapsed, 0), ok && whole > elapsed
}
