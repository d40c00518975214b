package retrieval

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"ragagent/store"
)

// plan is a query that was checked, with its settings resolved.
type plan struct {
	Query
	bases []store.KnowledgeBase
	names map[string]string // by id

	choice LexicalChoice // what Filter chooses; nil without one
	notes  []string      // for the user

	question string // as it was understood, "" before that
	passage  string // that an answer may look like; "" for none
	partial  bool   // one of several searches: its hits are merged with others
}

func (p *plan) collections() []string {
	ids := make([]string, len(p.bases))
	for i, kb := range p.bases {
		ids[i] = kb.ID
	}
	return ids
}

// maxIDBytes bounds the id of Query.ExplainChunk.
const maxIDBytes = 256

// check returns an error that names the first field that cannot be accepted.
func (q *Query) check() error {
	switch {
	case strings.TrimSpace(q.Text) == "":
		return store.Invalid("query", "must not be empty")
	case len(q.Text) > MaxQueryBytes:
		return store.Invalid("query", "has %d bytes; at most %d are allowed", len(q.Text), MaxQueryBytes)
	case !utf8.ValidString(q.Text):
		return store.Invalid("query", "is not valid UTF-8")
	case len(q.KnowledgeBases) == 0:
		return store.Invalid("knowledge_bases", "must name at least one")
	case q.TopK < 0 || q.TopK > store.MaxTopK:
		return store.Invalid("top_k", "is %d; must be 1 to %d", q.TopK, store.MaxTopK)
	case len(q.ExplainChunk) > maxIDBytes:
		return store.Invalid("explain_chunk", "has %d bytes; at most %d are allowed", len(q.ExplainChunk), maxIDBytes)
	case math.IsNaN(q.ScoreThreshold) || q.ScoreThreshold < 0 || q.ScoreThreshold > 1:
		return store.Invalid("score_threshold", "is %v; must be 0 to 1", q.ScoreThreshold)
	}
	if !q.Rewrite.Known() {
		return store.Invalid("rewrite", "is %q; must be none, rules, condense, multi_query, hyde, decompose or auto", string(q.Rewrite))
	}
	if !q.Rerank.Known() {
		return store.Invalid("rerank", "is %q; must be none, lexical, mmr, crossencoder or listwise", string(q.Rerank))
	}
	if math.IsNaN(q.MMRLambda) || q.MMRLambda < 0 || q.MMRLambda > 1 {
		return store.Invalid("mmr_lambda", "is %v; must be above 0, and 1 at most", q.MMRLambda)
	}
	switch q.Mode {
	case "", Hybrid, Lexical, Dense:
		return nil
	}
	return store.Invalid("mode", "is %q; must be hybrid, lexical or dense", string(q.Mode))
}

// plan checks the query and fills in what the knowledge bases say where it
// does not. Of several knowledge bases the first with a setting decides.
func (p *Pipeline) plan(ctx context.Context, q Query) (*plan, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if q.Mode == "" {
		q.Mode = Hybrid
	}
	out := &plan{Query: q, names: make(map[string]string)}
	for _, id := range q.KnowledgeBases {
		kb, err := p.records.KnowledgeBase(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("knowledge base %q: %w", id, err)
		}
		if _, known := out.names[kb.ID]; known {
			continue
		}
		out.names[kb.ID] = kb.Name
		out.bases = append(out.bases, kb)
		if out.TopK == 0 {
			out.TopK = kb.Retrieval.TopK
		}
		if out.ScoreThreshold == 0 {
			out.ScoreThreshold = kb.Retrieval.ScoreThreshold
		}
	}
	if out.TopK == 0 {
		out.TopK = DefaultTopK
	}
	return out, p.index.choose(out)
}
