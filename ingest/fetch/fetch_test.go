package fetch_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"ragagent/ingest/fetch"
)

func TestZeroConfigFetchesNothingOfThisMachine(t *testing.T) {
	f, err := fetch.New(fetch.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var refused *fetch.RefusedError
	_, _, err = get(t, f, "http://127.0.0.1/")
	if !errors.As(err, &refused) || refused.Rule != fetch.RuleAddress || refused.Setting() != "fetch-allow" {
		t.Errorf("%v", err)
	}
	if want := "fetch http://127.0.0.1/: refused: 127.0.0.1 is this machine (setting fetch-allow)"; err.Error() != want {
		t.Errorf("%q", err)
	}
}

func TestAResponseSaysWhatWasFetched(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/start":
			http.Redirect(w, r, "/reports/Annual%20Report.pdf#page=2", http.StatusFound)
		case "/reports/Annual Report.pdf":
			w.Header().Set("Content-Type", "Application/PDF; charset=binary")
			w.Header().Set("ETag", `"v1"`)
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			_, _ = io.WriteString(w, "%PDF")
		default:
			http.NotFound(w, r)
		}
	})
	resp, text, err := get(t, fetcher(t, s), s.URL+"/start")
	if err != nil || text != "%PDF" {
		t.Fatal(text, err)
	}
	if resp.URL != s.URL+"/reports/Annual%20Report.pdf" || resp.Name != "Annual Report.pdf" || resp.Size != 4 ||
		resp.ContentType != "application/pdf" || resp.Charset != "binary" || resp.ETag != `"v1"` ||
		resp.LastModified != "Mon, 02 Jan 2006 15:04:05 GMT" || resp.Status != 200 || resp.NotModified || resp.Downgraded {
		t.Errorf("%+v", resp)
	}
	for i, h := range s.sent {
		if h.Get("User-Agent") != "ragagent" || h.Get("Referer") != "" || h.Get("Cookie") != "" || h.Get("Authorization") != "" {
			t.Errorf("request %d was sent with %v", i, h)
		}
	}
}

func TestCookiesAreNotKept(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
		if r.URL.Path == "/a" {
			http.Redirect(w, r, "/b", http.StatusSeeOther)
		}
	})
	f := fetcher(t, s)
	for range 2 {
		if _, _, err := get(t, f, s.URL+"/a"); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range s.sent {
		if h.Get("Cookie") != "" || h.Get("Referer") != "" {
			t.Errorf("%v", h)
		}
	}
}

func TestConditionalRequests(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v2"`)
		if r.Header.Get("If-None-Match") == `"v2"` || r.Header.Get("If-Modified-Since") == "yesterday" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, "new")
	})
	f := fetcher(t, s)
	for req, want := range map[fetch.Request]bool{
		{ETag: `"v2"`}: true, {ETag: `"v1"`}: false, {LastModified: "yesterday"}: true, {}: false,
	} {
		req.URL = s.URL
		resp, err := f.Fetch(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.NotModified != want || (len(text) == 0) != want || resp.ETag != `"v2"` {
			t.Errorf("%+v: not modified %v, %q, %v", req, resp.NotModified, text, err)
		}
	}
}

func TestStatusesAreToldApart(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusGone)
		case "/busy":
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/same": // as what? Nothing was said to be known
			w.WriteHeader(http.StatusNotModified)
		case "/secret":
			w.WriteHeader(http.StatusForbidden)
		default:
			http.NotFound(w, r)
		}
	})
	f := fetcher(t, s)
	for path, temporary := range map[string]bool{"/gone": false, "/missing": false, "/busy": true, "/secret": false, "/same": false} {
		_, _, err := get(t, f, s.URL+path)
		var status *fetch.StatusError
		gone := path == "/gone" || path == "/missing"
		if errors.Is(err, fetch.ErrGone) != gone || errors.As(err, &status) == gone || fetch.Temporary(err) != temporary {
			t.Errorf("%s: %v", path, err)
		}
		if path == "/busy" && status.RetryAfter != 2*time.Minute {
			t.Errorf("retry after %v", status.RetryAfter)
		}
	}
}

