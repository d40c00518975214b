package fetch_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ragagent/ingest/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a server on this machine that remembers what it was asked.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	sent  []http.Header
}

func serve(t testing.TB, handler http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.RequestURI())
		s.sent = append(s.sent, r.Header.Clone())
		s.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// pages serves fixed texts by path: HTML, but for robots.txt, and 404 else.
func pages(texts map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, ok := texts[r.URL.RequestURI()]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}
}

func (s *site) port(t testing.TB) uint16 {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}

func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// fetcher makes a Fetcher that may fetch from s and does not wait.
func fetcher(t testing.TB, s *site, change ...func(*fetch.Config)) *fetch.Fetcher {
	t.Helper()
	cfg := fetch.Config{
		Allow: loopback, Ports: []uint16{80, 443, s.port(t)}, Delay: -1,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	for _, c := range change {
		c(&cfg)
	}
	f, err := fetch.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// get fetches a URL and reads its body.
func get(t testing.TB, f *fetch.Fetcher, url string) (*fetch.Response, string, error) {
	t.Helper()
	resp, err := f.Fetch(context.Background(), fetch.Request{URL: url})
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}
