package retrieval

import (
	"context"
	"fmt"
	"slices"

	"ragagent/store"
)

// Outcome says where a chunk that was asked about fell out of a search.
type Outcome string

// Outcomes, from the first place a chunk can fall out at to the last.
const (
	NotSearched    Outcome = "not_searched"    // no such chunk or document in the searched knowledge bases
	Filtered       Outcome = "filter"          // the filter does not choose its document
	NoCandidate    Outcome = "candidates"      // neither its words nor its vector brought it in
	FirstStage     Outcome = "first_stage"     // others had more evidence before reranking
	Gone           Outcome = "gone"            // deleted or replaced while the question was answered
	BelowThreshold Outcome = "score_threshold" // its score is too low
	InSection      Outcome = "section"         // shown within the section of a better chunk
	Duplicate      Outcome = "duplicate"       // says what a better hit says, which names it in AlsoIn
	BelowCut       Outcome = "top_k"           // others ranked before it
	Found          Outcome = "found"           // it is a hit
)

// String says it in a sentence.
func (o Outcome) String() string {
	switch o {
	case NotSearched:
		return "the searched knowledge bases have no such chunk or document"
	case Filtered:
		return "the filter does not choose its document"
	case NoCandidate:
		return "others have more of the question's words, and others are nearer by their vectors"
	case FirstStage:
		return "others rank before it by words and vectors together, before reranking"
	case Gone:
		return "it was deleted or replaced while the question was answered"
	case BelowThreshold:
		return "its score is below the threshold"
	case InSection:
		return "it is shown within the section of a better chunk"
	case Duplicate:
		return "it says what a better hit says, and is folded into it"
	case BelowCut:
		return "others rank before it, and no more were asked for"
	}
	return "it is a hit"
}

// maxStood bounds the chunks of one document that are looked at.
const maxStood = 4096

// Standing tells what became of one chunk, from the numbers that ranked it.
type Standing struct {
	ChunkID    string
	DocumentID string // "" if it was not searched
	Outcome    Outcome
	// Hit is the number of the hit, from 0, that it is, that shows it, or that
	// says the same; -1 if there is none.
	Hit int
	// Steps are the rankings it took part in, or was too weak for.
	Steps []Step
	// Missing are the words of the query that it does not have.
	Missing []TermWeight
	Explain *Explanation // nil if it was not searched
}

// Step is the place of a chunk in one ranking.
type Step struct {
	// Name is "words", "vectors", "fused", "reranked".
	Name string
	// Rank counts from 1; 0 says that it is behind all that were ranked.
	Rank, Of int
	// Value is what was ranked by: LexicalHit.Score, the cosine, the calibrated
	// score. Needed is that of the last that went on; 0 if all did.
	Value, Needed float64
}

// explains says whether the standing of a chunk was asked for.
func (p *plan) explains(chunkID, documentID string) bool {
	return p.ExplainChunk != "" && (p.ExplainChunk == chunkID || p.ExplainChunk == documentID)
}

// course is what the stages of a search made of their chunks.
type course struct {
	found      *found
	candidates []candidate // by evidence
	fetched    int         // how many of them went on
	reranked   []Hit
	merged     []Hit
	hits       []Hit
}

// standing tells what became of the chunk of Query.ExplainChunk, or of that
// chunk of the document that came furthest.
func (p *Pipeline) standing(ctx context.Context, c *course, plan *plan) (*Standing, error) {
	s := &Standing{ChunkID: plan.ExplainChunk, Outcome: NotSearched, Hit: -1}
	target, kb, err := p.target(ctx, c, plan)
	if err != nil || target == nil {
		return s, err
	}
	match := c.found.match
	s.ChunkID = target.lexical.ID
	s.Missing = missing(match, target.lexical.Ref)
	s.Explain = target.explain(match, plan.Mode)
	s.Steps = c.firstSteps(target, plan)
	chunk, err := p.records.ChunksByID(ctx, []string{s.ChunkID})
	if err != nil {
		return nil, fmt.Errorf("fetch chunk %s: %w", s.ChunkID, err)
	}
	if len(chunk) == 0 {
		s.Outcome = Gone
		return s, nil
	}
	s.DocumentID = chunk[0].DocumentID
	if plan.choice != nil && !plan.choice.Has(kb, s.ChunkID) {
		s.Outcome = Filtered
		return s, nil
	}
	c.conclude(s, plan)
	return s, nil
}

// target evaluates what was asked about: as the candidate that it was, or as it
// would have been one. nil if the snapshot does not have it.
func (p *Pipeline) target(ctx context.Context, c *course, plan *plan) (target *candidate, kb string, err error) {
	refs := p.targets(c.found.match, plan)
	if len(refs) == 0 {
		return nil, "", nil
	}
	for _, hits := range [][]Hit{c.hits, c.merged, c.reranked} {
		for i := range hits {
			if ref, ok := c.found.match.Find(hits[i].ID); ok && slices.Contains(refs, ref) {
				at := c.candidate(ref)
				return at, at.lexical.Collection, nil
			}
		}
	}
	for i := range c.candidates {
		if at := &c.candidates[i]; slices.Contains(refs, at.lexical.Ref) {
			return at, at.lexical.Collection, nil
		}
	}
	all := slices.Clone(c.candidates)
	for _, hit := range c.found.match.Hits(refs) {
		all = append(all, candidate{lexical: hit})
	}
	if err := p.cosines(ctx, &c.found.dense, all); err != nil && ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	p.index.topical(c.found.match, all)
	order(c.found.match, all, plan.Mode)
	at := slices.IndexFunc(all, func(x candidate) bool { return slices.Contains(refs, x.lexical.Ref) })
	return &all[at], all[at].lexical.Collection, nil
}

