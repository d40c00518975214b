package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"ragagent/agent"
	"ragagent/store"
)

// dial opens a bare connection to the server and writes to it.
func (h *harness) dial(text string) net.Conn {
	h.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		h.Fatal(err)
	}
	return conn
}

func TestABodyThatStopsIsCutOff(t *testing.T) {
	h := newHarness(t, func(c *Config) {
		c.patience = patience{body: time.Millisecond, rate: 1, drain: time.Millisecond, write: time.Minute}
	})
	h.knowledgeBase("kb_1", "Filings")
	for _, head := range []string{
		"POST /api/v1/retrieve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		"POST " + documentsPath + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc",
	} {
		res, err := http.ReadResponse(bufio.NewReader(h.dial(head)), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		h.wantProblem(response{res.StatusCode, res.Header, string(body)}, Problem{
			Status: 408, Code: CodeTimeout, Detail: "the request's body came too slowly",
		})
		if !res.Close {
			t.Error("the connection is kept")
		}
	}
	if h.ingest.calls != 0 {
		t.Error("a part of an upload was added")
	}
}

func TestAClientThatDoesNotReadIsLeft(t *testing.T) {
	h := newHarness(t, func(c *Config) {
		c.patience = patience{body: time.Minute, rate: 1, drain: time.Minute, write: 10 * time.Millisecond}
	})
	h.knowledgeBase("kb_1", "Filings")
	left := make(chan error, 1)
	big := agent.Event{Kind: agent.TextDelta, Text: strings.Repeat("x", 1<<20), Time: clock}
	h.server.cfg.Agent = endless{event: big, left: left}
	const body = `{"question":"q","knowledge_bases":["kb_1"],"stream":true}`
	h.dial("POST /api/v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the run ended with %v", err)
	}
}

// endless is an agent that talks until its context ends.
type endless struct {
	event agent.Event
	left  chan error
}

func (endless) Resume(context.Context, agent.Resume) iter.Seq2[agent.Event, error] {
	panic("nothing is resumed")
}

func (e endless) Run(ctx context.Context, _ agent.Input) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for yield(e.event, nil) {
			continue
		}
		<-ctx.Done()
		e.left <- ctx.Err()
	}
}

func TestOthersAreServedBesideAStream(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	job := h.job()
	watching, ended := make(chan struct{}), make(chan struct{})
	h.ingest.watch = func(ctx context.Context, yield func(store.Job, error) bool) {
		close(watching)
		<-ctx.Done()
		close(ended)
	}
	conn := h.dial("GET /api/v1/jobs/" + job.ID + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-watching
	if r := h.get("/api/v1/jobs/" + job.ID); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
	_ = conn.Close()
	<-ended // the watch ends with its client
}

func TestForwardedAddressesAreNotBelieved(t *testing.T) {
	var log strings.Builder
	h := newHarness(t, func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	h.get("/healthz", "X-Forwarded-For", "203.0.113.9", "X-Real-Ip", "203.0.113.9")
	if !strings.Contains(log.String(), "remote=127.0.0.1") || strings.Contains(log.String(), "203.0.113.9") {
		t.Error(log.String())
	}
}
