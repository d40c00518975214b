package embed

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"ragagent/retrieval"
)

// RegistryConfig says how embedders are made. Open is required.
type RegistryConfig struct {
	// Open makes the embedder of a name, "provider/name".
	Open func(ctx context.Context, name string) (retrieval.Embedder, error)
	// CacheSize is how many questions each embedder remembers; DefaultCacheSize.
	CacheSize int
	// Timeout of Open; 30 seconds.
	Timeout time.Duration
	// Retry is how long a failure of Open is the answer to everybody; 2 seconds.
	Retry time.Duration
	// Recheck is how often an embedder is asked whether it is still the same;
	// 1 minute.
	Recheck time.Duration
	Now     func() time.Time
}

// maxNames is from how many names on old failures are forgotten: anybody can ask
// for names that nobody has.
const maxNames = 64

// Registry has the embedders that the knowledge bases name. Each is made when
// it is needed for the first time, however many ask for it then.
type Registry struct {
	cfg RegistryConfig

	mu    sync.Mutex
	names map[string]*entry
}

// entry is an embedder that was made, is being made or could not be made.
type entry struct {
	done  chan struct{} // closed when the rest is set
	inner retrieval.Embedder
	given retrieval.Embedder
	err   error
	at    time.Time // of the last look, guarded by Registry.mu once done
}

// NewRegistry makes one without embedders.
func NewRegistry(cfg RegistryConfig) (*Registry, error) {
	if cfg.Open == nil {
		return nil, errors.New("embed: a registry needs a way to open embedders")
	}
	for field, otherwise := range map[*time.Duration]time.Duration{
		&cfg.Timeout: 30 * time.Second, &cfg.Retry: 2 * time.Second, &cfg.Recheck: time.Minute,
	} {
		if *field <= 0 {
			*field = otherwise
		}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Registry{cfg: cfg, names: map[string]*entry{}}, nil
}

// Embedder returns the embedder of a name, whose questions are remembered. Its
// error is that of Open; store.ErrUnavailable may pass.
func (r *Registry) Embedder(ctx context.Context, name string) (retrieval.Embedder, error) {
	for {
		e := r.entry(ctx, name)
		select {
		case <-e.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if e.err != nil {
			return nil, e.err
		}
		if r.same(ctx, e) {
			return e.given, nil
		}
		r.drop(name, e)
	}
}

// entry finds or begins one. A failure that is old enough is tried again.
func (r *Registry) entry(ctx context.Context, name string) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.names[name]; e != nil && !r.stale(e) {
		return e
	}
	if len(r.names) >= maxNames {
		maps.DeleteFunc(r.names, func(_ string, e *entry) bool { return r.stale(e) })
	}
	e := &entry{done: make(chan struct{})}
	r.names[name] = e
	go r.open(context.WithoutCancel(ctx), name, e)
	return e
}

func (r *Registry) stale(e *entry) bool {
	select {
	case <-e.done:
		return e.err != nil && r.cfg.Now().Sub(e.at) >= r.cfg.Retry
	default:
		return false
	}
}

// open belongs to nobody who asks: one who gives up does not spoil it for others.
func (r *Registry) open(ctx context.Context, name string, e *entry) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	inner, err := r.cfg.Open(ctx, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		e.inner, e.given = inner, NewCached(inner, r.cfg.CacheSize)
	}
	e.err, e.at = err, r.cfg.Now()
	close(e.done)
}

// same asks an embedder from time to time whether it is still what it was. One
// that does not answer is left: whoever uses it will see.
func (r *Registry) same(ctx context.Context, e *entry) bool {
	changing, ok := e.inner.(interface {
		Same(ctx context.Context) (bool, error)
	})
	if !ok {
		return true
	}
	r.mu.Lock()
	due := r.cfg.Now().Sub(e.at) >= r.cfg.Recheck
	if due {
		e.at = r.cfg.Now() // one asks, the others go on
	}
	r.mu.Unlock()
	if !due {
		return true
	}
	same, err := changing.Same(ctx)
	return err != nil || same
}

func (r *Registry) drop(name string, e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names[name] == e {
		delete(r.names, name)
	}
}
