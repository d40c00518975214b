package crossencoder_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/rerank/crossencoder"
	"ragagent/retrieval"
	"ragagent/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is what a server was sent.
type request struct {
	path, key string
	Model     string   `json:"model"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	Texts     []string `json:"texts"`
	TopN      int      `json:"top_n"`
	Truncate  bool     `json:"truncate"`
}

// serve answers each request with what answer says.
func serve(t *testing.T, answer func(request) (int, string)) (url string, asked *[]request) {
	t.Helper()
	asked = new([]request)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q request
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		q.path, q.key = r.URL.Path, r.Header.Get("Authorization")
		*asked = append(*asked, q)
		status, body := answer(q)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(func() { s.Close(); http.DefaultClient.CloseIdleConnections() })
	return s.URL, asked
}

func reranker(t *testing.T, cfg crossencoder.Config) *crossencoder.Reranker {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	cfg.HTTPClient = &http.Client{Transport: transport}
	r, err := crossencoder.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func hits(texts ...string) (out []retrieval.Hit) {
	for i, text := range texts {
		out = append(out, retrieval.Hit{Chunk: store.Chunk{ID: text, Text: text}, Score: .9 - float64(i)/100})
	}
	return out
}

func shown(hits []retrieval.Hit) (out []string) {
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s %.3f", h.ID, h.Score))
	}
	return out
}

func TestShapes(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		want   []string
	}{
		"Cohere":        {`{"id":"x","results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.2},{"index":1,"relevance_score":0.1}],"meta":{}}`, []string{"c 0.900", "a 0.200", "b 0.100"}},
		"any order":     {`{"results":[{"index":0,"relevance_score":0.2},{"index":1,"relevance_score":0.1},{"index":2,"relevance_score":0.9}]}`, []string{"c 0.900", "a 0.200", "b 0.100"}},
		"Voyage":        {`{"data":[{"index":1,"relevance_score":1},{"index":0,"relevance_score":0.5},{"index":2,"relevance_score":0}]}`, []string{"b 1.000", "a 0.500", "c 0.000"}},
		"TEI":           {`[{"index":1,"score":0.7},{"index":2,"score":0.6},{"index":0,"score":0.5}]`, []string{"b 0.700", "c 0.600", "a 0.500"}},
		"logits":        {`[{"index":1,"score":2},{"index":2,"score":0},{"index":0,"score":-2}]`, []string{"b 0.881", "c 0.500", "a 0.119"}},
		"ties":          {`[{"index":2,"score":1},{"index":0,"score":1},{"index":1,"score":0}]`, []string{"c 1.000", "a 1.000", "b 0.000"}},
		"no scores":     {`{"results":[{"index":2},{"index":1},{"index":0}]}`, []string{"c 1.000", "b 0.500", "a 0.333"}},
		"one left out":  {`[{"index":2,"score":0.5},{"index":1,"score":0.1}]`, []string{"c 0.500", "b 0.100", "a 0.100"}},
		"wrong indexes": {`[{"index":2,"score":0.5},{"index":2,"score":0.9},{"index":3,"score":1},{"index":-1,"score":1},{"score":1},{"index":0,"score":0.4}]`, []string{"c 0.500", "a 0.400", "b 0.400"}},
	} {
		url, _ := serve(t, func(request) (int, string) { return 200, test.answer })
		got, err := reranker(t, crossencoder.Config{URL: url}).Rerank(t.Context(), "q", hits("a", "b", "c"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, shown(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestRequest(t *testing.T) {
	url, asked := serve(t, func(request) (int, string) { return 200, `[{"index":0,"score":1}]` })
	r := reranker(t, crossencoder.Config{URL: url + "/v2/", Model: "m", Key: "secret", Depth: 2, MaxQueryBytes: 4, MaxPassageBytes: 12})
	in := hits("a long text of one", "b", "c")
	in[0].Title, in[0].Headings = "T", []string{"H"}
	got, err := r.Rerank(t.Context(), "größer", in)
	if err != nil {
		t.Fatal(err)
	}
	want := []request{{path: "/v2/rerank", key: "Bearer secret", Model: "m", Query: "grö", Documents: []string{"T\nH\na long t", "b"}, TopN: 2}}
	if diff := cmp.Diff(want, *asked, cmp.AllowUnexported(request{})); diff != "" {
		t.Error(diff)
	}
	if len(got) != 3 || got[2].ID != "c" {
		t.Error(shown(got))
	}
}

// A server that wants "texts" is found out once. One that takes no more than 32
// of them gets no more.
func TestOtherStyleAndBatches(t *testing.T) {
	url, asked := serve(t, func(q request) (int, string) {
		switch {
		case q.Texts == nil:
			return 422, `{"error":"missing field texts"}`
		case len(q.Texts) > 32:
			return 422, `{"error":"batch size 70 > maximum allowed batch size 32"}`
		}
		var out []string
		for i, text := range q.Texts {
			out = append(out, fmt.Sprintf(`{"index":%d,"score":0.%s}`, i, text))
		}
		return 200, "[" + strings.Join(out, ",") + "]"
	})
	var texts []string
	for i := range 70 {
		texts = append(texts, fmt.Sprint(10+i))
	}
	r := reranker(t, crossencoder.Config{URL: url + "/rerank"})
	for round, requests := range []int{2 + 1 + 3, 3} { // the second time it is known
		*asked = nil
		got, err := r.Rerank(t.Context(), "q", hits(texts...))
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(got)
		for i, h := range got {
			if h.ID != texts[i] {
				t.Fatalf("%v", shown(got))
			}
		}
		if len(*asked) > requests || round == 1 && len(*asked) != 3 {
			t.Errorf("round %d: %d requests", round, len(*asked))
		}
	}
}

func TestFailures(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		answer string
		want   string
	}{
		"server":       {500, "", "crossencoder: the server answered 500"},
		"key":          {401, "bad key s3cret\n\x1b[31m!", "crossencoder: the server answered 401: bad key (key) [31m!"},
		"redirect":     {307, "", "crossencoder: the server answered 307"},
		"no JSON":      {200, "<html>", "crossencoder: the server answered 200: not an object with results: invalid character '<' looking for beginning of value"},
		"nothing":      {200, `{"results":[]}`, "crossencoder: the server answered 200: it judges none of the texts"},
		"a long error": {400, strings.Repeat("x", 5000), "crossencoder: the server answered 400: " + strings.Repeat("x", 200)},
		"too long":     {200, "[" + strings.Repeat(" ", 5<<20) + "]", "crossencoder: the server answered 200: more than 4194304 bytes"},
	} {
		url, asked := serve(t, func(request) (int, string) { return test.status, test.answer })
		r := reranker(t, crossencoder.Config{URL: url, Key: "s3cret"})
		for range 2 { // it has answered, so it is asked again
			if _, err := r.Rerank(t.Context(), "q", hits("a")); err == nil || err.Error() != test.want {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(*asked) < 2 {
			t.Errorf("%s: asked %d times", name, len(*asked))
		}
	}
}

// A server that does not answer is left alone for a while.
func TestDown(t *testing.T) {
	now := time.Now()
	s := httptest.NewServer(nil)
	s.Close()
	r := reranker(t, crossencoder.Config{URL: s.URL, Now: func() time.Time { return now }, Pause: time.Minute})
	if _, err := r.Rerank(t.Context(), "q", hits("a")); err == nil || strings.Contains(err.Error(), "so soon") {
		t.Error(err)
	}
	if _, err := r.Rerank(t.Context(), "q", hits("a")); err == nil || !strings.Contains(err.Error(), "not asked again so soon") {
		t.Error(err)
	}
	now = now.Add(time.Minute)
	if _, err := r.Rerank(t.Context(), "q", hits("a")); err == nil || strings.Contains(err.Error(), "so soon") {
		t.Error(err)
	}
	if got, err := r.Rerank(t.Context(), "q", nil); len(got) != 0 || err != nil {
		t.Error(got, err)
	}
}

func TestDeadline(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer s.Close()
	defer close(release)
	_, err := reranker(t, crossencoder.Config{URL: s.URL, Timeout: time.Millisecond}).Rerank(t.Context(), "q", hits("a"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestExplains(t *testing.T) {
	url, _ := serve(t, func(request) (int, string) { return 200, `[{"index":0,"score":0.5}]` })
	in := hits("a")
	in[0].Explain = &retrieval.Explanation{Label: "before", Value: .3}
	got, err := reranker(t, crossencoder.Config{URL: url}).Rerank(t.Context(), "q", in)
	if err != nil {
		t.Fatal(err)
	}
	e := got[0].Explain
	if math.Abs(retrieval.Calibrate(e.Value)-.5) > 1e-12 || len(e.Details) != 2 || e.Details[0].Value != .5 || e.Details[1].Label != "before" {
		t.Errorf("%+v", e)
	}
}

func TestNew(t *testing.T) {
	for _, url := range []string{"", "host:80", "ftp://x", "http://"} {
		if _, err := crossencoder.New(crossencoder.Config{URL: url}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v", url, err)
		}
	}
	if _, err := crossencoder.New(crossencoder.Config{URL: "http://x", Depth: -1}); !errors.Is(err, store.ErrInvalid) {
		t.Error(err)
	}
}
