package retrieval

import (
	"context"
	"errors"
	"fmt"

	"ragagent/store"
)

// DefaultDenseWeight is what a cosine of 1 adds to the evidence, as it was
// measured for the built-in embedder. .3 ranks prose a little better (+.002),
// but pages of tables much worse (-.025).
const DefaultDenseWeight = .2

// Sighting is a chunk as the first stage sees it.
type Sighting struct {
	ID     string
	Words  float64 // LexicalHit.Score
	Cosine float64 // 0 without a vector
}

// Sightings returns the depth best chunks of a knowledge base by words, best
// first, and then the chunk with the id also, unless it is among them or the
// index does not have it. Each comes with the cosine of its vector and the
// question's. None if the embedder has nothing to say about the text: what a
// weight is calibrated with. kb may name another set of vectors than the one
// that is searched, see Index.LoadShadow.
func (p *Pipeline) Sightings(ctx context.Context, kb store.KnowledgeBase, text string, depth int, also string) ([]Sighting, error) {
	space, unpin, ok := p.index.pin(kb)
	if !ok {
		return nil, fmt.Errorf("the vectors of %s are not there: %w", kb.Name, store.ErrNotFound)
	}
	defer unpin()
	vector, err := p.embedQuery(ctx, kb, text)
	if err != nil || vector == nil {
		return nil, err
	}
	match, err := p.index.lexical.Search(ctx, []string{kb.ID}, text)
	if err != nil {
		return nil, fmt.Errorf("search words: %w", err)
	}
	defer match.Release()
	hits := match.Top(depth)
	var out []Sighting
	for _, h := range hits {
		out = append(out, Sighting{ID: h.ID, Words: h.Score})
		if h.ID == also {
			also = ""
		}
	}
	if ref, ok := match.Find(also); ok {
		out = append(out, Sighting{ID: also, Words: match.Hits([]ChunkRef{ref})[0].Score})
	}
	ids := make([]string, len(out))
	for i := range out {
		ids[i] = out[i].ID
	}
	cosines, err := p.index.vectors.Cosines(ctx, space, vector, ids)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil // no chunk has a vector
	}
	if err != nil {
		return nil, fmt.Errorf("compare with the vectors of %s: %w", kb.Name, err)
	}
	for i := range out {
		out[i].Cosine = float64(cosines[i])
	}
	return out, nil
}
