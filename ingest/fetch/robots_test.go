package fetch_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ragagent/ingest/fetch"
)

// What a site does instead of answering with rules: RFC 9309 2.3.1.
func TestSitesWithoutReadableRobots(t *testing.T) {
	for name, c := range map[string]struct {
		robots  http.HandlerFunc
		allowed bool
	}{
		"404": {http.NotFound, true},
		"403": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, true},
		"500": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, false},
		"429": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, false},
		"a broken connection": {func(w http.ResponseWriter, _ *http.Request) {
			panic(http.ErrAbortHandler)
		}, false},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/rules", http.StatusFound) }, false},
		"redirects without end": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/robots.txt", http.StatusFound)
		}, true},
		"a redirect inside": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://10.0.0.1/robots.txt", http.StatusFound)
		}, false},
		"rules in the first 500 KiB": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /page\n"+strings.Repeat("# more\n", 100_000))
		}, false},
		"rules behind 500 KiB": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "User-agent: *\n"+strings.Repeat("# more\n", 100_000)+"Disallow: /page\n")
		}, true},
		"an image": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n\x00\x00")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/robots.txt":
					c.robots(w, r)
				case "/rules":
					_, _ = io.WriteString(w, "User-agent: *\nDisallow: /page\n")
				}
			})
			_, _, err := get(t, fetcher(t, s), s.URL+"/page")
			var refused *fetch.RefusedError
			if (err == nil) != c.allowed || err != nil && (!errors.As(err, &refused) || refused.Rule != fetch.RuleRobots) {
				t.Error(err)
			}
			if passing := name == "500" || name == "429" || name == "a broken connection" || name == "a redirect inside"; fetch.Temporary(err) != passing {
				t.Errorf("%v is temporary: %v", err, !passing)
			}
		})
	}
}

func TestRobotsAreKeptForAWhile(t *testing.T) {
	status := http.StatusOK
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			w.WriteHeader(status)
		}
	})
	now := time.Unix(1_000_000, 0)
	f := fetcher(t, s, func(c *fetch.Config) { c.Now = func() time.Time { return now } })
	asked := func(want int, allowed bool) {
		t.Helper()
		_, _, err := get(t, f, s.URL+"/page")
		n := 0
		for _, path := range s.requests() {
			if path == "/robots.txt" {
				n++
			}
		}
		if n != want || (err == nil) != allowed {
			t.Errorf("asked %d times, %v", n, err)
		}
	}
	asked(1, true)
	asked(1, true)
	now, status = now.Add(time.Hour), http.StatusBadGateway
	asked(2, false)
	asked(2, false)
	now, status = now.Add(5*time.Minute), http.StatusNotFound
	asked(3, true)
}
