package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// countingEmbedder is a server of embeddings that remembers what it was asked.
type countingEmbedder struct {
	mu    sync.Mutex
	down  bool
	asked map[string]bool
	tries int           // while it was down
	at    int           // texts after which half is closed
	half  chan struct{} // closed then
}

func (e *countingEmbedder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.down {
		e.tries++
		http.Error(w, `{"error":{"message":"the model is being loaded"}}`, http.StatusServiceUnavailable)
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
		if strings.Contains(text, "Record") { // not what it is tried out with
			e.asked[text] = true
		}
		out.Data = append(out.Data, vector{i, []float32{float32(len(text)%7) + 1, 1, 2, 3}})
	}
	if before := len(e.asked) - len(in.Input); before < e.at && len(e.asked) >= e.at {
		close(e.half)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // the server may have been killed
}

// again forgets what was asked and returns it.
func (e *countingEmbedder) again(down bool) map[string]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.asked
	e.asked, e.down = map[string]bool{}, down
	return before
}

// TestResume kills the server when about half of a long document is embedded.
// The next one waits for an embedder that is down, says so, goes on when it is
// up, and asks for nothing that was stored.
func TestResume(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes; not with -short")
	}
	const records, half = 10_600, 5_400
	embedder := &countingEmbedder{asked: map[string]bool{}, at: half, half: make(chan struct{})}
	service := httptest.NewServer(embedder)
	defer service.Close()
	t.Setenv("RAGAGENT_EMBEDDER", "openai/test")
	t.Setenv("RAGAGENT_EMBEDDER_URL", service.URL)
	data := t.TempDir()
	srv := startServer(t, data)
	api := srv.client()
	err := api.post(t.Context(), "/api/v1/knowledge-bases", map[string]any{"name": "kb", "chunking": map[string]any{"size": 64, "overlap": 0}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range records {
		fmt.Fprintf(&text, "Record %d. %s\n\n", i, strings.Repeat("It says what was seen there. ", 8))
	}
	doc, err := api.upload(t.Context(), "kb", "records.txt", strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-embedder.half:
	case <-time.After(time.Minute):
		t.Fatal("half of it was not embedded within a minute")
	}
	srv.kill()
	before := embedder.again(true)

	api = startServer(t, data).client()
	job := func() (job struct {
		jobState
		Waiting string `json:"waiting"`
	}) {
		if err := api.get(t.Context(), "/api/v1/jobs/"+doc.JobID, &job); err != nil {
			t.Fatal(err)
		}
		return job
	}
	wait := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("not %s within a minute: %+v", what, job())
			}
		}
	}
	wait("waiting", func() bool { return strings.Contains(job().Waiting, "does not answer") })
	if j := job(); j.ended() {
		t.Errorf("a job that should wait: %+v", j)
	}
	embedder.again(false)
	wait("ready", func() bool { return job().Status == "ready" })
	after, twice := embedder.again(false), 0
	for text := range after {
		if before[text] {
			twice++
		}
	}
	// Of what was asked before the kill, two batches may not have been stored.
	if n := len(before) + len(after) - twice; n != records || twice > 2*128 {
		t.Errorf("asked for %d texts, %d of them twice, want %d and hardly any", n, twice, records)
	}
	t.Logf("killed after %d of %d, %d asked again", len(before), records, twice)
}
