package ollama_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent/llm/ollama/ollamatest"
	"ragagent/retrieval/embed"
	"ragagent/retrieval/embed/ollama"
	"ragagent/store"
)

// TestOllamaServer talks to a real server; see make test-ollama. Any model has
// vectors to give, a parrot too.
func TestOllamaServer(t *testing.T) {
	server := ollamatest.Start(t)
	parrot, err := ollamatest.NewParrot(false, ollamatest.Rule{Results: ollamatest.Any, Say: "Hello."})
	if err != nil {
		t.Fatal(err)
	}
	server.Create(t, "parrot", parrot)
	service, err := ollama.New(ollama.Config{BaseURL: server.URL, Model: "parrot", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	e, err := embed.NewRemote(t.Context(), embed.RemoteConfig{
		Service: service, Name: "ollama/parrot", Model: "parrot", Attempts: 2, Backoff: time.Millisecond,
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if same, err := e.Same(t.Context()); !same || err != nil || e.Dim() == 0 || !strings.HasPrefix(e.Fingerprint(), "parrot-") {
		t.Errorf("%d dimensions, %s, same %t, %v", e.Dim(), e.Fingerprint(), same, err)
	}
	long := strings.Repeat("the tide at Saint-Malo ", 1000)
	got, err := e.Embed(t.Context(), []string{"the tide", "", long, "quarterly invoices"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := e.Embed(t.Context(), []string{"the tide", "", long, "quarterly invoices"})
	if diff := cmp.Diff(got, again); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
	for i, v := range got {
		if (v == nil) != (i == 1) || v != nil && len(v) != e.Dim() {
			t.Errorf("vector %d has %d dimensions", i, len(v))
		}
	}
	if !strings.Contains(log.String(), "longer than the embedder reads") {
		t.Errorf("nothing is said of the text that was shortened: %s", log.String())
	}
	server.Kill()
	if _, err := e.Embed(t.Context(), []string{"the tide"}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("of a server that is gone: %v", err)
	}
}