// targets are the chunk, or the chunks of the document, that was asked about.
func (p *Pipeline) targets(match LexicalMatch, plan *plan) []ChunkRef {
	if ref, ok := match.Find(plan.ExplainChunk); ok {
		return []ChunkRef{ref}
	}
	var refs []ChunkRef
	for _, kb := range plan.bases {
		for _, id := range p.index.lexical.DocumentChunks(kb.ID, plan.ExplainChunk) {
			if ref, ok := match.Find(id); ok && len(refs) < maxStood {
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

func (c *course) candidate(ref ChunkRef) *candidate {
	return &c.candidates[c.rank(ref)-1]
}

// rank is the place among the candidates, from 1; 0 if it is none.
func (c *course) rank(ref ChunkRef) int {
	return 1 + slices.IndexFunc(c.candidates, func(x candidate) bool { return x.lexical.Ref == ref })
}

// firstSteps tells the place by words, by vectors, and by both.
func (c *course) firstSteps(target *candidate, plan *plan) []Step {
	var steps []Step
	if plan.Mode != Dense {
		words := Step{Name: "words", Of: len(c.found.lexical), Value: target.lexical.Score}
		words.Rank = 1 + slices.IndexFunc(c.found.lexical, func(h LexicalHit) bool { return h.Ref == target.lexical.Ref })
		if n := len(c.found.lexical); n == max(lexicalDepth, plan.TopK) {
			words.Needed = c.found.lexical[n-1].Score
		}
		steps = append(steps, words)
	}
	if near := c.found.dense.nearOf[target.lexical.Collection]; len(near) > 0 {
		vectors := Step{Name: "vectors", Of: len(near), Value: target.cosine}
		vectors.Rank = 1 + slices.IndexFunc(near, func(h store.VectorHit) bool { return h.ID == target.lexical.ID })
		if len(near) == max(denseDepth, plan.TopK) {
			vectors.Needed = float64(near[len(near)-1].Score)
		}
		steps = append(steps, vectors)
	}
	fused := Step{Name: "fused", Of: len(c.candidates), Value: Calibrate(target.evidence), Rank: c.rank(target.lexical.Ref)}
	if 0 < c.fetched && c.fetched < len(c.candidates) {
		fused.Needed = Calibrate(c.candidates[c.fetched-1].evidence)
	}
	return append(steps, fused)
}

// conclude follows the chunk through what came after the first stage.
func (c *course) conclude(s *Standing, plan *plan) {
	same := func(h Hit) bool { return h.ID == s.ChunkID }
	at := slices.IndexFunc(c.reranked, same)
	fused := &s.Steps[len(s.Steps)-1]
	switch {
	case fused.Rank == 0:
		s.Outcome = NoCandidate
		return
	case at < 0 && fused.Rank > c.fetched:
		s.Outcome = FirstStage
		return
	case at < 0:
		s.Outcome = Gone
		return
	}
	final := Step{Name: "reranked", Rank: at + 1, Of: len(c.reranked), Value: c.reranked[at].Score}
	if n := len(c.hits); n == plan.TopK {
		final.Needed = c.hits[n-1].Score
	}
	final.Needed = max(final.Needed, plan.ScoreThreshold)
	s.Steps = append(s.Steps, final)
	if e := c.reranked[at].Explain; e != nil {
		s.Explain = e
	}
	s.Outcome, s.Hit = c.shown(s.ChunkID)
	switch {
	case s.Hit >= 0:
	case final.Value < plan.ScoreThreshold:
		s.Outcome = BelowThreshold
	case len(c.hits) == plan.TopK:
		s.Outcome = BelowCut
	default:
		s.Outcome = Gone
	}
}

// shown says which hit a chunk is, or is part of; -1 for none.
func (c *course) shown(id string) (Outcome, int) {
	for i := range c.hits {
		h := &c.hits[i]
		switch {
		case h.ID == id:
			return Found, i
		case slices.ContainsFunc(h.Siblings, func(s Sibling) bool { return s.ID == id }):
			return InSection, i
		case slices.ContainsFunc(h.AlsoIn, func(p Place) bool { return p.ChunkID == id }):
			return Duplicate, i
		}
	}
	return "", -1
}

// missing are the terms of the query that a chunk does not have.
func missing(match LexicalMatch, ref ChunkRef) []TermWeight {
	held := match.Holds(ref)
	return slices.DeleteFunc(match.Terms(), func(t TermWeight) bool { return slices.Contains(held, t.Term) })
}
