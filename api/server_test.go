package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/store"
)

func TestConfigHasToBeWhole(t *testing.T) {
	if _, err := New(Config{}); err == nil || err.Error() != "api: records, blobs, ingest, retriever, agent and tools are required" {
		t.Errorf("got %v", err)
	}
}

func TestAddressesAndMethodsThatAreNot(t *testing.T) {
	h := newHarness(t)
	nothing := Problem{Status: 404, Code: CodeNotFound, Detail: "there is nothing at this address"}
	for _, path := range []string{"/api", "/api/v1", "/api/v2/jobs", "/api/v1/agent", "/api/v1/jobs/", "/v1/models", "/mcp"} {
		h.wantProblem(h.get(path), nothing)
	}
	h.wantProblem(h.post("/elsewhere", "{}"), nothing)
	for path, allow := range map[string]string{
		"/api/v1/jobs":            "OPTIONS, GET, HEAD",
		"/api/v1/ask":             "OPTIONS, POST",
		"/api/v1/knowledge-bases": "OPTIONS, GET, HEAD, POST",
		"/healthz":                "OPTIONS, GET, HEAD",
	} {
		r := h.do(http.MethodPut, path, "{}")
		h.wantProblem(r, Problem{
			Status: 405, Code: CodeMethodNotAllowed,
			Detail: "this address does not take this method; the Allow header lists those it takes",
		})
		if got := r.header.Get("Allow"); got != allow {
			t.Errorf("%s: Allow %q, want %q", path, got, allow)
		}
		if r := h.do(http.MethodOptions, path, ""); r.status != 204 || r.header.Get("Allow") != allow {
			t.Errorf("OPTIONS %s: %d, Allow %q", path, r.status, r.header.Get("Allow"))
		}
	}
	if r := h.do(http.MethodHead, "/api/v1/jobs", ""); r.status != 200 || r.body != "" || r.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %q %v", r.status, r.body, r.header)
	}
}

func TestErrorsBecomeProblems(t *testing.T) {
	limited := &http.MaxBytesError{Limit: 5}
	for _, test := range []struct {
		err    error
		status int
		code   string
		fields []ProblemField
	}{
		{store.Invalid("top_k", "is 0"), 400, CodeInvalid, []ProblemField{{"top_k", "is 0"}}},
		{errors.Join(store.Invalid("a", "x"), fmt.Errorf("deep: %w", store.Invalid("b", "y"))), 400, CodeInvalid, []ProblemField{{"a", "x"}, {"b", "y"}}},
		{store.ErrInvalid, 400, CodeInvalid, nil},
		{store.ErrNotFound, 404, CodeNotFound, nil},
		{store.ErrConflict, 409, CodeConflict, nil},
		{store.ErrTooLarge, 507, CodeStorageFull, nil},
		{&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, 507, CodeStorageFull, nil},
		{store.ErrInUse, 503, CodeOverloaded, nil},
		{&store.DimensionError{Want: 1, Got: 2}, 500, CodeInternal, nil},
		{limited, 413, CodeTooLarge, nil},
		{os.ErrDeadlineExceeded, 408, CodeTimeout, nil},
		{context.Canceled, 499, CodeCancelled, nil},
		{context.DeadlineExceeded, 504, CodeDeadline, nil},
		{&llm.Error{Provider: "p", Err: errors.New("x")}, 502, CodeModelFailed, nil},
		{&llm.Error{Provider: "p", Err: context.DeadlineExceeded, Retryable: true}, 503, CodeModelUnavailable, nil},
		{errors.New("secret path"), 500, CodeInternal, nil},
	} {
		err := fmt.Errorf("doing it: %w", test.err)
		p := problemOf(err)
		if p.Status != test.status || p.Code != test.code || !errors.Is(p, test.err) {
			t.Errorf("%v: %d %s", test.err, p.Status, p.Code)
		}
		if diff := cmp.Diff(test.fields, p.Errors); diff != "" {
			t.Errorf("%v: fields (-want +got):\n%s", test.err, diff)
		}
		if p.Status == 500 && p.Detail != internalDetail {
			t.Errorf("%v: tells %q", test.err, p.Detail)
		}
	}
}

