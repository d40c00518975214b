package api

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"ragagent/agent"
)

func TestIdempotencyKey(t *testing.T) {
	h := newHarness(t)
	const path, body = "/api/v1/knowledge-bases", `{"name":"a"}`
	first := h.post(path, body, "Idempotency-Key", "k1")
	again := h.post(path, body, "Idempotency-Key", "k1")
	h.want(again, 201, first.body)
	if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" || h.ingest.calls != 1 {
		t.Errorf("%v, %v, %d calls", first.header, again.header, h.ingest.calls)
	}
	h.wantProblem(h.post(path, `{"name":"b"}`, "Idempotency-Key", "k1"), Problem{
		Status: 422, Code: CodeKeyReused,
		Detail: "this Idempotency-Key came with another request before: use a new key for a new request",
	})
	if r := h.post(path, body, "Idempotency-Key", "k2"); r.status != 409 {
		t.Errorf("another key: %d", r.status)
	}
	if r := h.post(path, body, "Idempotency-Key", "k2"); r.status != 409 || r.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("a failure was remembered: %d %v", r.status, r.header)
	}
	h.wantProblem(h.post(path, body, "Idempotency-Key", strings.Repeat("k", 256)), Problem{
		Status: 400, Code: CodeInvalid, Detail: "Idempotency-Key: must be 1 to 255 printable ASCII characters",
		Errors: []ProblemField{{"Idempotency-Key", "must be 1 to 255 printable ASCII characters"}},
	})
}

func TestIdempotentUpload(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	send := func(content, metadata string) response {
		body, contentType := multipartBody([3]string{"file", "a", content}, [3]string{"metadata", "", metadata})
		// Clients draw another boundary each time.
		boundary := "b" + strconv.Itoa(h.ingest.calls)
		body = strings.ReplaceAll(body, "frontier", boundary)
		contentType = strings.ReplaceAll(contentType, "frontier", boundary)
		return h.post(documentsPath, body, "Content-Type", contentType, "Idempotency-Key", "k")
	}
	first := send("x", `{"a":1}`)
	h.want(send("x", `{"a":1}`), 202, first.body)
	if r := send("y", `{"a":1}`); r.status != 422 {
		t.Errorf("another content: %d", r.status)
	}
	if r := send("x", `{"a":2}`); r.status != 422 {
		t.Errorf("other metadata: %d", r.status)
	}
	if h.ingest.calls != 1 {
		t.Errorf("%d calls", h.ingest.calls)
	}
}

func TestIdempotentStreamGivesTheResultAgain(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.agent.events = aRun(aResult())
	const body = `{"question":"q","knowledge_bases":["kb_1"],"stream":true}`
	first := h.post("/api/v1/ask", body, "Idempotency-Key", "k")
	again := h.post("/api/v1/ask", body, "Idempotency-Key", "k")
	_, result, _ := strings.Cut(first.body, "event: result\n")
	if want := "id: 1\nevent: result\n" + result; again.body != want || h.agent.calls != 1 {
		t.Errorf("%q, want %q; %d runs", again.body, want, h.agent.calls)
	}
	// A run that failed is not remembered.
	failed := aResult()
	failed.FinishedReason = agent.Failed
	h.agent.events, h.agent.err = aRun(failed), errNoResult
	for range 2 {
		h.post("/api/v1/ask", body, "Idempotency-Key", "k2")
	}
	if h.agent.calls != 3 {
		t.Errorf("%d runs, want 3", h.agent.calls)
	}
}

func TestKeyOfARequestAtWork(t *testing.T) {
	m := newIdempotency(10, func() time.Time { return clock })
	_, finish, err := m.begin("k", fingerprint{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.begin("k", fingerprint{1}); problemOf(err).Status != 409 {
		t.Errorf("in use: %v", err)
	}
	if _, _, err := m.begin("k", fingerprint{2}); problemOf(err).Status != 422 {
		t.Errorf("other request: %v", err)
	}
	finish(nil)
	known, finish, err := m.begin("k", fingerprint{2})
	if known != nil || err != nil {
		t.Errorf("after a failure: %v, %v", known, err)
	}
	finish(&answer{status: 200})
}

func TestAnswersAreForgotten(t *testing.T) {
	now := clock
	m := newIdempotency(2, func() time.Time { return now })
	remember := func(key string, size int) {
		t.Helper()
		_, finish, err := m.begin(key, fingerprint{})
		if err != nil {
			t.Fatal(err)
		}
		finish(&answer{status: 200, body: make([]byte, size)})
	}
	knows := func(key string) bool {
		known, finish, err := m.begin(key, fingerprint{})
		if err != nil {
			t.Fatal(err)
		}
		if known == nil {
			finish(nil)
		}
		return known != nil
	}
	remember("a", 1)
	remember("b", 1)
	if !knows("a") { // and is now the latest used
		t.Error("a is forgotten")
	}
	remember("c", 1)
	if knows("b") || !knows("a") || !knows("c") {
		t.Error("not the least recently used was forgotten")
	}
	now = now.Add(24*time.Hour + 1)
	if knows("a") {
		t.Error("a is a day old")
	}
	remember("huge", maxRemembered+1)
	if knows("huge") {
		t.Error("an answer over the limit is remembered")
	}
	m = newIdempotency(1e6, func() time.Time { return now })
	for i := range maxRememberedTotal/maxRemembered + 1 {
		remember(strconv.Itoa(i), maxRemembered)
	}
	if m.bytes != maxRememberedTotal || knows("0") || !knows("1") {
		t.Errorf("%d bytes remembered", m.bytes)
	}
}
