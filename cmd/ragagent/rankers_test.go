package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"ragagent/agent/llm"
	"ragagent/agent/llm/llmtest"
	"ragagent/retrieval"
	"ragagent/retrieval/calibrate"
)

// startRandomEmbedder plays an Ollama server whose vectors say nothing: each is
// drawn by chance, with the text as the seed.
func startRandomEmbedder(t *testing.T) (url string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/api/tags", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"models":[{"name":"random:latest","model":"random:latest","digest":"d1"}]}`)
	})
	mux.HandleFunc("/api/embed", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out := make([][]float64, len(in.Input))
		for i, text := range in.Input {
			h := fnv.New64a()
			fmt.Fprint(h, text)
			random := rand.New(rand.NewPCG(h.Sum64(), 1))
			for range 16 {
				out[i] = append(out[i], random.NormFloat64())
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "random", "embeddings": out})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// madeSet is a collection of made-up texts. wanted says which document is
// relevant for the question that is taken from document n.
func madeSet(t *testing.T, documents int, wanted func(n int) int) (dir string, questions, texts []string) {
	t.Helper()
	corpus := newMadeCorpus(2000, 1.05, 2.7, true)
	random := rand.New(rand.NewPCG(5, 5))
	var documentLines, queryLines, qrels strings.Builder
	qrels.WriteString("query-id\tcorpus-id\tscore\n")
	for n := range documents {
		texts = append(texts, corpus.document(n, 500))
		questions = append(questions, question(random, texts[n]))
		fmt.Fprintf(&documentLines, "{\"_id\": \"d%d\", \"text\": %q}\n", n, texts[n])
		fmt.Fprintf(&queryLines, "{\"_id\": \"q%d\", \"text\": %q}\n", n, questions[n])
		fmt.Fprintf(&qrels, "q%d\td%d\t1\n", n, wanted(n))
	}
	return writeFolder(t, map[string]string{
		"corpus.jsonl": documentLines.String(), "queries.jsonl": queryLines.String(), "qrels/test.tsv": qrels.String(),
	}), questions, texts
}

// ndcgOf returns the nDCG@10 of a collection.
func ndcgOf(t *testing.T, args ...string) float64 {
	t.Helper()
	var figures map[string]any
	if err := json.Unmarshal([]byte(runs(t, append([]string{"eval", "--json"}, args...)...)), &figures); err != nil {
		t.Fatal(err)
	}
	ndcg, ok := figures["ndcg@10"].(float64)
	if !ok {
		t.Fatalf("no ndcg@10 in %v", figures)
	}
	return ndcg
}

// An embedder whose vectors say nothing costs nothing, and everybody can see
// why.
func TestUselessEmbedder(t *testing.T) {
	url, kept := startRandomEmbedder(t), t.TempDir()
	dir, questions, _ := madeSet(t, 80, func(n int) int { return n })
	args := []string{"--dataset", dir, "--keep", kept, "--embedder", "ollama/random", "--ollama-host", url}
	words := ndcgOf(t, append(args, "--mode", "lexical")...)
	if both := ndcgOf(t, args...); both < words-.003 || words < .5 {
		t.Errorf("ndcg@10 %.4f with vectors, %.4f by words", both, words)
	}
	e := &env{ctx: t.Context(), stdout: testWriter{t}, stderr: testWriter{t}}
	models := modelFlags{Embedder: "ollama/random", OllamaHost: url}
	err := withClient(e, reachFlags{dataFlags: dataFlags{Data: kept}}, models, false, func(api *client) error {
		var kb struct {
			DenseWeight struct {
				Weight           float64
				Source           string
				Agreement, Error float64
				Questions        int
			} `json:"dense_weight"`
		}
		if err := api.get(t.Context(), "/api/v1/knowledge-bases/"+evalKB, &kb); err != nil {
			return err
		}
		if w := kb.DenseWeight; w.Source != "calibrated" || w.Weight != 0 || w.Questions < 100 || w.Agreement > 3*w.Error {
			t.Errorf("%+v", w)
		}
		var raw json.RawMessage
		err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{
			"query": questions[0], "knowledge_bases": []string{evalKB}, "explain": true,
		}, &raw)
		if !strings.Contains(string(raw), `{"label":"weight","value":0}`) {
			t.Errorf("not explained: %.500s", raw)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	keepsWeights(t, kept)
}

// keepsWeights: what was measured of an embedder holds nothing of a document,
// deleted or not, and survives a rebuild, unless it is damaged.
func keepsWeights(t *testing.T, data string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, indexesFolder, calibrate.FileKind+"-*.side"))
	if err != nil || len(files) != 1 {
		t.Fatalf("side files of weights: %v, %v", files, err)
	}
	was := read(t, files[0])
	runs(t, "verify", "--deleted", "--data", data)
	runs(t, "rebuild", "--data", data)
	if !bytes.Equal(read(t, files[0]), was) {
		t.Error("a rebuild changed what was measured")
	}
	runs(t, "verify", "--data", data)
	write(t, files[0], was[:len(was)-1])
	fails(t, "cannot be read", "verify", "--deleted", "--data", data)
	runs(t, "rebuild", "--data", data)
	runs(t, "verify", "--deleted", "--data", data)
	runs(t, "verify", "--data", data)
}

// qrelsServer reranks as the qrels say: the passage of the relevant document
// first. down makes it fail.
func qrelsServer(t *testing.T, relevant map[string]string) (url string, down *atomic.Bool) {
	t.Helper()
	down = new(atomic.Bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Query     string
			Documents []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || down.Load() || r.URL.Path != "/v1/rerank" {
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		}
		type judged struct {
			Index int     `json:"index"`
			Score float64 `json:"relevance_score"`
		}
		out := make([]judged, len(in.Documents))
		for i, d := range in.Documents {
			out[i].Index = i
			if strings.Contains(d, strings.TrimSpace(relevant[in.Query])) {
				out[i].Score = 1
			}
		}
		slices.SortStableFunc(out, func(a, b judged) int { return cmp.Compare(b.Score, a.Score) })
		_ = json.NewEncoder(w).Encode(map[string]any{"results": out})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", down
}

// A reranker that knows the answers lifts a collection to its ceiling, all the
// way through eval and through HTTP; one that fails changes nothing.
func TestRerankerOnServer(t *testing.T) {
	next := func(n int) int { return (n + 1) % 40 } // words do not lead there
	dir, questions, texts := madeSet(t, 40, next)
	relevant := make(map[string]string)
	for n, q := range questions {
		relevant[q] = texts[next(n)]
	}
	url, down := qrelsServer(t, relevant)
	kept := t.TempDir()
	args := []string{"--dataset", dir, "--keep", kept, "--reranker-url", url}
	words := ndcgOf(t, args...)
	if words > .5 {
		t.Errorf("ndcg@10 %.4f already by words", words)
	}
	if got := ndcgOf(t, append(args, "--rerank", "crossencoder")...); got != 1 {
		t.Errorf("ndcg@10 %.4f with a reranker that knows the answers", got)
	}
	e := &env{ctx: t.Context(), stdout: testWriter{t}, stderr: testWriter{t}}
	err := withClient(e, reachFlags{dataFlags: dataFlags{Data: kept}}, modelFlags{rankFlags: rankFlags{RerankerURL: url}}, false, func(api *client) error {
		ask := func(rerank any) (r retrieved) {
			err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{
				"query": questions[3], "knowledge_bases": []string{evalKB}, "rerank": rerank, "top_k": 40,
			}, &r)
			if err != nil {
				t.Errorf("%v: %v", rerank, err)
			}
			return r
		}
		by := ask("crossencoder")
		if len(by.Hits) != 40 || !strings.Contains(by.Hits[0].Text, strings.TrimSpace(texts[4])) || len(by.Degraded) != 0 {
			t.Errorf("%d hits, degraded %q", len(by.Hits), by.Degraded)
		}
		lexical := ask("lexical")
		down.Store(true)
		fallen := ask("crossencoder")
		if diff := gocmp.Diff([]string{"rerank: crossencoder: the server answered 500: out of order"}, fallen.Degraded); diff != "" {
			t.Error(diff)
		}
		if diff := gocmp.Diff(lexical.Hits, fallen.Hits); diff != "" {
			t.Error(diff)
		}
		if diff := gocmp.Diff(lexical.Hits, ask(true).Hits); diff != "" {
			t.Error(diff)
		}
		if diff := gocmp.Diff([]string{"rerank: listwise is not set up"}, ask("listwise").Degraded); diff != "" {
			t.Error(diff)
		}
		if got := ask("mmr"); len(got.Hits) != 40 || len(got.Degraded) != 0 {
			t.Errorf("%d hits, degraded %q", len(got.Hits), got.Degraded)
		}
		err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{"query": "q", "rerank": "guess"}, nil)
		if !isUsage(err) || !strings.Contains(err.Error(), "rerank") {
			t.Errorf("a kind that is not known: %v", err)
		}
		return kindOfKnowledgeBase(t, api, ask)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// kindOfKnowledgeBase sets a kind for all questions of a knowledge base.
func kindOfKnowledgeBase(t *testing.T, api *client, ask func(any) retrieved) error {
	patch := func(settings string) error {
		return api.do(t.Context(), http.MethodPatch, "/api/v1/knowledge-bases/"+evalKB,
			strings.NewReader(`{"retrieval": `+settings+`}`), "application/json", nil)
	}
	if err := patch(`{"rerank": "listwise", "rewrite": "decompose"}`); err != nil {
		return err
	}
	if got := ask(true); len(got.Degraded) != 1 {
		t.Errorf("degraded %q", got.Degraded)
	}
	if got := ask("none"); len(got.Degraded) != 0 {
		t.Errorf("degraded %q", got.Degraded)
	}
	if err := patch(`{"rerank": "guess"}`); !isUsage(err) {
		t.Errorf("a kind that is not known: %v", err)
	}
	return nil
}

func TestCompleter(t *testing.T) {
	model := llmtest.New(llmtest.Text("[2] ", "> [1]"), llmtest.Text(strings.Repeat("x", maxReply+1)))
	complete := completerOf(model)
	ask := func() (string, error) {
		return complete(t.Context(), retrieval.Prompt{System: "order", User: "these", MaxTokens: 9})
	}
	if got, err := ask(); got != "[2] > [1]" || err != nil {
		t.Error(got, err)
	}
	if _, err := ask(); !errors.Is(err, errLongReply) {
		t.Error(err)
	}
	request := model.Requests()[0]
	want := []llm.Message{{Role: llm.System, Content: "order"}, {Role: llm.User, Content: "these"}}
	if diff := gocmp.Diff(want, request.Messages); diff != "" || request.MaxTokens != 9 || *request.Temperature != 0 {
		t.Error(diff, request.MaxTokens)
	}
	for name, known := range map[string]bool{"": false, "extractive": false, "ollama/m": true} {
		complete, err := modelFlags{LLM: name, OllamaHost: "http://127.0.0.1:1"}.completer()
		if (complete != nil) != known || err != nil {
			t.Errorf("%q: %t, %v", name, complete != nil, err)
		}
	}
}
