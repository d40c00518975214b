package ingest

import (
	"context"
	"crypto/sha256"
	"fmt"

	"ragagent/store"
)

// maxReused bounds the memory that vectors of the visible revision take while
// the next one is embedded, in bytes; what is beyond is embedded again.
const maxReused = 64 << 20

// textKey stands for an embedded text.
type textKey [16]byte

func keyOf(c store.Chunk) textKey {
	sum := sha256.Sum256([]byte(indexed(c)))
	return textKey(sum[:])
}

// reusable collects the vectors of a document's visible revision by the texts
// they were made from: what has not changed need not be embedded again. A text
// the embedder had nothing to say about is there with no vector.
func (t *task) reusable(ctx context.Context, kb store.KnowledgeBase, visible store.Document) (map[textKey][]float32, error) {
	if visible.Revision == 0 || kb.Fingerprint != t.embedder.Fingerprint() {
		return nil, nil
	}
	known := map[textKey][]float32{}
	size := 0
	for c, err := range t.cfg.Records.VisibleChunks(ctx, kb.ID, visible.ID) {
		if err != nil {
			return nil, fmt.Errorf("read the visible revision: %w", err)
		}
		if c.Revision != visible.Revision || size > maxReused {
			break
		}
		known[keyOf(c)] = c.Vector
		size += len(textKey{}) + 4*len(c.Vector)
	}
	return known, nil
}

// reuse gives the chunks their known vectors and returns the places of the
// others.
func (t *task) reuse(chunks []store.Chunk) (missing []int) {
	for i := range chunks {
		var vector []float32
		known := false
		if len(t.known) > 0 {
			vector, known = t.known[keyOf(chunks[i])]
		}
		if !known {
			missing = append(missing, i)
			continue
		}
		chunks[i].Vector, chunks[i].Fingerprint = vector, t.embedder.Fingerprint()
		t.reused++
	}
	return missing
}
