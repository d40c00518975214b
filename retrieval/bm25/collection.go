package bm25

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"ragagent/store"
)

// collection is the chunks of one knowledge base. Searches read its snapshot;
// writers take turns and swap it.
type collection struct {
	name     string
	shop     *workshop
	snapshot atomic.Pointer[snapshot]

	mu        sync.Mutex         // of writers; guards what follows
	documents map[string]place   // the first or only piece of each
	rest      map[string][]place // the others of those that have several, in order
	titleUse  map[uint64]uint32  // live chunks by hash of their title
	titleDF   map[string]uint32  // distinct live titles by stem
}

// place is where a document or a piece of one is: its segment and its index there.
type place struct {
	segment *segment
	index   uint32
}

func newCollection(name string, shop *workshop) *collection {
	c := &collection{name: name, shop: shop}
	c.reset()
	return c
}

func (c *collection) reset() {
	c.documents = make(map[string]place)
	c.rest = make(map[string][]place)
	c.titleUse = make(map[uint64]uint32)
	c.titleDF = make(map[string]uint32)
	c.snapshot.Store(&snapshot{name: c.name})
}

// load replaces everything.
func (c *collection) load(ctx context.Context, chunks iter.Seq2[store.Chunk, error]) error {
	segments, done, err := c.shop.build(ctx, chunks)
	if err != nil {
		return err
	}
	defer done()
	fresh := newCollection(c.name, c.shop)
	fresh.change(nil, segments)
	c.become(fresh)
	return nil
}

// become makes the collection hold what another holds, which must not be used
// after.
func (c *collection) become(fresh *collection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.documents, c.rest, c.titleUse, c.titleDF = fresh.documents, fresh.rest, fresh.titleUse, fresh.titleDF
	c.snapshot.Store(fresh.snapshot.Load())
}

// adopt makes an empty collection hold segments. It returns false if a document
// is in them twice, or not all of it.
func (c *collection) adopt(segments []*segment) bool {
	e := c.edit()
	pieces := 0
	for _, s := range segments {
		e.add(s)
		pieces += len(s.documents)
	}
	if !c.whole(pieces) {
		return false
	}
	e.commit()
	return true
}

// replace puts new chunks in the place of a document's.
func (c *collection) replace(ctx context.Context, documentID string, chunks iter.Seq2[store.Chunk, error]) error {
	segments, done, err := c.shop.build(ctx, chunks)
	if err != nil {
		return err
	}
	defer done()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.change([]string{documentID}, segments)
	c.merge()
	return nil
}

// remove takes documents out and returns the ids of their chunks.
func (c *collection) remove(documentIDs []string) (chunks []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	there := make([]string, 0, len(documentIDs))
	for _, id := range slices.Compact(slices.Sorted(slices.Values(documentIDs))) {
		if _, ok := c.documents[id]; ok {
			there = append(there, id)
			chunks = c.appendChunks(chunks, id)
		}
	}
	if len(there) > 0 {
		c.change(there, nil)
		c.merge()
	}
	return chunks
}

// documentChunks returns the ids of a document's chunks.
func (c *collection) documentChunks(id string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.appendChunks(nil, id)
}

// appendChunks appends the ids of a document's chunks by ordinal.
func (c *collection) appendChunks(ids []string, document string) []string {
	for p := range c.pieces(document) {
		d := p.document()
		for chunk := d.first; chunk < d.first+d.count; chunk++ {
			ids = append(ids, p.segment.ids.at(int(chunk)))
		}
	}
	return ids
}

// change removes documents and adds segments, and makes that visible at once.
func (c *collection) change(remove []string, add []*segment) {
	e := c.edit()
	for _, id := range remove {
		for p := range c.pieces(id) {
			e.remove(p)
		}
		delete(c.documents, id)
		delete(c.rest, id)
	}
	for _, s := range add {
		e.add(s)
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

// remove marks the chunks of a piece of a document dead.
func (e *edit) remove(p place) {
	i := slices.IndexFunc(e.views, func(v *view) bool { return v.segment == p.segment })
	v := e.writable(i)
	d := p.document()
	for chunk := d.first; chunk < d.first+d.count; chunk++ {
		v.dead.set(chunk)
		e.titleGoes(v.segment, chunk)
	}
	v.live = v.live.minus(v.sizesOf(d.first, d.first+d.count))
	if v.live.chunks == 0 {
		e.views = slices.Delete(e.views, i, i+1)
	}
}

// add appends a segment. Its documents, or pieces of documents, are none that
// the collection has.
func (e *edit) add(s *segment) {
	v := &view{segment: s, live: s.sizesOf(0, uint32(s.chunks()))}
	e.views = append(e.views, v)
	e.own[v] = true
	v.titleDF = make([]uint32, s.titles.stems.len())
	come := make([]uint32, s.titles.stems.len()) // titles that are new, by stem
	for i := range s.documents {
		d := &s.documents[i]
		e.c.put(place{s, uint32(i)})
		for chunk := d.first; chunk < d.first+d.count; chunk++ {
			if title := s.titles.of[chunk]; title != noTitle && e.titleComes(s.titles.hash[title]) {
				for _, stem := range s.titles.stemsOf(title) {
					come[stem]++
				}
			}
		}
	}
	for stem, n := range come {
		term := s.titles.stems.term(stem)
		if n > 0 {
			e.countTitleStem(term, e.c.titleDF[term]+n)
		} else {
			v.titleDF[stem] = e.c.titleDF[term]
		}
	}
}

// titleComes counts a title once more, and says whether it is the first.
func (e *edit) titleComes(hash uint64) bool {
	e.c.titleUse[hash]++
	return e.c.titleUse[hash] == 1
}

// titleGoes counts the title of a chunk once less; if it was the last of that
// title, its stems are in one title less.
func (e *edit) titleGoes(s *segment, chunk uint32) {
	title := s.titles.of[chunk]
	if title == noTitle {
		return
	}
	hash := s.titles.hash[title]
	if e.c.titleUse[hash]--; e.c.titleUse[hash] > 0 {
		return
	}
	delete(e.c.titleUse, hash)
	for _, stem := range s.titles.stemsOf(title) {
		term := s.titles.stems.term(int(stem))
		e.countTitleStem(term, e.c.titleDF[term]-1)
	}
}

// countTitleStem says how many titles have a stem now.
func (e *edit) countTitleStem(stem string, df uint32) {
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
	next := &snapshot{name: e.c.name, views: e.views, titles: len(e.c.titleUse), titleStems: len(e.c.titleDF)}
	for _, v := range e.views {
		if e.own[v] && v.live.chunks == v.chunks() {
			v.dead = nil
		}
		if e.own[v] && len(v.titleDF) > 0 {
			v.mostTitleDF = slices.Max(v.titleDF)
		}
		next.mostTitleDF = max(next.mostTitleDF, v.mostTitleDF)
		next.live = next.live.plus(v.live)
	}
	next.joints = e.c.joints(next.views)
	e.c.snapshot.Store(next)
}
