package eval

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ragagent/retrieval"
	"ragagent/store"
)

// Defaults and bounds of a Config.
const (
	DefaultDepth   = 100
	DefaultTimeout = time.Minute
	MaxWorkers     = 64
)

// Config says how a collection's questions are asked.
type Config struct {
	Retriever retrieval.Retriever // required
	// KnowledgeBases hold the collection; at least one.
	KnowledgeBases []string
	Mode           retrieval.Mode
	NoRewrite      bool
	NoRerank       bool
	Rewrite        store.RewriteKind // "" leaves it to the knowledge bases
	Rerank         store.RerankKind  // as well
	MMRLambda      float64           // 0 means the default
	// Depth is the number of documents wanted per ranking: 0 means
	// DefaultDepth, at most store.MaxTopK.
	Depth int
	// Measures to compute, none of them cut below Depth; nil means those of
	// DefaultMeasures that Depth reaches.
	Measures []Measure
	// Locate tells what a hit is judged as; nil means the dataset's own.
	Locate Locate
	// Workers ask at the same time: 0 means one per processor, at most
	// MaxWorkers. Latencies then include waiting for each other; a table of
	// latencies wants 1.
	Workers int
	// Timeout ends a question; 0 means DefaultTimeout.
	Timeout time.Duration
	// Wait, if not nil, is called before every search, outside its latency; its
	// error ends the question.
	Wait func(ctx context.Context) error
	// Progress, if not nil, is called after every question with the number
	// done so far, never twice at the same time.
	Progress func(done, total int)
	// Now is the clock latencies are read from; nil means time.Now.
	Now func() time.Time
}

// Runner asks a Retriever the questions of a collection. It may be used
// concurrently.
type Runner struct{ cfg Config }

// NewRunner checks cfg and fills in its defaults. Errors are store.ErrInvalid.
func NewRunner(cfg Config) (*Runner, error) {
	if cfg.Retriever == nil {
		return nil, store.Invalid("retriever", "none given")
	}
	if len(cfg.KnowledgeBases) == 0 {
		return nil, store.Invalid("knowledge_bases", "none given")
	}
	if cfg.Depth == 0 {
		cfg.Depth = DefaultDepth
	}
	if cfg.Depth < 0 || cfg.Depth > store.MaxTopK {
		return nil, store.Invalid("top_k", "%d is not from 1 to %d", cfg.Depth, store.MaxTopK)
	}
	deeper := func(m Measure) bool { return m.Cut > cfg.Depth }
	if cfg.Measures == nil {
		cfg.Measures = slices.DeleteFunc(DefaultMeasures(), deeper)
	}
	if i := slices.IndexFunc(cfg.Measures, deeper); i >= 0 {
		return nil, store.Invalid("measures", "%s needs a top_k of %d at least, it is %d", cfg.Measures[i], cfg.Measures[i].Cut, cfg.Depth)
	}
	cfg.Measures = slices.Clone(cfg.Measures)
	if cfg.Workers == 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	if cfg.Workers < 0 {
		return nil, store.Invalid("workers", "%d is negative", cfg.Workers)
	}
	cfg.Workers = min(cfg.Workers, MaxWorkers)
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Progress == nil {
		cfg.Progress = func(int, int) {}
	}
	if cfg.Wait == nil {
		cfg.Wait = func(context.Context) error { return nil }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Runner{cfg}, nil
}

// Run asks every judged question of d and measures what comes back. The first
// question that fails ends it with an error that names the question: a figure
// that silently counts failures as misses would lie. If hits came back but none
// of them is of the collection, that is store.ErrInvalid.
func (r *Runner) Run(ctx context.Context, d *Dataset) (*Result, error) {
	locate := r.cfg.Locate
	if locate == nil {
		locate = d.Locate()
	}
	asked := make([]Asked, len(d.Queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.cfg.Workers)
	progress := counter{total: len(d.Queries), report: r.cfg.Progress}
	for i, q := range d.Queries {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			a, err := r.ask(ctx, q, locate)
			if err != nil {
				return fmt.Errorf("query %q: %w", q.ID, err)
			}
			asked[i] = a
			progress.step()
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", d.Name, err)
	}
	return r.result(d, asked)
}

// ask puts one question. Its latency is that of the first call, which asks for
// Depth chunks. Where several chunks belong to one document, further calls ask
// for twice as many until Depth documents are there or there are no more.
func (r *Runner) ask(ctx context.Context, q Question, locate Locate) (Asked, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	query := retrieval.Query{
		Text: q.Text, KnowledgeBases: r.cfg.KnowledgeBases, TopK: r.cfg.Depth,
		Mode: r.cfg.Mode, NoRewrite: r.cfg.NoRewrite, NoRerank: r.cfg.NoRerank,
		Rewrite: r.cfg.Rewrite, Rerank: r.cfg.Rerank, MMRLambda: r.cfg.MMRLambda,
	}
	a := Asked{Question: q}
	for first := true; ; first = false {
		if err := r.cfg.Wait(ctx); err != nil {
			return Asked{}, err
		}
		start := r.cfg.Now()
		found, err := r.cfg.Retriever.Retrieve(ctx, query)
		if err != nil {
			return Asked{}, err
		}
		if first {
			a.Elapsed, a.Timings = r.cfg.Now().Sub(start), found.Timings
		}
		a.Rewritten, a.Degraded = found.Rewritten, found.Degraded
		a.Hits = len(found.Hits)
		a.Ranking, a.Unlocated = rank(retrieval.Unfold(found.Hits), locate, r.cfg.Depth)
		full := len(a.Ranking) == r.cfg.Depth
		if full || len(found.Hits) < query.TopK || query.TopK == store.MaxTopK {
			return a, nil
		}
		query.TopK = min(2*query.TopK, store.MaxTopK)
	}
}

// rank folds hits, best first, into at most depth judged units, each at the
// rank of its best hit and with that hit's score. unlocated counts the hits
// that stand for none.
func rank(hits []retrieval.Hit, locate Locate, depth int) (ranking []Scored, unlocated int) {
	seen := map[string]bool{}
	ranking = []Scored{}
	for _, h := range hits {
		ids := locate(h)
		if len(ids) == 0 {
			unlocated++
		}
		for _, id := range ids {
			if !seen[id] && len(ranking) < depth {
				seen[id] = true
				ranking = append(ranking, Scored{ID: id, Score: h.Score})
			}
		}
	}
	return ranking, unlocated
}
