package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ragagent/store"
)

// wordServer embeds over HTTP: a text's vector is the sum of random directions,
// one for each of its words. down makes it answer 503.
type wordServer struct {
	*httptest.Server
	down  atomic.Bool
	texts atomic.Int64 // embedded so far
	after atomic.Int64 // goes down by itself when so many have been; 0: does not
}

func startWordServer(t testing.TB) *wordServer {
	t.Helper()
	s := &wordServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := s.after.Load(); n > 0 && s.texts.Load() >= n {
			s.down.Store(true)
		}
		if s.down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		var in struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type vector struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var out struct {
			Data []vector `json:"data"`
		}
		for i, text := range in.Input {
			out.Data = append(out.Data, vector{i, wordVector(in.Model, text)})
		}
		s.texts.Add(int64(len(in.Input)))
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return s
}

func wordVector(model, text string) []float32 {
	v := make([]float32, 48)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New64a()
		fmt.Fprint(h, model, word)
		r := rand.New(rand.NewPCG(h.Sum64(), 0))
		for i := range v {
			v[i] += float32(r.NormFloat64())
		}
	}
	return v
}

// embedderState is what the tests read of a change.
type embedderState struct {
	JobID      string            `json:"job_id"`
	State      store.ChangeState `json:"state"`
	Embedder   string            `json:"embedder"`
	Done       int               `json:"done"`
	Total      int               `json:"total"`
	Error      string            `json:"error"`
	Waiting    string            `json:"waiting"`
	Comparison *store.Comparison `json:"comparison"`
}

const embedderPath = "/api/v1/knowledge-bases/kb/embedder"

func awaitState(t *testing.T, api *client, want store.ChangeState) embedderState {
	t.Helper()
	var s embedderState
	eventually(t, func() bool {
		if err := api.get(t.Context(), embedderPath, &s); err != nil {
			t.Fatal(err)
		}
		if s.State == store.ChangeFailed && want != s.State {
			t.Fatalf("the change failed: %s", s.Error)
		}
		return s.State == want
	})
	return s
}

// TestChangeEmbedder takes a knowledge base from the built-in embedder to one
// over HTTP and back, while documents come and go and questions are asked.
func TestChangeEmbedder(t *testing.T) {
	server, data := startWordServer(t), t.TempDir()
	e := &env{ctx: t.Context(), stdout: testWriter{t}, stderr: testWriter{t}}
	models := modelFlags{EmbedderURL: server.URL}
	err := withClient(e, reachFlags{dataFlags: dataFlags{Data: data}}, models, true, func(api *client) error {
		return changeAndBack(t, api, server)
	})
	if err != nil {
		t.Fatal(err)
	}
	runs(t, "verify", "--data", data)
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) { w.t.Logf("%s", p); return len(p), nil }

