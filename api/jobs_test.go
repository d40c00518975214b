package api

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ragagent/store"
)

func TestJobs(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	job := h.job()
	path := "/api/v1/jobs/" + job.ID
	body := func(j store.Job, status, eta string) string {
		return `{"id":"` + j.ID + `","kind":"ingest","knowledge_base_id":"kb_1","document_id":"` + j.DocumentID + `","status":"` + status + `",
			"stage":"","done":0,"total":0,"eta_ms":` + eta + `,"attempts":0,"created_at":"2026-03-04T05:06:07Z",
			"updated_at":"` + j.UpdatedAt.UTC().Format(time.RFC3339Nano) + `","started_at":null}`
	}
	h.want(h.get(path), 200, body(job, "queued", "null"))
	h.want(h.get("/api/v1/jobs?status=queued"), 200, `{"data":[`+body(job, "queued", "null")+`],"next_cursor":null}`)
	h.want(h.get("/api/v1/jobs?status=failed"), 200, `{"data":[],"next_cursor":null}`)
	h.wantProblem(h.get("/api/v1/jobs?status=lost"), Problem{
		Status: 400, Code: CodeInvalid, Detail: "status: must be queued, running, ready, failed or cancelled",
		Errors: []ProblemField{{"status", "must be queued, running, ready, failed or cancelled"}},
	})

	cancelled := h.post(path+"/cancel", "")
	job, err := h.db.Job(t.Context(), job.ID)
	if err != nil {
		t.Fatal(err)
	}
	h.want(cancelled, 200, body(job, "cancelled", "0"))
	if r := h.post(path+"/cancel", ""); r.status != 409 {
		t.Errorf("cancelling twice: %d %s", r.status, r.body)
	}
	if r := h.post(path+"/retry", ""); r.status != 200 || !strings.Contains(r.body, `"queued"`) {
		t.Errorf("retry: %d %s", r.status, r.body)
	}
	gone := Problem{Status: 404, Code: CodeNotFound, Detail: `there is no job "job_0"`}
	for _, r := range []response{
		h.get("/api/v1/jobs/job_0"), h.get("/api/v1/jobs/job_0/events"),
		h.post("/api/v1/jobs/job_0/cancel", ""), h.post("/api/v1/jobs/job_0/retry", ""),
	} {
		h.wantProblem(r, gone)
	}
}

// TestJobsOf: jobs are found by what they belong to, documents say how far they
// are, and all that failed can be tried again.
func TestJobsOf(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	job := h.job()
	for query, want := range map[string]int{
		"":                                  1,
		"?knowledge_base=Filings":           1,
		"?knowledge_base=kb_1&status=ready": 0,
		"?document=" + job.DocumentID:       1,
		"?document=doc_0":                   0,
	} {
		if r := h.get("/api/v1/jobs" + query); r.status != 200 || strings.Count(r.body, `"id"`) != want {
			t.Errorf("%s: %d %s, want %d jobs", query, r.status, r.body, want)
		}
	}
	none := Problem{Status: 404, Code: CodeNotFound, Detail: `there is no knowledge base "none"`}
	h.wantProblem(h.get("/api/v1/jobs?knowledge_base=none"), none)

	h.ingest.waits = "the embedder does not answer; next try in 8 s"
	at := `"job_id":"` + job.ID + `","job":{"status":"queued","stage":"","done":0,"total":0,"eta_ms":null,"waiting":"the embedder does not answer; next try in 8 s"}`
	for _, path := range []string{"", "/" + job.DocumentID} {
		if r := h.get("/api/v1/knowledge-bases/kb_1/documents" + path); !strings.Contains(r.body, at) {
			t.Errorf("documents%s: %s, want it to hold %s", path, r.body, at)
		}
	}

	retry := "/api/v1/jobs/retry"
	h.want(h.post(retry, ""), 200, `{"retried":0}`)
	if err := h.db.Fail(t.Context(), job.ID, "no text found"); err != nil {
		t.Fatal(err)
	}
	if r := h.get("/api/v1/knowledge-bases/kb_1/documents/" + job.DocumentID); !strings.Contains(r.body, `"job_id":"`+job.ID+`","job":null`) {
		t.Errorf("a document whose job has ended: %s", r.body)
	}
	h.wantProblem(h.post(retry, `{"knowledge_base":"none"}`), none)
	h.want(h.post(retry, `{"knowledge_base":"Filings"}`), 200, `{"retried":1}`)
	h.want(h.post(retry, `{}`), 200, `{"retried":0}`)
	if j, err := h.db.Job(t.Context(), job.ID); err != nil || j.Status != store.StatusQueued {
		t.Errorf("job %+v, %v", j, err)
	}
}

