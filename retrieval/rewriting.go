package retrieval

import (
	"context"
	"slices"
	"strings"

	"ragagent/store"
)

// Completer asks a language model once and returns its whole reply, which is
// text nobody vouches for. It may be called concurrently and ends with ctx.
type Completer func(ctx context.Context, prompt Prompt) (string, error)

// Prompt is what a Completer asks.
type Prompt struct {
	System    string
	User      string
	MaxTokens int // of the reply; 0 leaves it to the model
}

// Rewritten is what is searched in the place of a question.
type Rewritten struct {
	// Question is what was understood, searched first.
	Question string
	// Variants say the same in other words. A chunk's evidence is half that for
	// Question and half the mean of theirs.
	Variants []string
	// Parts are questions whose answers make up that to Question. A chunk's
	// evidence is half that for Question and half the most that it has for any
	// of them or for Question.
	Parts []string
	// Passage is what an answer may look like: vectors are compared with the
	// mean of its vector and the question's.
	Passage string
	// Degraded says what was left out, with the reason.
	Degraded []string
}

// Expander rewrites a question in the ways that a Rewriter cannot. An error
// leaves the question to the Rewriter and is reported as degraded.
type Expander interface {
	Expand(ctx context.Context, kind store.RewriteKind, text string, history []Turn) (Rewritten, error)
}

// maxQueries bounds the searches for one question.
const maxQueries = 8

// rewriteKind is the query's own, else that of the first knowledge base that
// has one, else the pipeline's.
func (p *Pipeline) rewriteKind(plan *plan) store.RewriteKind {
	if plan.NoRewrite {
		return store.RewriteNone
	}
	if plan.Rewrite != "" {
		return plan.Rewrite
	}
	for _, kb := range plan.bases {
		if kb.Retrieval.Rewrite != "" {
			return kb.Retrieval.Rewrite
		}
	}
	if p.defaultRewrite != "" {
		return p.defaultRewrite
	}
	return store.RewriteRules
}

// rewrite returns what is to be searched.
func (p *Pipeline) rewrite(ctx context.Context, plan *plan, result *Result) Rewritten {
	kind := p.rewriteKind(plan)
	if kind == store.RewriteNone {
		return Rewritten{Question: plan.Text}
	}
	ctx, cancel := context.WithTimeout(ctx, p.rewriteTimeout)
	defer cancel()
	var out Rewritten
	switch {
	case kind == store.RewriteRules:
		out = p.byRules(ctx, plan, result)
	case p.expander == nil:
		result.Degraded = append(result.Degraded, "rewrite: "+string(kind)+" is not set up")
		out = p.byRules(ctx, plan, result)
	default:
		var err error
		if out, err = p.expander.Expand(ctx, kind, plan.Text, plan.History); err != nil {
			result.Degraded = append(result.Degraded, "rewrite: "+err.Error())
			out = p.byRules(context.WithoutCancel(ctx), plan, result)
		}
	}
	out.bound(plan.Text)
	for _, d := range out.Degraded {
		result.Degraded = append(result.Degraded, "rewrite: "+d)
	}
	result.note(plan.Text, out)
	return out
}

func (p *Pipeline) byRules(ctx context.Context, plan *plan, result *Result) Rewritten {
	if p.rewriter == nil {
		return Rewritten{Question: plan.Text}
	}
	text, err := p.rewriter.Rewrite(ctx, plan.Text, plan.History)
	if err != nil {
		result.Degraded = append(result.Degraded, "rewrite: "+err.Error())
		text = plan.Text
	}
	return Rewritten{Question: text}
}

// bound drops what cannot be searched, and what is searched already.
func (r *Rewritten) bound(text string) {
	fits := func(s string) bool { return strings.TrimSpace(s) != "" && len(s) <= MaxQueryBytes }
	if !fits(r.Question) {
		r.Question = text
	}
	if !fits(r.Passage) {
		r.Passage = ""
	}
	seen := map[string]bool{r.Question: true}
	for _, list := range []*[]string{&r.Variants, &r.Parts} {
		*list = slices.DeleteFunc(slices.Clone(*list), func(s string) bool {
			drop := !fits(s) || seen[s] || len(seen) >= maxQueries
			seen[s] = seen[s] || !drop
			return drop
		})
	}
}

// note tells in the result what is searched.
func (r *Result) note(text string, w Rewritten) {
	if w.Question != text {
		r.Rewritten = w.Question
	}
	r.Passage = w.Passage
	if others := slices.Concat(w.Variants, w.Parts); len(others) > 0 {
		r.Queries = append([]string{w.Question}, others...)
		r.Rewritten = strings.Join(r.Queries, " | ")
	}
}

// questionVector is the vector of the question in the space of a knowledge
// base, drawn to that of the passage that an answer may look like: Gao et al.
// 2023, with one passage.
func (p *Pipeline) questionVector(ctx context.Context, kb store.KnowledgeBase, text string, plan *plan) ([]float32, error) {
	vector, err := p.embedQuery(ctx, kb, text)
	if err != nil || plan.passage == "" {
		return vector, err
	}
	e, err := p.embedder(ctx, kb)
	if err != nil {
		return nil, err
	}
	passages, err := e.Embed(ctx, []string{plan.passage})
	if err != nil {
		return nil, err
	}
	switch passage := passages[0]; {
	case passage == nil:
		return vector, nil
	case vector == nil:
		return passage, nil
	default:
		return middle(vector, passage), nil
	}
}
