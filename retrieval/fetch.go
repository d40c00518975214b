package retrieval

import (
	"context"
	"fmt"

	"ragagent/store"
)

// depth is how many candidates go on behind the first stage.
func (p *Pipeline) depth(plan *plan) int {
	depth := plan.TopK + spareDepth
	if p.reranks(plan) {
		depth = max(depth, rerankDepth)
	}
	if plan.sections() {
		depth = max(depth, sectionDepth*plan.TopK)
	}
	return depth
}

// fetch turns the best candidates into hits with their texts; whole says that
// all of them are still there, as far as that is known: see confirm.
func (p *Pipeline) fetch(ctx context.Context, match LexicalMatch, candidates []candidate, plan *plan) (hits []Hit, whole bool, err error) {
	candidates = candidates[:min(p.depth(plan), len(candidates))]
	ids := make([]string, len(candidates))
	for i := range candidates {
		ids[i] = candidates[i].lexical.ID
	}
	chunks, err := p.chunks(ctx, ids)
	if err != nil {
		return nil, false, fmt.Errorf("fetch %d chunks: %w", len(ids), err)
	}
	hits = make([]Hit, 0, len(chunks))
	for i := range candidates {
		c, chunk := &candidates[i], chunks[i]
		if chunk == nil {
			continue
		}
		hit := Hit{
			Chunk:             *chunk,
			KnowledgeBaseName: plan.names[chunk.KnowledgeBaseID],
			Score:             Calibrate(c.evidence),
			Terms:             match.Holds(c.lexical.Ref),
		}
		if plan.Explain || plan.explains(chunk.ID, chunk.DocumentID) {
			hit.Explain = c.explain(match, plan.Mode)
		}
		hits = append(hits, hit)
	}
	return hits, len(hits) == len(ids), nil
}

// chunks returns the chunks of different ids in their order, without vectors,
// nil for one that is not there. Some may have gone since they were read: what
// is shown has to be confirmed.
func (p *Pipeline) chunks(ctx context.Context, ids []string) ([]*store.Chunk, error) {
	kept, missing := p.index.chunks.get(ids)
	if len(missing) == 0 {
		return kept, nil
	}
	read, err := p.records.ChunksByID(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i := range read {
		read[i].Vector = nil
	}
	p.index.chunks.put(read)
	next := 0 // of read, which has the order of ids
	for i, id := range ids {
		if kept[i] == nil && next < len(read) && read[next].ID == id {
			kept[i] = &read[next]
			next++
		}
	}
	return kept, nil
}