func TestETA(t *testing.T) {
	running := store.Job{Status: store.StatusRunning, Progress: store.Progress{Done: 1, Total: 4, Since: clock.Add(-4 * time.Second)}}
	with := func(change func(*store.Job)) store.Job {
		j := running
		change(&j)
		return j
	}
	for _, test := range []struct {
		name string
		job  store.Job
		want int64 // -1: nobody can tell
	}{
		{"a quarter done", running, 12000},
		{"all done", with(func(j *store.Job) { j.Done = 4 }), 0},
		{"nothing done", with(func(j *store.Job) { j.Done = 0 }), -1},
		{"no total", with(func(j *store.Job) { j.Total = 0 }), -1},
		{"queued", with(func(j *store.Job) { j.Status = store.StatusQueued }), -1},
		{"taken up at half", with(func(j *store.Job) { j.From, j.Done, j.Total = 50, 60, 100 }), 16000},
		{"taken up, nothing done since", with(func(j *store.Job) { j.From = 1 }), -1},
		{"not begun here", with(func(j *store.Job) { j.Since = time.Time{} }), -1},
		{"the whole job's end", with(func(j *store.Job) { j.Since, j.Ends = time.Time{}, clock.Add(90*time.Second) }), 90000},
		{"later than expected", with(func(j *store.Job) { j.Since, j.Ends = time.Time{}, clock.Add(-time.Second) }), -1},
		{"ended", with(func(j *store.Job) { j.Status = store.StatusFailed }), 0},
	} {
		got := int64(-1)
		if ms := eta(test.job, clock); ms != nil {
			got = *ms
		}
		if got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

func TestJobEvents(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	job := h.job()
	fixed := store.Job{ID: "job_1", Kind: "ingest", KnowledgeBaseID: "kb_1", DocumentID: "doc_1", CreatedAt: clock, UpdatedAt: clock}
	h.ingest.watch = func(_ context.Context, yield func(store.Job, error) bool) {
		fixed.Status = store.StatusQueued
		yield(fixed, nil)
		fixed.Status, fixed.StartedAt, fixed.Attempts = store.StatusRunning, clock.Add(-time.Second), 1
		fixed.Progress = store.Progress{Stage: store.StageEmbed, Done: 50, Total: 200, Since: clock.Add(-time.Second)}
		yield(fixed, nil)
		fixed.Status, fixed.Error = store.StatusFailed, "no text found"
		yield(fixed, nil)
	}
	golden(t, "job.sse", h.get("/api/v1/jobs/"+job.ID+"/events").body)
	h.ingest.watch = func(_ context.Context, yield func(store.Job, error) bool) {
		yield(fixed, nil)
		yield(store.Job{}, store.ErrNotFound) // deleted while it was watched
	}
	r := h.get("/api/v1/jobs/" + job.ID + "/events")
	_, last, _ := strings.Cut(r.body, "id: 2\n")
	want := "event: error\ndata: " + `{"type":"about:blank","title":"Not Found","status":404,"detail":"there is no job \"` + job.ID + `\"","code":"not_found"}` + "\n\n"
	if last != want {
		t.Errorf("last event %q, want %q", last, want)
	}
	if r := h.do(http.MethodHead, "/api/v1/jobs/"+job.ID+"/events", ""); r.status != 200 || r.header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Errorf("HEAD: %d %v", r.status, r.header)
	}
}

func TestHeartbeats(t *testing.T) {
	beats := make(chan time.Time)
	w := httptest.NewRecorder()
	stream := newEventStream(w, beats)
	open := func(context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			beats <- clock
			beats <- clock
			yield(7, nil)
			beats <- clock
		}
	}
	if err := pump(t.Context(), stream, open, func(n int) error { return stream.send("n", n) }); err != nil {
		t.Fatal(err)
	}
	const beat = ": heartbeat\n\n"
	if want := beat + beat + "id: 1\nevent: n\ndata: 7\n\n" + beat; w.Body.String() != want || !w.Flushed {
		t.Errorf("%q, want %q", w.Body, want)
	}
}

func TestPumpStopsItsSequence(t *testing.T) {
	stream := newEventStream(httptest.NewRecorder(), nil)
	gone := errors.New("the client went")
	var ended error
	open := func(ctx context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for yield(1, nil) {
				continue
			}
			ended = ctx.Err()
		}
	}
	if err := pump(t.Context(), stream, open, func(int) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	if !errors.Is(ended, context.Canceled) {
		t.Errorf("the sequence's context: %v", ended)
	}
	// One that waits for its context, and not for a reader, ends too.
	open = func(ctx context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			if yield(1, nil) {
				<-ctx.Done()
			}
		}
	}
	if err := pump(t.Context(), stream, open, func(int) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

func TestEventsNeverSpanLines(t *testing.T) {
	w := httptest.NewRecorder()
	stream := newEventStream(w, nil)
	if err := stream.send("text", map[string]string{"text": "a\r\nb\n\nevent: x\ndata: y\u2028"}); err != nil {
		t.Fatal(err)
	}
	if want := "id: 1\nevent: text\ndata: {\"text\":\"a\\r\\nb\\n\\nevent: x\\ndata: y\\u2028\"}\n\n"; w.Body.String() != want {
		t.Errorf("%q, want %q", w.Body, want)
	}
	if bytes.Count(w.Body.Bytes(), []byte("\n")) != 4 {
		t.Error("an event spans lines")
	}
}
