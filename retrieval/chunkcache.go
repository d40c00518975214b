package retrieval

import (
	"sync"

	"ragagent/store"
)

// DefaultCacheBytes is the default of IndexConfig.CacheBytes: some 70,000 chunks
// of 800 characters.
const DefaultCacheBytes = 96 << 20

// chunkCache keeps chunks that were candidates of late, without their vectors:
// the second stage reads a hundred to show five. What a chunk's id stands for
// never changes, so what is kept is true as long as the chunk is there, which
// only the records can say.
type chunkCache struct {
	most int64

	mu sync.Mutex
	// What is asked for moves to young. When young would have more than half of
	// most, it becomes old, and what was old is forgotten.
	young, old generation
}

// generation is chunks by id.
type generation struct {
	chunks map[string]store.Chunk
	bytes  int64
}

func newChunkCache(most int64) *chunkCache {
	return &chunkCache{most: most, young: newGeneration(), old: newGeneration()}
}

func newGeneration() generation { return generation{chunks: make(map[string]store.Chunk)} }

// get returns the chunks of those ids that are kept, and the other ids.
func (c *chunkCache) get(ids []string) (kept map[string]store.Chunk, missing []string) {
	kept = make(map[string]store.Chunk, len(ids))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		chunk, ok := c.young.chunks[id]
		if !ok {
			if chunk, ok = c.old.chunks[id]; !ok {
				missing = append(missing, id)
				continue
			}
			c.old.remove(id)
			c.add(chunk)
		}
		kept[id] = chunk
	}
	return kept, missing
}

// put keeps chunks, which the caller does not change any more.
func (c *chunkCache) put(chunks []store.Chunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, chunk := range chunks {
		c.old.remove(chunk.ID)
		c.young.remove(chunk.ID)
		c.add(chunk)
	}
}

// add puts a chunk that is in no generation into the young one; one that is
// larger than half of most is not kept.
func (c *chunkCache) add(chunk store.Chunk) {
	size := sizeOf(&chunk)
	if size > c.most/2 {
		return
	}
	if c.young.bytes+size > c.most/2 {
		c.old, c.young = c.young, newGeneration()
	}
	c.young.chunks[chunk.ID] = chunk
	c.young.bytes += size
}

func (g *generation) remove(id string) {
	if chunk, ok := g.chunks[id]; ok {
		g.bytes -= sizeOf(&chunk)
		delete(g.chunks, id)
	}
}

// forget lets go of chunks.
func (c *chunkCache) forget(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.young.remove(id)
		c.old.remove(id)
	}
}

// drop lets go of the chunks of a knowledge base.
func (c *chunkCache) drop(kb string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range [2]*generation{&c.young, &c.old} {
		for id := range g.chunks {
			if g.chunks[id].KnowledgeBaseID == kb {
				g.remove(id)
			}
		}
	}
}

// bytes is the memory that the chunks take.
func (c *chunkCache) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.young.bytes + c.old.bytes
}

// chunkOverhead is what a chunk takes beside its texts: itself and its place in
// a map.
const chunkOverhead = 512

func sizeOf(c *store.Chunk) int64 {
	n := chunkOverhead + len(c.ID) + len(c.KnowledgeBaseID) + len(c.DocumentID) + len(c.Title) + len(c.Text) + len(c.Context)
	for _, h := range c.Headings {
		n += 16 + len(h)
	}
	return int64(n)
}