func TestHealthReadinessAndMetrics(t *testing.T) {
	state := Readiness{Done: 2, Total: 5, Detail: "loading Filings"}
	h := newHarness(t, func(c *Config) { c.Ready = func() Readiness { return state } })
	kb := h.knowledgeBase("kb_1", "Filings")
	h.document(kb, "a.txt", "text/plain", "x", "y")
	h.want(h.get("/healthz"), 200, `{"status":"ok"}`)
	h.want(h.get("/readyz"), 503, `{"ready":false,"done":2,"total":5,"detail":"loading Filings"}`)
	for _, r := range []response{
		h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"]}`),
		h.post("/api/v1/ask", `{"question":"q","knowledge_bases":["kb_1"]}`),
	} {
		h.wantProblem(r, Problem{
			Status: 503, Code: CodeNotReady,
			Detail: "the search indexes are being loaded (2 of 5 knowledge bases): try again shortly",
		})
		if r.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
		}
	}
	state = Readiness{Ready: true, Done: 5, Total: 5}
	h.want(h.get("/readyz"), 200, `{"ready":true,"done":5,"total":5}`)

	h.agent.events = aRun(aResult())
	h.post("/api/v1/ask", `{"question":"q","knowledge_bases":["kb_1"]}`)
	h.retriever.result.Elapsed = 3 * time.Millisecond
	h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["kb_1"]}`)
	h.get("/not/a/route")
	text := h.get("/metrics").body
	for _, line := range []string{
		`ragagent_http_requests_total{method="GET",route="/healthz",status="200"} 1`,
		`ragagent_http_requests_total{method="GET",route="/readyz",status="503"} 1`,
		`ragagent_http_requests_total{method="GET",route="other",status="200"} 1`,
		`ragagent_http_requests_total{method="POST",route="/api/v1/ask",status="200"} 1`,
		`ragagent_http_request_duration_seconds_count{method="POST",route="/api/v1/ask"} 2`,
		`ragagent_http_requests_in_flight 1`,
		`ragagent_ingest_jobs{status="ready"} 1`,
		`ragagent_ingest_jobs{status="failed"} 0`,
		`ragagent_retrieve_duration_seconds_bucket{mode="hybrid",le="0.0025"} 0`,
		`ragagent_retrieve_duration_seconds_bucket{mode="hybrid",le="0.005"} 1`,
		`ragagent_agent_runs_total{finished_reason="complete"} 1`,
		`ragagent_agent_iteration_count_sum 2`,
		`ragagent_agent_llm_duration_seconds_sum 0.002`, // from 1 ms to 3 ms
		`ragagent_agent_tool_duration_seconds_sum{tool="dataset_retriever"} 0.004`,
		`ragagent_agent_token_usage_total{kind="completion"} 5`,
		`ragagent_agent_token_usage_total{kind="prompt"} 10`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestToolsThatDoNotExistMakeNoSeries(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.agent.events = []agent.Event{
		{Kind: agent.ToolStart, ID: "1", Label: "invented", Time: clock},
		{Kind: agent.ToolEnd, ID: "1", Label: "invented", Status: agent.StatusError, Time: clock},
		{Kind: agent.RunEnd, Result: aResult(), Time: clock},
	}
	h.post("/api/v1/ask", `{"question":"q","knowledge_bases":["kb_1"]}`)
	text := h.get("/metrics").body
	if strings.Contains(text, "invented") || !strings.Contains(text, `ragagent_agent_tool_errors_total{tool="unknown"} 1`) {
		t.Error(text)
	}
}

func TestPage(t *testing.T) {
	h := newHarness(t, func(c *Config) {
		c.Page = fstest.MapFS{
			"index.html":       {Data: []byte("<html>page</html>")},
			"icon.svg":         {Data: []byte("<svg/>")},
			"assets/app-1f.js": {Data: []byte("js")},
		}
	})
	for _, test := range []struct {
		path, body, caching string
		status              int
	}{
		{"/", "<html>page</html>", "no-cache", 200},
		{"/index.html", "<html>page</html>", "no-cache", 200},
		{"/chat/conv_1", "<html>page</html>", "no-cache", 200},
		{"/assets", "<html>page</html>", "no-cache", 200},
		{"/icon.svg", "<svg/>", "no-cache", 200},
		{"/assets/app-1f.js", "js", "public, max-age=31536000, immutable", 200},
		{"/assets/../icon.svg", "", "no-store", 404},
		{"/assets/old-2e.js", "", "no-store", 404},
		{"/..%2f..%2fetc/passwd.txt", "", "no-store", 404},
	} {
		r := h.get(test.path)
		if r.status != test.status || r.header.Get("Cache-Control") != test.caching || test.status == 200 && r.body != test.body {
			t.Errorf("%s: %d %q %q", test.path, r.status, r.header.Get("Cache-Control"), r.body)
		}
	}
	bare := newHarness(t)
	if r := bare.get("/"); r.status != 200 || r.body != noPage || r.header.Get("Content-Type") != "text/html; charset=UTF-8" {
		t.Errorf("without a page: %d %v %q", r.status, r.header, r.body)
	}
}

func TestServeEndsStreamsAndRequests(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.ShutdownTimeout = time.Millisecond })
	h.knowledgeBase("kb_1", "Filings")
	h.agent.hang = make(chan struct{})
	watching := make(chan struct{})
	h.ingest.watch = func(ctx context.Context, yield func(store.Job, error) bool) {
		close(watching)
		<-ctx.Done()
		yield(store.Job{}, ctx.Err())
	}
	job := h.job()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.server.Serve(ctx, l) }()
	h.url = "http://" + l.Addr().String()

	answers := make(chan response, 2)
	go func() { answers <- h.get("/api/v1/jobs/" + job.ID + "/events") }()
	<-watching
	go func() { answers <- h.post("/api/v1/ask", `{"question":"q","knowledge_bases":["kb_1"]}`) }()
	<-h.agent.hang
	stop()
	if r := <-answers; r.status != 200 && r.status != 499 {
		t.Errorf("%d %s", r.status, r.body)
	}
	<-answers
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := net.DialTimeout("tcp", l.Addr().String(), time.Second); err == nil {
		t.Error("still listening")
	}
}

func TestServeTellsThatItCannot(t *testing.T) {
	h := newHarness(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := h.server.Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// job adds a document and returns its job.
func (h *harness) job() store.Job {
	h.Helper()
	if r := h.upload([3]string{"file", "a.txt", "x"}); r.status != 202 {
		h.Fatalf("%d %s", r.status, r.body)
	}
	jobs, err := h.db.Jobs(h.Context(), store.JobFilter{}, store.Page{})
	if err != nil || len(jobs) == 0 {
		h.Fatalf("%d jobs, %v", len(jobs), err)
	}
	return jobs[len(jobs)-1]
}

func TestBodyDeadline(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, test := range []struct {
		after time.Duration
		read  int64
		want  time.Duration // after start
	}{
		{0, 0, 30 * time.Second},
		{29 * time.Second, 1000, 31 * time.Second},      // a drip
		{100 * time.Second, 1 << 30, 130 * time.Second}, // honest, then silent
		{100 * time.Second, 100_000, 130 * time.Second}, // exactly the slowest
		{100 * time.Second, 50_000, 80 * time.Second},   // too slow: over already
		{5 * time.Minute, 10 << 20, 5*time.Minute + defaultPatience.body},
	} {
		if got := defaultPatience.bodyDeadline(start, start.Add(test.after), test.read).Sub(start); got != test.want {
			t.Errorf("%d bytes after %s: %s, want %s", test.read, test.after, got, test.want)
		}
	}
}

// stalled is a connection whose deadlines are noted.
type stalled struct {
	http.ResponseWriter
	reads []time.Time
}

func (s *stalled) SetReadDeadline(t time.Time) error {
	s.reads = append(s.reads, t)
	return nil
}

func TestDeadlineIsLiftedAtTheBodysEnd(t *testing.T) {
	conn := &stalled{}
	body := &pacedBody{ReadCloser: io.NopCloser(strings.NewReader("abc")), patience: defaultPatience, conn: http.NewResponseController(conn), start: time.Now()}
	if _, err := io.ReadAll(body); err != nil {
		t.Fatal(err)
	}
	body.release()
	if n := len(conn.reads); n < 2 || !conn.reads[n-1].IsZero() || conn.reads[0].IsZero() {
		t.Errorf("deadlines %v", conn.reads)
	}
	conn.reads = nil
	unread := &pacedBody{ReadCloser: io.NopCloser(strings.NewReader("abc")), patience: defaultPatience, conn: http.NewResponseController(conn)}
	unread.release()
	if len(conn.reads) != 1 || conn.reads[0].IsZero() {
		t.Errorf("an unread body has no end: %v", conn.reads)
	}
}
