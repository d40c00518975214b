package retrieval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ragagent/store"
)

// denseResult is what the vectors say about a query.
type denseResult struct {
	// queries are the question's vectors by knowledge base; none where the
	// embedder has nothing to say about it.
	queries map[string][]float32
	// weights are what a cosine counts, by knowledge base.
	weights map[string]float64
	// near are the nearest chunks of all knowledge bases.
	near []store.VectorHit
	// nearOf are those of each.
	nearOf   map[string][]store.VectorHit
	degraded []string
	// spaces are the collections that were asked, by knowledge base; they stay
	// until release.
	spaces map[string]string
	pins   []func()

	embedding, searching time.Duration // what that took
}

func (r *denseResult) release() {
	for _, unpin := range r.pins {
		unpin()
	}
	r.pins = nil
}

// explained says why a search by vectors alone finds nothing, if no error does.
func (r denseResult) explained(mode Mode) denseResult {
	if mode == Dense && len(r.queries) == 0 && len(r.degraded) == 0 {
		r.degraded = []string{"dense: there is no vector for this question or these knowledge bases"}
	}
	return r
}

// dense embeds the question once per embedder and searches every knowledge
// base. What fails is left out and reported.
func (p *Pipeline) dense(ctx context.Context, text string, pl *plan) denseResult {
	ctx, cancel := context.WithTimeout(ctx, p.denseTimeout)
	defer cancel()
	r := denseResult{queries: make(map[string][]float32), weights: make(map[string]float64), spaces: make(map[string]string), nearOf: make(map[string][]store.VectorHit)}
	embedded := make(map[string][]float32)
	for _, kb := range pl.bases {
		kb, space, err := p.pin(ctx, kb, &r)
		if err != nil {
			r.degraded = append(r.degraded, "dense: "+err.Error())
			continue
		}
		if kb.Fingerprint == "" {
			continue
		}
		vector, done := embedded[kb.Fingerprint]
		if !done {
			begun := p.now()
			vector, err = p.questionVector(ctx, kb, text, pl)
			r.embedding += p.now().Sub(begun)
			if err != nil {
				r.degraded = append(r.degraded, "dense: "+err.Error())
			}
			embedded[kb.Fingerprint] = vector
		}
		if vector == nil {
			continue
		}
		begun := p.now()
		hits, err := p.index.nearest(ctx, kb.ID, space, vector, max(denseDepth, pl.TopK), pl.choice)
		r.searching += p.now().Sub(begun)
		switch {
		case errors.Is(err, store.ErrNotFound): // no chunk has a vector
		case err != nil:
			r.degraded = append(r.degraded, fmt.Sprintf("dense: search %s: %v", kb.Name, err))
		default:
			r.queries[kb.ID], r.spaces[kb.ID], r.weights[kb.ID] = vector, space, p.denseWeight(kb)
			r.near = append(r.near, hits...)
			r.nearOf[kb.ID] = hits
		}
	}
	return r
}

// respelled asks the vectors once more, for a question whose words were repaired.
// What they said of it as it was written stays if that fails.
func (p *Pipeline) respelled(ctx context.Context, text string, pl *plan, written denseResult) denseResult {
	if len(written.pins) == 0 {
		return written // there is nothing to ask
	}
	repaired := p.dense(ctx, text, pl)
	if len(repaired.queries) < len(written.queries) {
		repaired.release()
		return written
	}
	written.release()
	repaired.embedding += written.embedding
	repaired.searching += written.searching
	return repaired
}

// pin keeps the vectors of a knowledge base for a question. If its embedder was
// changed since its record was read, the record is read again.
func (p *Pipeline) pin(ctx context.Context, kb store.KnowledgeBase, r *denseResult) (now store.KnowledgeBase, space string, err error) {
	for range 3 {
		space, unpin, ok := p.index.pin(kb)
		if ok {
			r.pins = append(r.pins, unpin)
			return kb, space, nil
		}
		if kb, err = p.records.KnowledgeBase(ctx, kb.ID); err != nil {
			return kb, "", fmt.Errorf("knowledge base %s: %w", kb.ID, err)
		}
	}
	return kb, "", fmt.Errorf("the vectors of %s are not there: its embedder is being changed", kb.Name)
}

