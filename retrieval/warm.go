package retrieval

import (
	"context"
	"fmt"
	"slices"

	"ragagent/store"
)

// warmBatch is how many chunks Warm reads at a time.
const warmBatch = 256

// ChunkReader reads chunks by their ids; Records does.
type ChunkReader interface {
	ChunksByID(ctx context.Context, ids []string) ([]store.Chunk, error)
}

// Warm reads the chunks of every knowledge base that is loaded, as many as there
// is room for in memory, so that the first questions need not. It may take
// seconds and is for the background; what is asked for meanwhile is not held up.
func (x *Index) Warm(ctx context.Context, records ChunkReader) error {
	for _, kbID := range x.loaded() {
		var ids []string
		for d := range x.lexical.Documents(kbID) {
			ids = append(ids, x.lexical.DocumentChunks(kbID, d.ID)...)
			if len(ids) < warmBatch {
				continue
			}
			if room, err := x.warm(ctx, ids, records); err != nil || !room {
				return err
			}
			ids = ids[:0]
		}
		if room, err := x.warm(ctx, ids, records); err != nil || !room {
			return err
		}
	}
	return nil
}

// loaded returns the ids of the knowledge bases that are there, in order.
func (x *Index) loaded() (ids []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, b := range x.bases {
		if b.there {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// warm reads chunks, and says whether there was room for all.
func (x *Index) warm(ctx context.Context, ids []string, records ChunkReader) (room bool, err error) {
	ids = x.chunks.lacks(ids)
	for len(ids) > 0 {
		n := min(len(ids), warmBatch)
		chunks, err := records.ChunksByID(ctx, ids[:n])
		if err != nil {
			return false, fmt.Errorf("read %d chunks: %w", n, err)
		}
		for i := range chunks {
			if !x.chunks.offer(chunks[i]) {
				return false, nil
			}
		}
		ids = ids[n:]
	}
	return true, nil
}
