package retrieval

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ragagent/store"
)

// Records is the part of the record store that retrieval reads. What it does
// not return is not returned to anyone: deleted means deleted.
type Records interface {
	KnowledgeBase(ctx context.Context, idOrName string) (store.KnowledgeBase, error)
	DocumentsByID(ctx context.Context, ids []string) ([]store.Document, error)
	ChunksByID(ctx context.Context, ids []string) ([]store.Chunk, error)
}

// PipelineConfig configures a Pipeline.
type PipelineConfig struct {
	Index   *Index  // required
	Records Records // required
	// Embedders are those of the knowledge bases, told apart by Fingerprint.
	// A knowledge base whose embedder is missing is searched by words alone,
	// and the result says so.
	Embedders []Embedder
	// OpenEmbedder returns an embedder that is not among Embedders by its name,
	// "provider/name"; nil: there are no others.
	OpenEmbedder func(ctx context.Context, name string) (Embedder, error)
	// DenseWeight says what a cosine of 1 adds to the evidence in a knowledge
	// base; nil: DefaultDenseWeight in all. It is asked with every question.
	DenseWeight func(kb store.KnowledgeBase) float64
	// Rewriter works on the question before it is searched; nil leaves it.
	Rewriter Rewriter
	// Router chooses among many knowledge bases; nil: all of them are searched.
	Router Router
	// Rerankers work on the best candidates, one after the other.
	Rerankers []Reranker
	// Expander rewrites in the further ways of store.RewriteKind; nil: they are
	// left to Rewriter, and the result says so.
	Expander Expander
	// FinalRerankers work on what Rerankers leave, where a query or a knowledge
	// base asks for their kind.
	FinalRerankers map[store.RerankKind]Reranker
	// Diversify makes the reranker of kind store.RerankMMR; lambda is 0..1.
	Diversify func(lambda float64) Reranker
	// DefaultRewrite and DefaultRerank hold where neither a query nor a knowledge
	// base says; "" means store.RewriteRules and store.RerankLexical.
	DefaultRewrite store.RewriteKind
	DefaultRerank  store.RerankKind
	// The longest a stage may take; 0 means 10 seconds each.
	RewriteTimeout, DenseTimeout, RerankTimeout time.Duration
	// Texts has the sections that are shown in the place of small chunks; nil:
	// chunks are shown as they are.
	Texts Texts
	// Now is the clock, which is asked concurrently; nil means time.Now.
	Now func() time.Time
}

// Pipeline implements Retriever: validate, rewrite, search by words and by
// vectors side by side, fuse, rerank, cut, fetch.
type Pipeline struct {
	index          *Index
	records        Records
	embedders      map[string]Embedder // by fingerprint
	openEmbedder   func(ctx context.Context, name string) (Embedder, error)
	denseWeight    func(kb store.KnowledgeBase) float64
	rewriter       Rewriter
	router         Router
	rerankers      []Reranker
	expander       Expander
	finalRerankers map[store.RerankKind]Reranker
	diversify      func(lambda float64) Reranker
	defaultRewrite store.RewriteKind
	defaultRerank  store.RerankKind
	rewriteTimeout time.Duration
	denseTimeout   time.Duration
	rerankTimeout  time.Duration
	texts          Texts
	now            func() time.Time
	scripts        sync.Map // fingerprint and script to bool; see reads
}

var _ Retriever = (*Pipeline)(nil)

// rerankDepth is how many candidates the second stage sees.
const rerankDepth = 100

// spareDepth is how many candidates more than wanted go on, to take the place
// of those that are folded or have gone.
const spareDepth = 10

// NewPipeline returns a pipeline over an index.
func NewPipeline(cfg PipelineConfig) (*Pipeline, error) {
	if cfg.Index == nil || cfg.Records == nil {
		return nil, errors.New("retrieval: PipelineConfig.Index and Records are required")
	}
	p := &Pipeline{
		index:          cfg.Index,
		records:        cfg.Records,
		embedders:      make(map[string]Embedder),
		openEmbedder:   cfg.OpenEmbedder,
		denseWeight:    cfg.DenseWeight,
		rewriter:       cfg.Rewriter,
		router:         cfg.Router,
		rerankers:      cfg.Rerankers,
		expander:       cfg.Expander,
		finalRerankers: cfg.FinalRerankers,
		diversify:      cfg.Diversify,
		defaultRewrite: cfg.DefaultRewrite,
		defaultRerank:  cfg.DefaultRerank,
		rewriteTimeout: orDefault(cfg.RewriteTimeout, defaultTimeout),
		denseTimeout:   orDefault(cfg.DenseTimeout, defaultTimeout),
		rerankTimeout:  orDefault(cfg.RerankTimeout, defaultTimeout),
		texts:          cfg.Texts,
		now:            cfg.Now,
	}
	if p.now == nil {
		p.now = time.Now
	}
	if p.denseWeight == nil {
		p.denseWeight = func(store.KnowledgeBase) float64 { return DefaultDenseWeight }
	}
	for _, e := range cfg.Embedders {
		p.embedders[e.Fingerprint()] = e
	}
	return p, nil
}

