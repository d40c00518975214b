package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestKillsOfEmbedderChanges kills a server again and again while the embedder
// of its knowledge base is changed, switched, rolled back and discarded, and
// documents come and go. Every start finds one set of vectors or the other,
// whole; a change that was begun goes on.
func TestKillsOfEmbedderChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes; not with -short")
	}
	random, words := seeded(t), startWordServer(t)
	t.Setenv("RAGAGENT_EMBEDDER_URL", words.URL)
	data, log := filepath.Join(t.TempDir(), "data"), newLedger()
	switches := 0
	kills := setting(t, "RAGAGENT_KILLS", 20)
	for i := range kills {
		srv, _ := timedStart(t, data)
		api := srv.client()
		if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		clients.Go(func() { log.churn(ctx, api) })
		clients.Go(func() { switches += churnEmbedder(ctx, api) })
		clients.Go(func() { ask(ctx, api) })
		time.Sleep(time.Duration(50+random.IntN(800)) * time.Millisecond)
		srv.kill()
		cancel()
		clients.Wait()
		if i%5 == 4 || i == kills-1 {
			runs(t, "verify", "--data", data)
		}
		if t.Failed() {
			t.Fatalf("after kill %d", i+1)
		}
	}
	srv, _ := timedStart(t, data)
	api := srv.client()
	log.check(t, api)
	checkWhole(t, api, random)
	t.Logf("%d kills, %d switches that were acknowledged", kills, switches)
}

// churnEmbedder does to a change whatever can be done to it in its state, until
// ctx ends, and returns how many switches were made.
func churnEmbedder(ctx context.Context, api *client) (switches int) {
	for ctx.Err() == nil {
		var s embedderState
		if err := api.get(ctx, embedderPath, &s); err != nil {
			var kb struct{ Embedder string }
			if api.get(ctx, "/api/v1/knowledge-bases/kb", &kb) != nil {
				return switches
			}
			next := "openai/words"
			if kb.Embedder == next {
				next = "builtin"
			}
			_ = api.post(ctx, embedderPath, map[string]any{"embedder": next}, nil)
			continue
		}
		step := map[string]string{"ready_to_switch": "/switch", "switched": "/rollback"}[string(s.State)]
		if step == "" {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		if switches%5 == 4 {
			step = "/discard"
		}
		if api.post(ctx, embedderPath+step, nil, nil) == nil || step == "/discard" {
			switches++
		}
	}
	return switches
}

// checkWhole asks with vectors alone: no answer is degraded, and every one finds
// as many as it may.
func checkWhole(t *testing.T, api *client, r *rand.Rand) {
	t.Helper()
	for range 10 {
		var got struct {
			retrieved
			Degraded []string `json:"degraded"`
		}
		if err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{
			"query": fmt.Sprintf("crates in warehouse %d", r.IntN(100)), "knowledge_bases": []string{"kb"}, "mode": "dense", "top_k": 5,
		}, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Hits) != 5 || len(got.Degraded) > 0 {
			t.Errorf("%d hits, degraded: %s", len(got.Hits), strings.Join(got.Degraded, "; "))
		}
	}
}
