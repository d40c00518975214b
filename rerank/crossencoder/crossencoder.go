// Package crossencoder reranks with a model on a server that reads question and
// passage together. It speaks the /rerank of Cohere, Jina and their many
// likes (vLLM, llama.cpp, Infinity, LocalAI) and that of Hugging Face's Text
// Embeddings Inference.
package crossencoder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"ragagent/retrieval"
	"ragagent/store"
)

// Config of a Reranker. URL is required; every other zero value is the default
// named beside it.
type Config struct {
	// URL of the server up to /rerank, which is added if it is not there:
	// https://api.cohere.com/v2, https://api.jina.ai/v1, http://127.0.0.1:8080.
	URL string
	// Model is its name at the server; "" where that has one only.
	Model string
	// Key is sent as a bearer token; "" sends none. It stands in no error.
	Key string
	// Timeout of all requests for one question; 5 s.
	Timeout time.Duration
	// Pause is how long a server is left alone that did not answer; 5 s.
	Pause time.Duration
	// Depth is how many hits are read, the others follow; 100.
	Depth int
	// MaxQueryBytes and MaxPassageBytes are what a question and a passage are cut
	// to; 2 KiB and 4 KiB, which is about what such models read.
	MaxQueryBytes, MaxPassageBytes int
	// HTTPClient makes the connections; nil means one of its own. Redirects are
	// not followed with either: the key would go with them.
	HTTPClient *http.Client
	Now        func() time.Time
}

// Reranker implements retrieval.Reranker.
type Reranker struct {
	cfg    Config
	client *http.Client

	mu    sync.Mutex
	style style // that the server understood last
	batch int   // passages it takes at a time
	down  struct {
		until time.Time
		cause error
	}
}

var _ retrieval.Reranker = (*Reranker)(nil)

// New returns a Reranker; the server is not asked anything yet. A malformed URL
// and negative bounds are store.ErrInvalid.
func New(cfg Config) (*Reranker, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, store.Invalid("url", "%q is not the address of a server, for example http://127.0.0.1:8080", cfg.URL)
	}
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/rerank") {
		u = u.JoinPath("rerank")
	}
	cfg.URL = u.String()
	for field, otherwise := range map[*int]int{&cfg.Depth: 100, &cfg.MaxQueryBytes: 2 << 10, &cfg.MaxPassageBytes: 4 << 10} {
		if *field < 0 {
			return nil, store.Invalid("bound", "is %d; must not be negative", *field)
		}
		*field = cmp.Or(*field, otherwise)
	}
	cfg.Timeout, cfg.Pause = cmp.Or(max(cfg.Timeout, 0), 5*time.Second), cmp.Or(max(cfg.Pause, 0), 5*time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	client := http.Client{}
	if cfg.HTTPClient != nil {
		client = *cfg.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Reranker{cfg: cfg, client: &client, batch: cfg.Depth}, nil
}

// Rerank implements retrieval.Reranker. A hit's score is what the server gives
// it, 0..1: scores outside of that are logits, and squeezed. Equal scores keep
// the server's order. Hits beyond Depth, or that the server leaves out, follow
// as they were, with scores not above the last.
func (r *Reranker) Rerank(ctx context.Context, query string, hits []retrieval.Hit) ([]retrieval.Hit, error) {
	if len(hits) == 0 {
		return hits, nil
	}
	if err := r.paused(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	texts := make([]string, min(len(hits), r.cfg.Depth))
	for i := range texts {
		texts[i] = cut(passage(&hits[i]), r.cfg.MaxPassageBytes)
	}
	ranked, err := r.ask(ctx, cut(query, r.cfg.MaxQueryBytes), texts)
	if err != nil {
		r.pause(err)
		return nil, fmt.Errorf("crossencoder: %w", err)
	}
	return arranged(hits, ranked), nil
}

// passage is what the model reads of a hit: where it stands, and its text.
func passage(h *retrieval.Hit) string {
	parts := []string{h.Title}
	parts = append(parts, h.Headings...)
	parts = append(parts, h.Context, h.Text)
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	return strings.Join(parts, "\n")
}

// cut shortens a text to so many bytes of valid UTF-8.
func cut(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	return strings.ToValidUTF8(text, "")
}

// scored is a text by its index, as a server judged it.
type scored struct {
	index int
	score float64
}

// arranged puts hits into the order of their scores.
func arranged(hits []retrieval.Hit, ranked []scored) []retrieval.Hit {
	slices.SortStableFunc(ranked, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	logits := slices.ContainsFunc(ranked, func(s scored) bool { return s.score < 0 || s.score > 1 })
	out := make([]retrieval.Hit, 0, len(hits))
	taken := make([]bool, len(hits))
	last := 1.
	for _, s := range ranked {
		h := hits[s.index]
		taken[s.index] = true
		last = s.score
		if logits {
			last = 1 / (1 + math.Exp(-s.score))
		}
		h.Score = last
		if h.Explain != nil {
			h.Explain = &retrieval.Explanation{Label: "cross-encoder", Value: retrieval.Evidence(h.Score), Details: []retrieval.Explanation{
				{Label: "relevance by the model", Value: s.score}, *h.Explain,
			}}
		}
		out = append(out, h)
	}
	for i, h := range hits {
		if !taken[i] {
			h.Score = min(h.Score, last)
			out = append(out, h)
			last = h.Score
		}
	}
	return out
}

func (r *Reranker) paused() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Now().Before(r.down.until) {
		return fmt.Errorf("crossencoder: not asked again so soon: %w", r.down.cause)
	}
	return nil
}

// pause notes that the server did not answer. One that answered with an error
// has answered, and a question that was given up says nothing of the server.
func (r *Reranker) pause(cause error) {
	var answered *answerError
	if errors.As(cause, &answered) || errors.Is(cause, context.Canceled) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down.until, r.down.cause = r.cfg.Now().Add(r.cfg.Pause), cause
}
