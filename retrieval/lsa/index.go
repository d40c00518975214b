package lsa

import (
	"context"
	"errors"
	"sync"
	"time"

	"ragagent/retrieval"
)

// Words is what an Index is derived from; bm25.Index implements it. Its methods
// may be called concurrently.
type Words interface {
	Collections() []string
	Parts(collection string) []retrieval.LexicalPart
}

// Config configures an Index. Every zero value but Words is the default named
// beside it.
type Config struct {
	Words Words // required
	// Every is how often it is looked for changes; 1 s.
	Every time.Duration
	// Least is the number of chunks of a collection below which there is nothing
	// to learn; 256.
	Least int
	// Worker is called once in the goroutine that computes, before it begins:
	// it may give it a low priority. nil: nothing.
	Worker func()
}

// Index implements retrieval.Topics. What it knows of a collection is computed
// in the background, and replaced as a whole: a question never waits.
type Index struct {
	cfg  Config
	stop context.CancelFunc
	done sync.WaitGroup

	computing sync.Mutex // held while something is computed

	mu    sync.RWMutex
	bases map[string]*collection
}

// collection is what is known of one; it never changes.
type collection struct {
	model *model
	parts []part
}

// part has the codes of the chunks of a part.
type part struct {
	key   any
	find  func(id string) int
	codes []code
}

var _ retrieval.Topics = (*Index)(nil)

// New returns an Index that knows nothing until Start or Settle.
func New(cfg Config) (*Index, error) {
	if cfg.Words == nil {
		return nil, errors.New("retrieval/lsa: Config.Words is required")
	}
	if cfg.Every <= 0 {
		cfg.Every = time.Second
	}
	if cfg.Least <= 0 {
		cfg.Least = 256
	}
	return &Index{cfg: cfg, bases: make(map[string]*collection)}, nil
}

// Start begins to follow the words. It is called once, and not after Close.
func (x *Index) Start() {
	ctx, stop := context.WithCancel(context.Background())
	x.stop = stop
	x.done.Go(func() {
		if x.cfg.Worker != nil {
			x.cfg.Worker()
		}
		tick := time.NewTicker(x.cfg.Every)
		defer tick.Stop()
		for {
			_ = x.follow(ctx, grown) // it ends with ctx only
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// Close ends what Start began, in the middle of a fit if need be.
func (x *Index) Close() error {
	if x.stop != nil {
		x.stop()
		x.done.Wait()
		x.stop = nil
	}
	return nil
}

// Settle computes everything as if all chunks had come at once: what is known
// then depends on the collections alone and not on when they grew.
func (x *Index) Settle(ctx context.Context) error {
	return x.follow(ctx, func(m *model, chunks int) bool { return m == nil || m.chunks != chunks })
}

// grown says whether a model is too old: half as many chunks came since, or
// half of them went.
func grown(m *model, chunks int) bool {
	return m == nil || 2*chunks > 3*m.chunks || 2*chunks < m.chunks
}

// follow brings what is known up to what the words are now.
func (x *Index) follow(ctx context.Context, outdated func(m *model, chunks int) bool) error {
	x.computing.Lock()
	defer x.computing.Unlock()
	names := x.cfg.Words.Collections()
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		parts := x.cfg.Words.Parts(name)
		old := x.known(name)
		if old.holds(parts) && !outdated(old.model, living(parts)) {
			continue
		}
		fresh, err := x.compute(ctx, parts, old, outdated)
		if err != nil {
			return err
		}
		x.set(name, fresh)
	}
	x.keep(names)
	return nil
}

// compute returns what is to be known of a collection, nil for nothing.
func (x *Index) compute(ctx context.Context, parts []retrieval.LexicalPart, old *collection, outdated func(*model, int) bool) (*collection, error) {
	chunks := living(parts)
	if chunks < x.cfg.Least {
		return nil, nil
	}
	fresh := &collection{}
	if old != nil && old.model != nil && !outdated(old.model, chunks) {
		fresh.model = old.model
	} else {
		m, err := fit(ctx, parts)
		if err != nil {
			return nil, err
		}
		fresh.model, old = m, nil // codes of another model mean nothing
	}
	for _, p := range parts {
		codes, err := fresh.model.codesOf(ctx, p, old)
		if err != nil {
			return nil, err
		}
		fresh.parts = append(fresh.parts, part{p.Key(), p.Find, codes})
	}
	return fresh, nil
}
