package embed

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
)

// counting counts the questions that reach it.
type counting struct {
	retrieval.Embedder
	queries []string
	err     error
}

func (c *counting) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	c.queries = append(c.queries, text)
	return []float32{float32(len(c.queries))}, c.err
}

func TestCached(t *testing.T) {
	inner := &counting{}
	c := NewCached(inner, 2)
	ask := func(text string) float32 {
		t.Helper()
		v, err := c.EmbedQuery(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		got := v[0]
		v[0] = -1 // the vector is the caller's own
		return got
	}
	long := strings.Repeat("x", maxCachedText+1)
	var got []float32
	for _, text := range []string{"a", "b", "a", "c", "a", "b", long, long} {
		got = append(got, ask(text))
	}
	// c pushed out b, which was used before a; long ones are not kept.
	if diff := cmp.Diff([]float32{1, 2, 1, 3, 1, 4, 5, 6}, got); diff != "" {
		t.Errorf("vectors (-want +got):\n%s", diff)
	}
	if len(c.byText) != 2 || c.recent.Len() != 2 {
		t.Errorf("%d and %d kept, want 2", len(c.byText), c.recent.Len())
	}
	inner.err = errors.New("down")
	if _, err := c.EmbedQuery(t.Context(), "d"); !errors.Is(err, inner.err) {
		t.Errorf("error %v", err)
	}
	inner.err = nil
	if got := ask("d"); got != 8 {
		t.Errorf("an error was remembered: %v", got)
	}
}

func TestCachedDefaultSize(t *testing.T) {
	s := static(t)
	c := NewCached(s, 0)
	want, err := s.EmbedQuery(t.Context(), "rotate keys")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := c.EmbedQuery(t.Context(), "rotate keys")
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%v, another vector: %v", err, !cmp.Equal(got, want))
		}
	}
	if v, err := c.EmbedQuery(t.Context(), "中文"); v != nil || err != nil {
		t.Errorf("no token: %v, %v", v, err)
	}
	if v, err := c.EmbedQuery(t.Context(), "中文"); v != nil || err != nil {
		t.Errorf("no token, remembered: %v, %v", v, err)
	}
	if c.size != DefaultCacheSize || c.Dim() != 256 {
		t.Errorf("size %d, Dim %d", c.size, c.Dim())
	}
}
