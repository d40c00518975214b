package api

import (
	"net/http"
	"testing"
)

func TestHosts(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.Hosts = []string{"Rag.Example"} })
	for host, allowed := range map[string]bool{
		"localhost":          true,
		"LOCALHOST:8080":     true,
		"app.localhost:1":    true,
		"127.0.0.1:8080":     true,
		"192.168.1.7":        true,
		"[::1]:8080":         true,
		"[::1]":              true,
		"rag.example:80":     true,
		"rag.example.":       true,
		"evil.example":       false,
		"localhost.evil.com": false,
		"rag.example.evil":   false,
		"2130706433":         false,
		"127.0.0.1.nip.io":   false,
	} {
		r := h.get("/healthz", "Host", host)
		if allowed != (r.status == 200) {
			t.Errorf("%s: %d", host, r.status)
		}
		if !allowed {
			h.wantProblem(r, Problem{
				Status: 421, Code: CodeWrongHost,
				Detail: `this server does not answer for "` + host + `": use localhost or its address, or allow the name in its configuration`,
			})
		}
	}
	if !newHostGuard(t, "*").knownHost("anything.example") {
		t.Error("* does not allow every host")
	}
}

func newHostGuard(t *testing.T, hosts ...string) *guard {
	t.Helper()
	g, err := newGuard(hosts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestForeignPagesChangeNothing(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.Origins = []string{"https://app.example"} })
	h.knowledgeBase("kb_1", "Filings")
	for _, test := range []struct {
		method, origin, site string
		allowed              bool
	}{
		{http.MethodDelete, "", "", true}, // not a browser
		{http.MethodDelete, "self", "", true},
		{http.MethodDelete, "self", "same-origin", true},
		{http.MethodDelete, "https://app.example", "cross-site", true},
		{http.MethodDelete, "https://evil.example", "", false},
		{http.MethodDelete, "https://evil.example", "cross-site", false},
		{http.MethodDelete, "http://localhost:5173", "same-site", false},
		{http.MethodDelete, "null", "", false},
		{http.MethodGet, "https://evil.example", "cross-site", true}, // the browser keeps the answer from it
	} {
		origin := test.origin
		if origin == "self" {
			origin = h.url
		}
		var headers []string
		if origin != "" {
			headers = append(headers, "Origin", origin)
		}
		if test.site != "" {
			headers = append(headers, "Sec-Fetch-Site", test.site)
		}
		r := h.do(test.method, "/api/v1/knowledge-bases/nope", "", headers...)
		if allowed := r.status == 404; allowed != test.allowed {
			t.Errorf("%+v: %d %s", test, r.status, r.body)
		}
		if !test.allowed {
			h.wantProblem(r, Problem{
				Status: 403, Code: CodeForbidden,
				Detail: "a page of another origin (" + origin + ") may not change anything here: allow the origin in the configuration",
			})
		}
		want := ""
		if test.origin == "https://app.example" {
			want = test.origin
		}
		if got := r.header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%+v: Access-Control-Allow-Origin %q", test, got)
		}
	}
	preflight := h.do(http.MethodOptions, "/api/v1/ask", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
	if preflight.status != 204 || preflight.header.Get("Access-Control-Allow-Methods") == "" {
		t.Errorf("preflight: %d %v", preflight.status, preflight.header)
	}
	foreign := h.do(http.MethodOptions, "/api/v1/ask", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST")
	if foreign.header.Get("Access-Control-Allow-Origin") != "" || foreign.header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("foreign preflight: %d %v", foreign.status, foreign.header)
	}
}

func TestEveryAnswerCarriesTheSecurityHeaders(t *testing.T) {
	h := newHarness(t)
	for _, path := range []string{"/", "/healthz", "/api/v1/nope", "/api/v1/jobs"} {
		r := h.get(path)
		for name, want := range map[string]string{
			"X-Content-Type-Options":       "nosniff",
			"Content-Security-Policy":      pagePolicy,
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := r.header.Get(name); got != want {
				t.Errorf("%s: %s: %q, want %q", path, name, got, want)
			}
		}
		if r.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: no request id", path)
		}
	}
}