// embedQuery returns the question's vector in the space of a knowledge base,
// nil if its embedder has nothing to say about it.
func (p *Pipeline) embedQuery(ctx context.Context, kb store.KnowledgeBase, text string) ([]float32, error) {
	e, err := p.embedder(ctx, kb)
	if err != nil {
		return nil, err
	}
	if reads, err := p.reads(ctx, e, text); err != nil || !reads {
		return nil, err
	}
	vector, err := e.EmbedQuery(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("embed the question with %s: %w", e.Name(), err)
	}
	return vector, nil
}

// embedder returns the embedder of a knowledge base. One that answers to its
// name and has another space than the vectors is as good as none: the cosines
// would mean nothing.
func (p *Pipeline) embedder(ctx context.Context, kb store.KnowledgeBase) (Embedder, error) {
	if e, ok := p.embedders[kb.Fingerprint]; ok {
		return e, nil
	}
	if p.openEmbedder == nil {
		return nil, fmt.Errorf("the embedder of %s, %s, is not available", kb.Name, kb.Embedder)
	}
	e, err := p.openEmbedder(ctx, kb.Embedder)
	if err != nil {
		return nil, fmt.Errorf("the embedder of %s is not available: %w", kb.Name, err)
	}
	if e.Fingerprint() != kb.Fingerprint {
		return nil, fmt.Errorf("the embedder of %s, %s, is %s now and its vectors are of %s: change its embedder",
			kb.Name, kb.Embedder, e.Fingerprint(), kb.Fingerprint)
	}
	return e, nil
}

// reads says whether an embedder has anything to say about the part of the
// question that is not in Latin letters, if there is one. An embedder that has
// not sees fragments of the question only and would mislead. What it said of a
// script is remembered.
func (p *Pipeline) reads(ctx context.Context, e Embedder, text string) (bool, error) {
	part := notLatin(text)
	if part == "" {
		return true, nil
	}
	script, _ := utf8.DecodeRuneInString(part)
	key := fmt.Sprintf("%s %x", e.Fingerprint(), script>>7)
	if known, ok := p.scripts.Load(key); ok {
		return known.(bool), nil
	}
	vector, err := e.EmbedQuery(ctx, part)
	if err != nil {
		return false, fmt.Errorf("embed the question with %s: %w", e.Name(), err)
	}
	p.scripts.Store(key, vector != nil)
	return vector != nil, nil
}

// notLatin returns the words of a text whose first letter is of another script.
func notLatin(text string) string {
	var words []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		if r, _ := utf8.DecodeRuneInString(word); !unicode.Is(unicode.Latin, r) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// cosines fills in the candidates' similarity to the question.
func (p *Pipeline) cosines(ctx context.Context, dense *denseResult, candidates []candidate) error {
	byBase := make(map[string][]int)
	for i := range candidates {
		kb := candidates[i].lexical.Collection
		byBase[kb] = append(byBase[kb], i)
	}
	for kb, query := range dense.queries {
		indexes := byBase[kb]
		if len(indexes) == 0 {
			continue
		}
		ids := make([]string, len(indexes))
		for j, i := range indexes {
			ids[j] = candidates[i].lexical.ID
		}
		values, err := p.index.vectors.Cosines(ctx, dense.spaces[kb], query, ids)
		if err != nil {
			return fmt.Errorf("compare with the vectors of %s: %w", kb, err)
		}
		for j, i := range indexes {
			candidates[i].cosine, candidates[i].weight = float64(values[j]), dense.weights[kb]
		}
	}
	return nil
}