const defaultTimeout = 10 * time.Second

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// Retrieve implements Retriever.
func (p *Pipeline) Retrieve(ctx context.Context, q Query) (Result, error) {
	started := p.now()
	plan, err := p.plan(ctx, q)
	if err != nil {
		return Result{}, err
	}
	result := Result{Query: q.Text, Degraded: plan.notes}
	watch := startWatch(p.now, &result.Timings)
	what := p.rewrite(ctx, plan, &result)
	watch.lap(StageRewrite)
	if p.routed(plan) {
		if err := p.route(ctx, what.Question, plan, &result); err != nil {
			return Result{}, err
		}
		watch.lap(StageRoute)
	}
	if err := p.find(ctx, what, plan, &result); err != nil {
		return Result{}, err
	}
	watch = startWatch(p.now, &result.Timings)
	p.readSections(ctx, result.Hits, &result)
	watch.lap(StageFetch)
	result.Elapsed = p.now().Sub(started)
	return result, nil
}

// maxSearches is how often a question is searched whose candidates have gone
// meanwhile: a document that got a new revision between the search and the
// fetch would otherwise be found neither as it was nor as it is.
const maxSearches = 3

// answer searches and fills in the hits. whole false says that some candidates
// are not there any more, and that nothing was filled in; with settle, what is
// left of them is the answer.
func (p *Pipeline) answer(ctx context.Context, text string, plan *plan, result *Result, settle bool) (whole bool, err error) {
	found, err := p.search(ctx, text, plan, &result.Timings)
	if err != nil {
		return false, err
	}
	defer found.release()
	said := len(result.Degraded)
	result.Terms = found.match.Terms()
	result.Degraded = append(result.Degraded, found.dense.degraded...)

	watch := startWatch(p.now, &result.Timings)
	candidates, err := p.rank(ctx, &found, plan, result)
	if err != nil {
		return false, err
	}
	watch.lap(StageFuse)
	hits, whole, err := p.fetch(ctx, found.match, candidates, plan)
	if err != nil {
		return false, err
	}
	watch.lap(StageFetch)
	if !whole && !settle {
		result.Degraded = result.Degraded[:said]
		return false, nil
	}
	hits = p.rerank(ctx, found.match.Text(), hits, plan, result)
	watch.lap(StageRerank)
	if plan.partial { // of several searches
		result.Hits = hits
		return true, nil
	}
	shown := merged(hits)
	result.Hits, whole, err = p.finish(ctx, shown, plan)
	watch.lap(StageFetch)
	if err == nil && !whole && !settle {
		result.Degraded, result.Hits = result.Degraded[:said], nil
		return false, nil
	}
	if err == nil && plan.ExplainChunk != "" {
		result.Standing, err = p.standing(ctx, &course{
			found: &found, candidates: candidates, fetched: p.depth(plan), reranked: hits, merged: shown, hits: result.Hits,
		}, plan)
	}
	return true, err
}

// search asks words and vectors at the same time.
func (p *Pipeline) search(ctx context.Context, text string, plan *plan, times *Timings) (found, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := make(chan denseResult, 1)
	switch {
	case plan.Mode == Lexical:
		answer <- denseResult{}
	case p.index.vectors == nil:
		answer <- denseResult{}.explained(plan.Mode)
	default:
		go func() { answer <- p.dense(ctx, text, plan).explained(plan.Mode) }()
	}
	watch := startWatch(p.now, times)
	match, err := p.index.match(ctx, text, plan)
	if err != nil {
		cancel()
		dense := <-answer
		dense.release()
		return found{}, fmt.Errorf("search words: %w", err)
	}
	out := found{match: match}
	if plan.Mode != Dense {
		out.lexical = match.Top(max(lexicalDepth, plan.TopK))
	}
	watch.lap(StageWords)
	out.dense = <-answer
	if plan.Mode == Hybrid && match.Text() != text {
		out.dense = p.respelled(ctx, match.Text(), plan, out.dense)
	}
	times[StageEmbed] += out.dense.embedding
	times[StageVectors] += out.dense.searching
	return out, nil
}

// found is what both searches brought in, until release.
type found struct {
	match   LexicalMatch
	lexical []LexicalHit // the best by words
	dense   denseResult
}

func (f *found) release() {
	f.match.Release()
	f.dense.release()
}

// rank brings the candidates of both searches into one order.
func (p *Pipeline) rank(ctx context.Context, found *found, plan *plan, result *Result) ([]candidate, error) {
	candidates := gather(found.match, found.lexical, &found.dense)
	if err := p.cosines(ctx, &found.dense, candidates); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		result.Degraded = append(result.Degraded, "dense: "+err.Error())
	}
	if plan.Mode != Dense {
		p.index.topical(found.match, candidates)
	}
	order(found.match, candidates, plan.Mode)
	return candidates, nil
}
