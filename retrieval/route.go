package retrieval

import (
	"context"
	"slices"

	"ragagent/store"
)

// Router orders knowledge bases by how likely they hold what a question asks
// for. Route may be called concurrently; it returns each knowledge base once,
// best first. An error has all of them searched and is reported as degraded.
type Router interface {
	Route(ctx context.Context, text string, bases []store.KnowledgeBase) ([]Route, error)
}

// Route is a knowledge base with what speaks for it.
type Route struct {
	KnowledgeBaseID   string
	KnowledgeBaseName string
	Score             float64 // comparable within one question only
}

// maxRouted is how many knowledge bases a question is put to: of more, the
// best by Router. Up to so many are all searched.
const maxRouted = 8

// routed says whether there are more knowledge bases than are searched.
func (p *Pipeline) routed(plan *plan) bool { return p.router != nil && len(plan.bases) > maxRouted }

// route leaves the knowledge bases that are most likely to hold the answer.
// Those of which the filter chooses nothing are left out first.
func (p *Pipeline) route(ctx context.Context, text string, plan *plan, result *Result) error {
	bases := plan.bases
	if plan.choice != nil {
		bases = slices.DeleteFunc(slices.Clone(bases), func(kb store.KnowledgeBase) bool {
			chosen, _ := plan.choice.Count(kb.ID)
			return chosen == 0
		})
	}
	routes := p.routes(ctx, text, bases, result)
	if routes == nil {
		return ctx.Err()
	}
	routes = routes[:min(maxRouted, len(routes))]
	result.Routes = routes
	plan.bases = slices.DeleteFunc(slices.Clone(plan.bases), func(kb store.KnowledgeBase) bool {
		return !slices.ContainsFunc(routes, func(r Route) bool { return r.KnowledgeBaseID == kb.ID })
	})
	return p.index.rechoose(plan)
}

// routes asks the router; nil if it failed.
func (p *Pipeline) routes(ctx context.Context, text string, bases []store.KnowledgeBase, result *Result) []Route {
	routes, err := p.router.Route(ctx, text, bases)
	if err != nil {
		result.Degraded = append(result.Degraded, "route: "+err.Error())
		return nil
	}
	return routes
}

// rechoose resolves the filter anew for the knowledge bases that are left.
func (x *Index) rechoose(pl *plan) error {
	notes := pl.notes
	err := x.choose(pl)
	pl.notes = notes // of all of them
	return err
}
