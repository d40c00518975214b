package retrieval

import (
	"iter"
	"sync"

	"ragagent/store"
)

// DefaultCacheBytes is the default of IndexConfig.CacheBytes: some 100,000
// chunks of 800 characters.
const DefaultCacheBytes = 128 << 20

// chunkCache keeps chunks without their vectors, for the second stage, which
// reads a hundred to show five: those that were candidates of late, and others
// as long as there is room. What a chunk's id stands for
// never changes, so what is kept is true as long as the chunk is there, which
// only the records can say.
type chunkCache struct {
	most int64

	mu     sync.Mutex
	chunks map[string]*keptChunk
	size   int64 // of all
	// A hand goes round the chunks when room is needed, and takes those out that
	// were not asked for since it came by (CLOCK, Corbató 1968).
	ring []*keptChunk
	hand int
}

type keptChunk struct {
	chunk store.Chunk // which nobody changes
	at    int         // in ring
	asked bool
}

func newChunkCache(most int64) *chunkCache {
	return &chunkCache{most: most, chunks: make(map[string]*keptChunk)}
}

// get returns the chunks of ids in their order, nil for those that are not kept,
// which are missing. They are shared: nobody changes them.
func (c *chunkCache) get(ids []string) (kept []*store.Chunk, missing []string) {
	kept = make([]*store.Chunk, len(ids))
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, id := range ids {
		if k, ok := c.chunks[id]; ok {
			k.asked = true
			kept[i] = &k.chunk
		} else {
			missing = append(missing, id)
		}
	}
	return kept, missing
}

// lacks returns those of ids that are not kept.
func (c *chunkCache) lacks(ids []string) (missing []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if c.chunks[id] == nil {
			missing = append(missing, id)
		}
	}
	return missing
}

// put keeps chunks without vectors, which the caller does not change any more.
// One that is larger than half of the cache is not kept.
func (c *chunkCache) put(chunks []store.Chunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range chunks {
		if k, ok := c.chunks[chunks[i].ID]; ok {
			c.remove(k)
		}
		size := sizeOf(&chunks[i])
		if size > c.most/2 {
			continue
		}
		for c.size+size > c.most {
			c.makeRoom()
		}
		k := &keptChunk{chunk: chunks[i], at: len(c.ring)}
		c.chunks[k.chunk.ID] = k
		c.ring = append(c.ring, k)
		c.size += size
	}
}

// offer keeps a chunk for which there is room without taking another one out,
// and says whether there was.
func (c *chunkCache) offer(chunk store.Chunk) bool {
	chunk.Vector = nil
	size := sizeOf(&chunk)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size+size > c.most {
		return false
	}
	if c.chunks[chunk.ID] == nil {
		k := &keptChunk{chunk: chunk, at: len(c.ring)}
		c.chunks[chunk.ID] = k
		c.ring = append(c.ring, k)
		c.size += size
	}
	return true
}

// passing offers the chunks that go by.
func (c *chunkCache) passing(chunks iter.Seq2[store.Chunk, error]) iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		for chunk, err := range chunks {
			if err == nil {
				c.offer(chunk)
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// makeRoom takes one chunk out.
func (c *chunkCache) makeRoom() {
	for {
		if c.hand >= len(c.ring) {
			c.hand = 0
		}
		k := c.ring[c.hand]
		c.hand++ // past what remove puts there, which is the latest
		if !k.asked {
			c.remove(k)
			return
		}
		k.asked = false
	}
}

func (c *chunkCache) remove(k *keptChunk) {
	last := len(c.ring) - 1
	c.ring[k.at] = c.ring[last]
	c.ring[k.at].at = k.at
	c.ring[last] = nil
	c.ring = c.ring[:last]
	delete(c.chunks, k.chunk.ID)
	c.size -= sizeOf(&k.chunk)
}

// forget lets go of chunks.
func (c *chunkCache) forget(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if k, ok := c.chunks[id]; ok {
			c.remove(k)
		}
	}
}

// drop lets go of the chunks of a knowledge base.
func (c *chunkCache) drop(kb string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.chunks {
		if k.chunk.KnowledgeBaseID == kb {
			c.remove(k)
		}
	}
}

// bytes is the memory that the chunks take.
func (c *chunkCache) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// chunkOverhead is what a chunk takes beside its texts: itself, its places in map
// and ring, and what the allocator rounds up.
const chunkOverhead = 400

func sizeOf(c *store.Chunk) int64 {
	n := chunkOverhead + len(c.ID) + len(c.KnowledgeBaseID) + len(c.DocumentID) + len(c.Title) + len(c.Text) + len(c.Context)
	for _, h := range c.Headings {
		n += 16 + len(h)
	}
	return int64(n)
}
