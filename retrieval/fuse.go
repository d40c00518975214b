package retrieval

import (
	"cmp"
	"slices"
	"strings"
)

// How far the first stage looks.
const (
	// lexicalDepth is how many chunks the words bring in. Beyond these the
	// vectors change nothing: fusing all chunks gave the same rankings.
	lexicalDepth = 200
	// denseDepth is how many the vectors bring in of each knowledge base.
	denseDepth = 100
)

// candidate is a chunk on its way through the first stage.
type candidate struct {
	lexical  LexicalHit
	cosine   float64
	weight   float64 // of the cosine: that of its knowledge base's embedder
	topic    float64 // Topics' cosine
	evidence float64 // what it is ranked by
}

// gather unites the best chunks by words and by vectors. A vector whose chunk
// the lexical snapshot does not have is of a document that just came or went.
func gather(match LexicalMatch, lexical []LexicalHit, dense *denseResult) []candidate {
	candidates := make([]candidate, 0, len(lexical)+len(dense.near))
	seen := make(map[ChunkRef]bool, cap(candidates))
	for _, hit := range lexical {
		seen[hit.Ref] = true
		candidates = append(candidates, candidate{lexical: hit})
	}
	var refs []ChunkRef
	for _, near := range dense.near {
		if ref, ok := match.Find(near.ID); ok && !seen[ref] {
			seen[ref] = true
			refs = append(refs, ref)
		}
	}
	for _, hit := range match.Hits(refs) {
		candidates = append(candidates, candidate{lexical: hit})
	}
	return candidates
}

// order sorts the candidates by the evidence of a mode.
func order(match LexicalMatch, candidates []candidate, mode Mode) {
	if mode == Dense {
		rankByCosine(candidates)
		return
	}
	fuse(match, candidates)
}

// fuse sets the evidence of every candidate and sorts them by it.
//
//	own      = Words + weight cosine + TopicWeight topic + Surface
//	evidence = own + NeighbourWeight max(own of the chunk before, of the one after)
//
// A neighbour that is no candidate counts by its words alone.
func fuse(match LexicalMatch, candidates []candidate) {
	own := make(map[ChunkRef]float64, len(candidates))
	for i := range candidates {
		own[candidates[i].lexical.Ref] = candidates[i].own()
	}
	for i := range candidates {
		c := &candidates[i]
		best := 0.
		for _, ref := range [2]ChunkRef{c.lexical.Before, c.lexical.After} {
			if ref == NoChunk {
				continue
			}
			score, known := own[ref]
			if !known {
				score = match.Own(ref)
			}
			best = max(best, score)
		}
		c.evidence = c.own() + NeighbourWeight*best
	}
	sortCandidates(candidates)
}

func (c *candidate) own() float64 {
	return c.lexical.Words + c.weight*c.cosine + TopicWeight*c.topic + c.lexical.Surface
}

// rankByCosine is fuse for Dense mode.
func rankByCosine(candidates []candidate) {
	for i := range candidates {
		candidates[i].evidence = max(candidates[i].cosine, 0)
	}
	sortCandidates(candidates)
}

func sortCandidates(candidates []candidate) {
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(b.evidence, a.evidence),
			cmp.Compare(b.cosine, a.cosine), // where the cosine has no weight
			strings.Compare(a.lexical.ID, b.lexical.ID),
		)
	})
}

// explain tells how the evidence came about.
func (c *candidate) explain(match LexicalMatch, mode Mode) *Explanation {
	root := &Explanation{Label: "first stage", Value: c.evidence}
	if mode == Dense {
		root.Details = []Explanation{{Label: "cosine", Value: c.cosine}}
		return root
	}
	root.Details = append(root.Details, Explanation{
		Label: "words", Value: c.lexical.Words, Details: match.Explain(c.lexical.Ref),
	})
	if c.cosine != 0 {
		root.Details = append(root.Details, Explanation{
			Label: "vectors", Value: c.weight * c.cosine,
			Details: []Explanation{{Label: "weight", Value: c.weight}, {Label: "cosine", Value: c.cosine}},
		})
	}
	if c.topic != 0 {
		root.Details = append(root.Details, Explanation{
			Label: "topics", Value: TopicWeight * c.topic,
			Details: []Explanation{{Label: "cosine", Value: c.topic}},
		})
	}
	root.Details = append(root.Details, Explanation{Label: "unstemmed words", Value: c.lexical.Surface})
	if neighbour := c.evidence - c.own(); neighbour != 0 {
		root.Details = append(root.Details, Explanation{Label: "neighbouring chunk", Value: neighbour})
	}
	return root
}
