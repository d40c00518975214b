package ollama_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ragagent/retrieval/embed"
	"ragagent/retrieval/embed/ollama"
	"ragagent/store"
)

func open(t *testing.T, url, model string) (*embed.Remote, error) {
	t.Helper()
	s, err := ollama.New(ollama.Config{BaseURL: url, Model: model, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return embed.NewRemote(t.Context(), embed.RemoteConfig{
		Service: s, Name: "ollama/" + model, Model: model, Attempts: 2, Backoff: time.Microsecond, Timeout: 30 * time.Second,
	})
}

// TestFaults: what the server says wrong, and what it means.
func TestFaults(t *testing.T) {
	const tags = `{"models":[{"name":"m:latest","digest":"d1"}]}`
	for name, c := range map[string]struct {
		tags, body  string
		status      int
		want        string
		unavailable bool
	}{
		"no model":   {`{"models":[]}`, ``, 200, `model "m" not found: run 'ollama pull m'`, false},
		"chat model": {tags, `{"error":"this model does not support embeddings"}`, 400, "does not support embeddings", false},
		"queue":      {tags, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, 503, "server busy", true},
		"runner":     {tags, `{"error":"failed to encode"}`, 500, "failed to encode", false},
		"zero":       {tags, `{"embeddings":[[0,0]]}`, 200, "norm is 0", false},
		"count":      {tags, `{"embeddings":[[1],[2]]}`, 200, "2 vectors to 1 texts", false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/tags" {
					_, _ = io.WriteString(w, c.tags)
					return
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			_, err := open(t, server.URL, "m")
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, store.ErrUnavailable) != c.unavailable {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		server := httptest.NewServer(nil)
		server.Close()
		if _, err := open(t, server.URL, "m"); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}

// TestBroken: a connection that ends in the middle of an answer is tried again.
func TestBroken(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			_, _ = io.WriteString(w, `{"models":[{"name":"m:latest","digest":"d1"}]}`)
			return
		}
		if calls++; calls == 1 {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"embeddings":[[`)
			return
		}
		_, _ = io.WriteString(w, `{"embeddings":[[3,4]]}`)
	}))
	defer server.Close()
	if e, err := open(t, server.URL, "m"); err != nil || e.Dim() != 2 || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
