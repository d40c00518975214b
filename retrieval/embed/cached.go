package embed

import (
	"container/list"
	"context"
	"slices"
	"sync"

	"ragagent/retrieval"
)

// Bounds of a Cached.
const (
	// DefaultCacheSize is how many questions are remembered.
	DefaultCacheSize = 1024
	// maxCachedText is the longest remembered question in bytes.
	maxCachedText = 4 << 10
)

// Cached remembers the vectors of the last questions of another Embedder;
// texts go through. At most its size times (4 KiB + a vector) is held.
type Cached struct {
	retrieval.Embedder
	size int

	mu     sync.Mutex
	recent *list.List // of cachedQuery, the last used first
	byText map[string]*list.Element
}

type cachedQuery struct {
	text   string
	vector []float32
}

// NewCached remembers the last size questions; 0 means DefaultCacheSize.
func NewCached(inner retrieval.Embedder, size int) *Cached {
	if size <= 0 {
		size = DefaultCacheSize
	}
	return &Cached{
		Embedder: inner, size: size,
		recent: list.New(), byText: make(map[string]*list.Element),
	}
}

// EmbedQuery returns what the Embedder returns, or returned before. The vector
// is the caller's own. Errors are not remembered. Questions of other callers
// do not wait while one is embedded.
func (c *Cached) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if v, ok := c.get(text); ok {
		return v, nil
	}
	v, err := c.Embedder.EmbedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(text) <= maxCachedText {
		c.put(text, slices.Clone(v))
	}
	return v, nil
}

func (c *Cached) get(text string) ([]float32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byText[text]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(e)
	return slices.Clone(e.Value.(cachedQuery).vector), true
}

func (c *Cached) put(text string, vector []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byText[text]; ok {
		return // another caller was faster
	}
	c.byText[text] = c.recent.PushFront(cachedQuery{text, vector})
	if c.recent.Len() > c.size {
		oldest := c.recent.Remove(c.recent.Back()).(cachedQuery)
		delete(c.byText, oldest.text)
	}
}