func TestURLsThatAreRefused(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/file":
			w.Header().Set("Location", "file:///etc/passwd")
		case "/port":
			w.Header().Set("Location", "http://127.0.0.1:22/")
		case "/metadata":
			w.Header().Set("Location", "http://169.254.169.254/latest/meta-data/")
		case "/loop":
			w.Header().Set("Location", "/loop")
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			return
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "?")
			return
		case "/robots.txt":
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /private\n")
			return
		case "/to-private":
			w.Header().Set("Location", "/private/a")
		}
		w.WriteHeader(http.StatusFound)
	})
	f := fetcher(t, s)
	for url, rule := range map[string]fetch.Rule{
		"file:///etc/passwd":                       fetch.RuleScheme,
		"gopher://example.com/":                    fetch.RuleScheme,
		"http://user:hunter2@example.com/":         fetch.RuleCredentials,
		"http://example.com:6379/":                 fetch.RulePort,
		"http://[::1]/":                            fetch.RuleAddress,
		"http://[::ffff:10.0.0.1]/":                fetch.RuleAddress,
		"http://[64:ff9b::a9fe:a9fe]/":             fetch.RuleAddress,
		"http://[fd00:ec2::254]/latest/meta-data/": fetch.RuleAddress,
		s.URL + "/file":                            fetch.RuleScheme,
		s.URL + "/port":                            fetch.RulePort,
		s.URL + "/metadata":                        fetch.RuleAddress,
		s.URL + "/loop":                            fetch.RuleRedirects,
		s.URL + "/image":                           fetch.RuleType,
		s.URL + "/brotli":                          fetch.RuleEncoding,
		s.URL + "/private/a":                       fetch.RuleRobots,
		s.URL + "/to-private":                      fetch.RuleRobots,
	} {
		_, _, err := get(t, f, url)
		var refused *fetch.RefusedError
		if !errors.As(err, &refused) || refused.Rule != rule || fetch.Temporary(err) {
			t.Errorf("%s: %v, want %s", url, err, rule)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the password is in %q", err)
		}
	}
	if slices.Contains(s.requests(), "/private/a") {
		t.Error("what robots.txt forbids was asked for")
	}
	for _, url := range []string{"", "example.com", "http://", "http:///a", "http://a b/", "https:a", "http://x/" + strings.Repeat("a", 3000)} {
		if _, _, err := get(t, f, url); !errors.Is(err, fetch.ErrInvalid) {
			t.Errorf("%q: %v", url, err)
		}
	}
	loops := 0
	for _, asked := range s.requests() {
		if asked == "/loop" {
			loops++
		}
	}
	if loops != 6 {
		t.Errorf("the loop was asked for %d times", loops)
	}
}

func TestCredentialsOfARedirectAreNotSent(t *testing.T) {
	var s *site
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a" {
			w.Header().Set("Location", strings.Replace(s.URL, "http://", "http://user:hunter2@", 1)+"/b")
			w.WriteHeader(http.StatusFound)
		}
	})
	resp, _, err := get(t, fetcher(t, s), s.URL+"/a")
	if err != nil || resp.URL != s.URL+"/b" {
		t.Fatal(resp, err)
	}
	for _, h := range s.sent {
		if h.Get("Authorization") != "" {
			t.Error("credentials were sent")
		}
	}
}

func TestADowngradeIsToldAndCertificatesAreChecked(t *testing.T) {
	plain := serve(t, pages(map[string]string{"/": "plain"}))
	secure := httptest.NewUnstartedServer(http.RedirectHandler(plain.URL, http.StatusMovedPermanently))
	secure.StartTLS()
	defer secure.Close()
	u, _ := url.Parse(secure.URL)
	s := &site{Server: secure}
	ports := func(c *fetch.Config) {
		c.Ports = []uint16{plain.port(t), s.port(t)}
		c.IgnoreRobots = []string{u.Hostname()}
	}
	if _, _, err := get(t, fetcher(t, plain, ports), secure.URL); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
	trusting := func(c *fetch.Config) {
		roots := secure.Client().Transport.(*http.Transport).TLSClientConfig
		c.Transport = func(t *http.Transport) { t.TLSClientConfig = roots.Clone() }
	}
	resp, text, err := get(t, fetcher(t, plain, ports, trusting), secure.URL)
	if err != nil || text != "plain" || !resp.Downgraded {
		t.Errorf("%+v, %q, %v", resp, text, err)
	}
}

func TestBodiesAreUnpacked(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, strings.Repeat("text ", 1000))
		_ = z.Close()
	})
	resp, text, err := get(t, fetcher(t, s), s.URL)
	if err != nil || text != strings.Repeat("text ", 1000) || resp.Size != -1 {
		t.Errorf("%d bytes of %d, %v", len(text), resp.Size, err)
	}
}

func TestNames(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if d := r.URL.Query().Get("d"); d != "" {
			w.Header().Set("Content-Disposition", d)
		}
	})
	f := fetcher(t, s)
	for path, want := range map[string]string{
		"/":                 "127.0.0.1",
		"/docs/":            "docs",
		"/a/%2e%2e":         "127.0.0.1",
		"/%E2%80%AEfdp.exe": "fdp.exe",
		"/a%2F..%2Fb.txt":   "b.txt",
		"/" + strings.Repeat("é", 150) + ".html":                                  strings.Repeat("é", 97) + ".html",
		"/x?d=" + url.QueryEscape(`attachment; filename="../../etc/pass wd.txt"`): "pass wd.txt",
		"/x?d=" + url.QueryEscape(`attachment; filename*=UTF-8''%C3%BCber.pdf`):   "über.pdf",
		"/x?d=" + url.QueryEscape(`attachment; filename="C:\\a\\b.doc"`):          "b.doc",
	} {
		resp, _, err := get(t, f, s.URL+path)
		if err != nil || resp.Name != want {
			t.Errorf("%s: %+v, %v; want %q", path, resp, err, want)
		}
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	for _, cfg := range []fetch.Config{
		{UserAgent: "1.0"}, {UserAgent: "a\r\nX: y"}, {Proxy: &url.URL{Scheme: "socks5", Host: "x"}}, {Proxy: &url.URL{}},
	} {
		if _, err := fetch.New(cfg); !errors.Is(err, fetch.ErrInvalid) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
