package retrieval

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ragagent/store"
)

// Whatever is put, asked for and forgotten: what comes back is what was put and
// not forgotten, and what is kept stays within its bound and is counted.
func TestChunkCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := int64(rapid.IntRange(1, 20_000).Draw(t, "most"))
		cache := newChunkCache(most)
		put := make(map[string]store.Chunk)
		id := func(t *rapid.T) string { return fmt.Sprint("chk_", rapid.IntRange(0, 15).Draw(t, "id")) }
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				chunk := store.Chunk{
					ID: id(t), KnowledgeBaseID: rapid.SampledFrom([]string{"kb_1", "kb_2"}).Draw(t, "kb"),
					Text: strings.Repeat("x", rapid.IntRange(0, 2000).Draw(t, "size")),
				}
				put[chunk.ID] = chunk
				cache.put([]store.Chunk{chunk})
			},
			"offer": func(t *rapid.T) {
				chunk := store.Chunk{ID: id(t), KnowledgeBaseID: "kb_2", Text: strings.Repeat("x", rapid.IntRange(0, 2000).Draw(t, "size")), Vector: []float32{1}}
				kept, before := put[chunk.ID], len(cache.chunks)
				if cache.chunks[chunk.ID] != nil {
					chunk.Text, chunk.KnowledgeBaseID = kept.Text, kept.KnowledgeBaseID // an id has one text
				}
				if cache.offer(chunk) {
					put[chunk.ID] = chunk
				}
				if len(cache.chunks) < before {
					t.Fatal("an offer took another chunk out")
				}
				if k := cache.chunks[chunk.ID]; k != nil && k.chunk.Vector != nil {
					t.Fatal("a vector is kept")
				}
			},
			"get": func(t *rapid.T) {
				ids := []string{id(t)}
				kept, missing := cache.get(ids)
				if len(kept) != 1 || (kept[0] == nil) != (len(missing) == 1) {
					t.Fatalf("%v kept, %q missing", kept, missing)
				}
				if chunk := kept[0]; chunk != nil && (chunk.Text != put[ids[0]].Text || chunk.ID != ids[0]) {
					t.Fatalf("%+v, want %+v", chunk, put[ids[0]])
				}
			},
			"forget": func(t *rapid.T) {
				id := id(t)
				delete(put, id)
				cache.forget([]string{id})
			},
			"drop": func(t *rapid.T) {
				for id, chunk := range put {
					if chunk.KnowledgeBaseID == "kb_1" {
						delete(put, id)
					}
				}
				cache.drop("kb_1")
			},
			"": func(t *rapid.T) {
				bytes := int64(0)
				for id, k := range cache.chunks {
					bytes += sizeOf(&k.chunk)
					if _, ok := put[id]; !ok {
						t.Fatalf("%s was forgotten", id)
					}
					if cache.ring[k.at] != k {
						t.Fatalf("%s is not in its place", id)
					}
				}
				if len(cache.ring) != len(cache.chunks) {
					t.Fatalf("%d in the ring of %d", len(cache.ring), len(cache.chunks))
				}
				if bytes != cache.bytes() || bytes > most {
					t.Fatalf("%d bytes, said to be %d, of %d", bytes, cache.bytes(), most)
				}
			},
		})
	})
}

// What is asked for again and again is kept while others come and go.
func TestChunkCacheKeepsWhatIsUsed(t *testing.T) {
	cache := newChunkCache(20 * (chunkOverhead + 100))
	used := store.Chunk{ID: "used"}
	cache.put([]store.Chunk{used})
	for i := range 1000 {
		cache.put([]store.Chunk{{ID: fmt.Sprint(i)}})
		if _, missing := cache.get([]string{"used"}); len(missing) > 0 {
			t.Fatalf("gone after %d others", i)
		}
	}
}
