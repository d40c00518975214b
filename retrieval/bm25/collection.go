package bm25

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// collection is the chunks of one knowledge base. Searches read its snapshot;
// writers take turns and swap it.
type collection struct {
	name     string
	analyzer *analysis.Analyzer
	snapshot atomic.Pointer[snapshot]

	mu        sync.Mutex // of writers; guards what follows
	documents map[string]place
	titleUse  map[uint64]uint32 // live chunks by hash of their title
	titleDF   map[string]uint32 // distinct live titles by stem
}

// place is where a document is: its segment and its index there.
type place struct {
	segment *segment
	index   uint32
}

func newCollection(name string, a *analysis.Analyzer) *collection {
	c := &collection{name: name, analyzer: a}
	c.reset()
	return c
}

func (c *collection) reset() {
	c.documents = make(map[string]place)
	c.titleUse = make(map[uint64]uint32)
	c.titleDF = make(map[string]uint32)
	c.snapshot.Store(&snapshot{name: c.name})
}

// load replaces everything.
func (c *collection) load(ctx context.Context, chunks iter.Seq2[store.Chunk, error]) error {
	segments, err := buildSegments(ctx, c.analyzer, chunks)
	if err != nil {
		return err
	}
	fresh := newCollection(c.name, c.analyzer)
	fresh.change(nil, segments)
	fresh.mergeAll()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.documents, c.titleUse, c.titleDF = fresh.documents, fresh.titleUse, fresh.titleDF
	c.snapshot.Store(fresh.snapshot.Load())
	return nil
}

// replace puts new chunks in the place of a document's.
func (c *collection) replace(ctx context.Context, documentID string, chunks iter.Seq2[store.Chunk, error]) error {
	segments, err := buildSegments(ctx, c.analyzer, chunks)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.change([]string{documentID}, segments)
	c.merge()
	return nil
}

// documentChunks returns the ids of a document's chunks.
func (c *collection) documentChunks(id string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.documents[id]
	if !ok {
		return nil
	}
	d := p.segment.documents[p.index]
	return slices.Clone(p.segment.ids[d.first : d.first+d.count])
}

// change removes documents and adds segments, and makes that visible at once.
func (c *collection) change(remove []string, add []*segment) {
	e := c.edit()
	for _, id := range remove {
		if p, ok := c.documents[id]; ok {
			e.remove(p)
			delete(c.documents, id)
		}
	}
	for _, s := range add {
		e.add(s)
		for i, d := range s.documents {
			c.documents[d.id] = place{s, uint32(i)}
		}
	}
	e.commit()
}

// edit is a change of a collection that no search sees yet.
type edit struct {
	c     *collection
	views []*view
	own   map[*view]bool // made by this edit, so it may be changed
}

func (c *collection) edit() *edit {
	return &edit{c: c, views: slices.Clone(c.snapshot.Load().views), own: make(map[*view]bool)}
}

// writable returns the i-th view for changing.
func (e *edit) writable(i int) *view {
	if v := e.views[i]; e.own[v] {
		return v
	}
	v := *e.views[i]
	v.dead = v.dead.copyOf(v.chunks())
	v.titleDF = slices.Clone(v.titleDF)
	e.views[i] = &v
	e.own[&v] = true
	return &v
}

// remove marks the chunks of a document dead.
func (e *edit) remove(p place) {
	i := slices.IndexFunc(e.views, func(v *view) bool { return v.segment == p.segment })
	v := e.writable(i)
	d := v.documents[p.index]
	for chunk := d.first; chunk < d.first+d.count; chunk++ {
		v.dead.set(chunk)
		e.countTitle(v.segment, chunk, false)
	}
	v.live = v.live.minus(v.sizesOf(d.first, d.first+d.count))
	if v.live.chunks == 0 {
		e.views = slices.Delete(e.views, i, i+1)
	}
}

// add appends a segment whose chunks are all alive.
func (e *edit) add(s *segment) {
	v := &view{segment: s, live: s.sizesOf(0, uint32(s.chunks()))}
	v.titleDF = make([]uint32, s.titles.stems.len())
	for stem := range v.titleDF {
		v.titleDF[stem] = e.c.titleDF[s.titles.stems.term(stem)]
	}
	e.views = append(e.views, v)
	e.own[v] = true
	for chunk := range uint32(s.chunks()) {
		e.countTitle(s, chunk, true)
	}
}

// countTitle counts the title of a chunk that comes or goes; if it is the
// first or last of that title, its stems are in one title more or less.
func (e *edit) countTitle(s *segment, chunk uint32, come bool) {
	title := s.titles.of[chunk]
	if title == noTitle {
		return
	}
	hash := s.titles.hash[title]
	if come {
		e.c.titleUse[hash]++
		if e.c.titleUse[hash] > 1 {
			return
		}
	} else {
		e.c.titleUse[hash]--
		if e.c.titleUse[hash] > 0 {
			return
		}
		delete(e.c.titleUse, hash)
	}
	for _, stem := range s.titles.stemsOf(title) {
		e.countTitleStem(s.titles.stems.term(int(stem)), come)
	}
}

func (e *edit) countTitleStem(stem string, come bool) {
	df := e.c.titleDF[stem]
	if come {
		df++
	} else {
		df--
	}
	if df == 0 {
		delete(e.c.titleDF, stem)
	} else {
		e.c.titleDF[stem] = df
	}
	for i, v := range e.views {
		if number := v.titles.stems.find(stem); number >= 0 {
			e.writable(i).titleDF[number] = df
		}
	}
}

// commit makes the change visible.
func (e *edit) commit() {
	next := &snapshot{name: e.c.name, views: e.views, titles: len(e.c.titleUse)}
	for _, v := range e.views {
		if e.own[v] && v.live.chunks == v.chunks() {
			v.dead = nil
		}
		next.live = next.live.plus(v.live)
	}
	e.c.snapshot.Store(next)
}
