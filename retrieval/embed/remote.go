package embed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"ragagent/retrieval"
	"ragagent/store"
)

// RemoteConfig makes an Embedder of a Service. Service, Name and Model are
// required; every other zero value is the default named beside it.
type RemoteConfig struct {
	Service Service
	Name    string // "provider/name", as in the settings
	Model   string // its name without the provider: it stands in the fingerprint
	// Prefixes to put before texts; nil means those that are known for the model.
	Prefixes *Prefixes

	MaxBatch      int           // texts in a request; 64
	MaxBatchBytes int           // bytes of all texts of a request; 128 KiB
	MaxRequests   int           // at the server at a time; 4
	Timeout       time.Duration // of one request; 2 minutes, in which a model may have to be loaded
	Attempts      int           // of a request that may be repeated; 4, of which a question has 2
	Backoff       time.Duration // before the second attempt, doubled each time; 250 ms
	// Pause is how long questions are not sent to a server that did not answer
	// the last one; 2 seconds.
	Pause time.Duration
	Now   func() time.Time
	Log   *slog.Logger // discarded
}

// Bounds of what a server may give.
const (
	maxDim        = 16384
	maxRetryAfter = 10 * time.Second
	shortest      = 16 // bytes that a text is not shortened below
)

// Remote is an Embedder on a server. What the server gives is not trusted:
// counts, dimension and numbers are checked, and vectors brought to norm 1.
type Remote struct {
	cfg         RemoteConfig
	prefixes    Prefixes
	dim         int
	digest      string
	fingerprint string
	requests    chan struct{} // one for each that is under way

	mu   sync.Mutex
	down struct {
		until time.Time
		cause error
	}
}

var _ retrieval.Embedder = (*Remote)(nil)

// NewRemote asks the server which model it has and for a first vector, whose
// length is the dimension. The error wraps store.ErrUnavailable if the server
// does not answer.
func NewRemote(ctx context.Context, cfg RemoteConfig) (*Remote, error) {
	if cfg.Service == nil || cfg.Name == "" || cfg.Model == "" {
		return nil, errors.New("embed: a service, a name and a model are required")
	}
	r := &Remote{cfg: cfg.withDefaults(), prefixes: PrefixesOf(cfg.Model)}
	if cfg.Prefixes != nil {
		r.prefixes = *cfg.Prefixes
	}
	r.requests = make(chan struct{}, r.cfg.MaxRequests)
	var err error
	if r.digest, err = r.askDigest(ctx); err != nil {
		return nil, err
	}
	probe, err := r.ask(ctx, []string{r.prefixes.Document + "dimension"}, r.cfg.Attempts)
	if err != nil {
		return nil, r.failure(err)
	}
	if r.dim = len(probe[0]); r.dim > maxDim {
		return nil, fmt.Errorf("embedder %s: its vectors have %d dimensions, at most %d are allowed", cfg.Name, r.dim, maxDim)
	}
	r.fingerprint = fingerprintOf(cfg.Model, r.digest, r.dim, r.prefixes)
	return r, nil
}

func (c RemoteConfig) withDefaults() RemoteConfig {
	for field, otherwise := range map[*int]int{&c.MaxBatch: 64, &c.MaxBatchBytes: 128 << 10, &c.MaxRequests: 4, &c.Attempts: 4} {
		if *field <= 0 {
			*field = otherwise
		}
	}
	for field, otherwise := range map[*time.Duration]time.Duration{
		&c.Timeout: 2 * time.Minute, &c.Backoff: 250 * time.Millisecond, &c.Pause: 2 * time.Second,
	} {
		if *field <= 0 {
			*field = otherwise
		}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// fingerprintOf names a vector space. The provider is not in it: the same
// weights behind another server are the same space.
func fingerprintOf(model, digest string, dim int, p Prefixes) string {
	model = strings.TrimSuffix(model, ":latest")
	h := sha256.New()
	for _, part := range []string{model, digest, fmt.Sprint(dim), p.Query, p.Document} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return fmt.Sprintf("%s-%d-%x", model, dim, h.Sum(nil)[:8])
}

// Dim returns the length of the vectors.
func (r *Remote) Dim() int { return r.dim }

// Name returns "provider/name".
func (r *Remote) Name() string { return r.cfg.Name }

// Fingerprint identifies the vector space: model, weights if the server tells
// them apart, dimension and prefixes.
func (r *Remote) Fingerprint() string { return r.fingerprint }

// Same says whether the server still has the weights it had when r was made.
func (r *Remote) Same(ctx context.Context) (bool, error) {
	digest, err := r.askDigest(ctx)
	return digest == r.digest, err
}

// Embed implements retrieval.Embedder. The error wraps store.ErrUnavailable if
// the server does not answer, after some attempts. A text that is longer than
// the model reads is shortened at its end, and the log says so. Of a text
// without letters or other visible characters there is no vector.
func (r *Remote) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var batch []string
	var places []int
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		got, err := r.batch(ctx, batch)
		if err != nil {
			return r.failure(err)
		}
		for i, v := range got {
			vectors[places[i]] = v
		}
		batch, places, size = nil, nil, 0
		return nil
	}
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		text = r.prefixes.Document + strings.ToValidUTF8(text, "\uFFFD")
		if len(batch) == r.cfg.MaxBatch || size+len(text) > r.cfg.MaxBatchBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		batch, places, size = append(batch, text), append(places, i), size+len(text)
	}
	return vectors, flush()
}

// EmbedQuery implements retrieval.Embedder. Somebody waits for it: there are
// fewer attempts than with Embed, and none while the server is known to be down.
func (r *Remote) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if err := r.paused(); err != nil {
		return nil, err
	}
	vectors, err := r.fit(ctx, []string{r.prefixes.Query + strings.ToValidUTF8(text, "\uFFFD")}, min(2, r.cfg.Attempts))
	if err != nil {
		err = r.failure(err)
		if errors.Is(err, store.ErrUnavailable) {
			r.pause(err)
		}
		return nil, err
	}
	return vectors[0], nil
}

func (r *Remote) paused() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Now().Before(r.down.until) {
		return r.down.cause
	}
	return nil
}

func (r *Remote) pause(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down.until, r.down.cause = r.cfg.Now().Add(r.cfg.Pause), cause
}

func (r *Remote) batch(ctx context.Context, texts []string) ([][]float32, error) {
	return r.fit(ctx, texts, r.cfg.Attempts)
}

// failure is an error as it leaves this room.
func (r *Remote) failure(err error) error {
	var e *ServiceError
	if errors.As(err, &e) && e.Unavailable {
		return fmt.Errorf("embedder %s: %w: %w", r.cfg.Name, store.ErrUnavailable, e.Err)
	}
	return fmt.Errorf("embedder %s: %w", r.cfg.Name, err)
}