func changeAndBack(t *testing.T, api *client, server *wordServer) error {
	ctx := t.Context()
	if err := api.ensureKnowledgeBase(ctx, "kb"); err != nil {
		return err
	}
	add := func(i int) string {
		doc, err := api.upload(ctx, "kb", fmt.Sprintf("file-%03d.md", i), strings.NewReader(killText(i)))
		if err != nil {
			t.Fatal(err)
		}
		return doc.ID
	}
	for i := range 20 {
		add(i)
	}
	waitReady(t, api)
	asking, stop := context.WithCancel(ctx)
	var asked sync.WaitGroup
	defer asked.Wait()
	defer stop()
	asked.Go(func() { askWhole(asking, t, api) })

	// The embedder goes down in the middle: the change waits, and goes on.
	server.after.Store(5)
	post := func(path string, body, out any) error { return api.post(ctx, embedderPath+path, body, out) }
	if err := post("", map[string]any{"embedder": "openai/words", "compare": true}, nil); err != nil {
		return err
	}
	if err := post("", map[string]any{"embedder": "openai/words"}, nil); !isStatus(err, http.StatusConflict) {
		t.Errorf("a second change at once: %v", err)
	}
	if err := post("/switch", nil, nil); !isStatus(err, http.StatusConflict) {
		t.Errorf("a switch to what is not there yet: %v", err)
	}
	gone := add(20)
	server.after.Store(0)
	server.down.Store(false)
	ready := awaitState(t, api, store.ChangeReady)
	if ready.Comparison == nil || ready.Comparison.Questions == 0 || ready.Comparison.Overlap <= 0 || ready.Comparison.Overlap > 1 {
		t.Errorf("comparison: %+v", ready.Comparison)
	}
	var job struct{ Kind, Status string }
	if err := api.get(ctx, "/api/v1/jobs/"+ready.JobID, &job); err != nil || job.Kind != "reembed" || job.Status != "ready" {
		t.Errorf("job: %+v, %v", job, err)
	}
	add(21) // follows
	if err := api.do(ctx, http.MethodDelete, "/api/v1/knowledge-bases/kb/documents/"+gone, nil, "", nil); err != nil {
		return err
	}
	waitReady(t, api)

	embedderIs := func(want string) {
		t.Helper()
		var kb struct{ Embedder string }
		if err := api.get(ctx, "/api/v1/knowledge-bases/kb", &kb); err != nil || kb.Embedder != want {
			t.Errorf("embedder %q, want %q, %v", kb.Embedder, want, err)
		}
	}
	found := func(want ...int) {
		t.Helper()
		for _, mode := range []string{"hybrid", "dense"} {
			for _, i := range want {
				var r retrieved
				if err := api.post(ctx, "/api/v1/retrieve", map[string]any{
					"query": fmt.Sprintf("code%dx", i), "knowledge_bases": []string{"kb"}, "top_k": 30, "mode": mode,
				}, &r); err != nil {
					t.Fatal(err)
				}
				names := map[string]bool{}
				for _, h := range r.Hits {
					names[h.DocumentName] = true
				}
				if !names[fmt.Sprintf("file-%03d.md", i)] || names["file-020.md"] {
					t.Errorf("%s, code%dx: %v", mode, i, names)
				}
			}
		}
	}
	embedderIs("builtin/ste2")
	if err := post("/switch", nil, nil); err != nil {
		return err
	}
	embedderIs("openai/words")
	found(0, 19, 21)
	add(22)
	waitReady(t, api)
	found(22)
	if err := post("/rollback", nil, nil); err != nil {
		return err
	}
	embedderIs("builtin/ste2")
	found(0, 21, 22)
	if err := post("/switch", nil, nil); err != nil {
		return err
	}
	embedderIs("openai/words")
	found(0, 21, 22)
	if err := post("/discard", nil, nil); err != nil {
		return err
	}
	if err := api.get(ctx, embedderPath, nil); !isStatus(err, http.StatusNotFound) {
		t.Errorf("after it was discarded: %v", err)
	}
	// By PATCH it switches by itself.
	if err := api.do(ctx, http.MethodPatch, "/api/v1/knowledge-bases/kb", strings.NewReader(`{"embedder": "builtin"}`), "application/json", nil); err != nil {
		return err
	}
	back := awaitState(t, api, store.ChangeSwitched)
	if back.Embedder != "openai/words" || back.Done != back.Total || back.Total < 22 {
		t.Errorf("%+v", back)
	}
	found(0, 22)
	return nil
}

// askWhole asks until ctx ends: no answer may be degraded, whatever is done to
// the knowledge base meanwhile.
func askWhole(ctx context.Context, t *testing.T, api *client) {
	for i := 0; ctx.Err() == nil; i++ {
		var r struct {
			Degraded []string `json:"degraded"`
		}
		err := api.post(ctx, "/api/v1/retrieve", map[string]any{"query": fmt.Sprintf("crates in warehouse %d", i%20), "knowledge_bases": []string{"kb"}}, &r)
		if ctx.Err() != nil {
			return
		}
		if err != nil || len(r.Degraded) > 0 {
			t.Errorf("question %d: %v, degraded: %q", i, err, r.Degraded)
			return
		}
	}
}
