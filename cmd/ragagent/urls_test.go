package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestIngestOfURLs: the guard stands in the product as it is
// wired, and its setting opens it.
func TestIngestOfURLs(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Tide</title><h1>Tide</h1><p>The harbour of Brest has a tidal range of seven metres."))
	}))
	defer site.Close()
	u, err := url.Parse(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	code, out, stderr := command(t, "ingest", "--data", data, "--kb", "web", site.URL+"/page")
	if code == 0 || !strings.Contains(stderr, "fetch-ports") {
		t.Errorf("refused with %d: %s%s", code, out, stderr)
	}
	code, out, stderr = command(t, "ingest", "--data", data, "--kb", "web", "--fetch-ports", u.Port(), site.URL+"/page")
	if code == 0 || !strings.Contains(stderr, "fetch-allow") {
		t.Errorf("refused with %d: %s%s", code, out, stderr)
	}
	code, out, stderr = command(t, "ingest", "--data", data, "--kb", "web", "--fetch-ports", u.Port(), "--fetch-allow", "127.0.0.0/8", site.URL+"/page")
	if code != 0 || !strings.Contains(out, "1 of 1") {
		t.Errorf("fetched: %d: %s%s", code, out, stderr)
	}
	code, out, _ = command(t, "search", "--data", data, "--kb", "web", "tidal range of Brest")
	if code != 0 || !strings.Contains(out, "seven metres") {
		t.Errorf("searched: %d: %s", code, out)
	}
}
