package rewrite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"ragagent/retrieval"
	"ragagent/store"
)

// ExpanderConfig configures an Expander. Rules is required; every other zero
// value is the default named beside it.
type ExpanderConfig struct {
	Rules *Rules
	// Complete asks a model; nil: there is none. Follow-ups and parts are then
	// left to rules, variants and made-up passages left out.
	Complete retrieval.Completer
	// Timeout of one reply; 8 s.
	Timeout time.Duration
	// Variants is how many other wordings are asked for, 1 to 5; 3.
	Variants int
}

// Expander implements retrieval.Expander. What a model writes is searched and
// nothing else: it is cut, and control characters are taken out.
type Expander struct{ cfg ExpanderConfig }

var _ retrieval.Expander = (*Expander)(nil)

// Bounds of what a model is shown and of what is taken of its replies, in bytes.
const (
	maxQuestion = 2 << 10
	maxTurn     = 600
	maxTurns    = 6
	maxWording  = 600 // a question that a model wrote
	maxPassage  = 2 << 10
	maxVariants = 5
	maxParts    = 4
)

// NewExpander checks the configuration.
func NewExpander(cfg ExpanderConfig) (*Expander, error) {
	if cfg.Rules == nil {
		return nil, errors.New("rewrite: ExpanderConfig.Rules is required")
	}
	cfg.Timeout = cmp.Or(max(cfg.Timeout, 0), 8*time.Second)
	cfg.Variants = cmp.Or(cfg.Variants, 3)
	if cfg.Variants < 1 || cfg.Variants > maxVariants {
		return nil, store.Invalid("variants", "is %d; must be 1 to %d", cfg.Variants, maxVariants)
	}
	return &Expander{cfg}, nil
}

// Expand implements retrieval.Expander. A model that fails is told in Degraded,
// and rules do what they can. The only error is a kind that is not known.
func (e *Expander) Expand(ctx context.Context, kind store.RewriteKind, text string, history []retrieval.Turn) (retrieval.Rewritten, error) {
	out := e.condensed(ctx, text, history)
	switch kind {
	case store.RewriteNone:
		return retrieval.Rewritten{Question: text}, nil
	case store.RewriteRules:
		question, err := e.cfg.Rules.Rewrite(ctx, text, history)
		return retrieval.Rewritten{Question: question}, err
	case store.RewriteCondense:
	case store.RewriteMultiQuery:
		e.addVariants(ctx, &out)
	case store.RewriteHyDE:
		e.addPassage(ctx, &out)
	case store.RewriteDecompose:
		e.addParts(ctx, &out)
	case store.RewriteAuto:
		if len(e.cfg.Rules.parts(out.Question)) > 0 { // a plain question needs no model
			e.addParts(ctx, &out)
		}
	default:
		return out, store.Invalid("rewrite", "%q is no kind of rewriting", string(kind))
	}
	return out, nil
}

// condensed is the question as it stands alone. A model is asked only where the
// question needs what was said before.
func (e *Expander) condensed(ctx context.Context, text string, history []retrieval.Turn) retrieval.Rewritten {
	question, _ := e.cfg.Rules.Rewrite(ctx, text, history) // it never fails
	out := retrieval.Rewritten{Question: question}
	if e.cfg.Complete == nil || len(history) == 0 || !e.cfg.Rules.dependent(stripCourtesy(text)) {
		return out
	}
	reply, err := e.ask(ctx, condensePrompt(text, history))
	if err == nil {
		if wording := wordings(reply, 1); len(wording) > 0 {
			out.Question = wording[0]
			return out
		}
		err = errNothing
	}
	out.Degraded = append(out.Degraded, fmt.Sprintf("condense: %v", err))
	return out
}

// addVariants asks for other wordings.
func (e *Expander) addVariants(ctx context.Context, out *retrieval.Rewritten) {
	reply, err := e.ask(ctx, variantsPrompt(out.Question, e.cfg.Variants))
	if err == nil {
		if out.Variants = wordings(reply, e.cfg.Variants); len(out.Variants) > 0 {
			return
		}
		err = errNothing
	}
	out.Degraded = append(out.Degraded, fmt.Sprintf("multi_query: %v", err))
}

// addPassage asks for what an answer may look like.
func (e *Expander) addPassage(ctx context.Context, out *retrieval.Rewritten) {
	reply, err := e.ask(ctx, passagePrompt(out.Question))
	if err == nil {
		if out.Passage = clean(reply, maxPassage); out.Passage != "" {
			return
		}
		err = errNothing
	}
	out.Degraded = append(out.Degraded, fmt.Sprintf("hyde: %v", err))
}

// addParts asks for the questions that a question consists of; rules know the
// common ways to put two into one.
func (e *Expander) addParts(ctx context.Context, out *retrieval.Rewritten) {
	byRules := e.cfg.Rules.parts(out.Question)
	if e.cfg.Complete == nil {
		out.Parts = byRules
		return
	}
	reply, err := e.ask(ctx, partsPrompt(out.Question))
	if err == nil {
		if parts := wordings(reply, maxParts); len(parts) > 1 {
			out.Parts = parts
			return
		} else if len(parts) == 1 { // the model says that there are no parts
			return
		}
		err = errNothing
	}
	out.Parts = byRules
	out.Degraded = append(out.Degraded, fmt.Sprintf("decompose: %v", err))
}

var (
	errNoModel = errors.New("there is no model to ask")
	errNothing = errors.New("the model's reply has nothing to search for")
)

func (e *Expander) ask(ctx context.Context, p retrieval.Prompt) (string, error) {
	if e.cfg.Complete == nil {
		return "", errNoModel
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	return e.cfg.Complete(ctx, p)
}
