package llmtest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Replay is a server that answers with recorded replies.
type Replay struct {
	URL string

	mu       sync.Mutex
	requests [][]byte
}

// NewReplay starts a server that gives the recorded replies in order, and the
// last one again when they are used up. A recording is a file: the first line
// holds the status code and the content type, the rest is the body, sent line
// by line. A last line "!cut" breaks the connection, "!hang" keeps it open
// until the client goes.
func NewReplay(t testing.TB, files ...string) *Replay {
	t.Helper()
	var recordings [][]string
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join("testdata", f))
		if err != nil {
			t.Fatal(err)
		}
		recordings = append(recordings, strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n"))
	}
	r := &Replay{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the client is gone
		}
		r.mu.Lock()
		recording := recordings[min(len(r.requests), len(recordings)-1)]
		r.requests = append(r.requests, bytes.TrimSpace(body))
		r.mu.Unlock()
		play(w, req, recording)
	}))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

func play(w http.ResponseWriter, req *http.Request, recording []string) {
	status, contentType, _ := strings.Cut(strings.TrimSpace(recording[0]), " ")
	code, err := strconv.Atoi(status)
	if err != nil {
		panic("a recording begins with its status code: " + recording[0])
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(code)
	flush := http.NewResponseController(w)
	for _, line := range recording[1:] {
		switch strings.TrimSpace(line) {
		case "!cut":
			panic(http.ErrAbortHandler)
		case "!hang":
			<-req.Context().Done()
			return
		}
		if _, err := io.WriteString(w, line); err != nil {
			return // the client is gone
		}
		if err := flush.Flush(); err != nil {
			return
		}
	}
}

// Requests returns the bodies that were received so far.
func (r *Replay) Requests() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([][]byte(nil), r.requests...)
}
