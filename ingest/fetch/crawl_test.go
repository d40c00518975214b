package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/fetch"
)

// crawl tells what a crawl found, a line a page: "depth path" or "depth path! reason".
func crawl(t *testing.T, s *site, f *fetch.Fetcher, req fetch.CrawlRequest) ([]string, error) {
	t.Helper()
	if req.URL == "" {
		req.URL = s.URL
	}
	var got []string
	for p, err := range f.Crawl(context.Background(), req) {
		if err != nil {
			return got, err
		}
		line := fmt.Sprint(p.Depth, " ", strings.TrimPrefix(p.Address, s.URL))
		if p.Err == nil {
			if _, err := io.ReadAll(p.Body); err != nil {
				t.Errorf("%s: %v", p.Address, err)
			}
		} else {
			line += "! " + why(p.Err)
		}
		got = append(got, line)
	}
	return got, nil
}

func why(err error) string {
	var refused *fetch.RefusedError
	switch {
	case errors.As(err, &refused):
		return string(refused.Rule)
	case errors.Is(err, fetch.ErrNoIndex):
		return "noindex"
	case errors.Is(err, fetch.ErrDuplicate):
		return "duplicate"
	case errors.Is(err, fetch.ErrGone):
		return "gone"
	}
	return err.Error()
}

func links(hrefs ...string) string {
	text := "<title>links</title>"
	for _, href := range hrefs {
		text += `<a href="` + href + `">` + href + `</a> `
	}
	return text
}

func TestCrawlIsBreadthFirstAndStaysOnTheSite(t *testing.T) {
	outside := serve(t, pages(map[string]string{"/": "outside"}))
	s := serve(t, pages(map[string]string{
		"/":               links("/a", "/b#part", "/a", "http://example.test/", outside.URL, "/image.png", "/missing", "mailto:x@y"),
		"/a":              links("/c", "/"),
		"/b":              links("/c", "/d?utm_source=x"),
		"/c":              links("/e") + "c",
		"/d?utm_source=x": "d",
		"/e":              links("/f") + "e",
		"/f":              "f",
	}))
	f := fetcher(t, s, func(c *fetch.Config) { c.Ports = append(c.Ports, outside.port(t)) })
	got, err := crawl(t, s, f, fetch.CrawlRequest{})
	want := []string{"0 /", "1 /a", "1 /b", "1 /missing! gone", "2 /c", "2 /d?utm_source=x", "3 /e"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if asked := outside.requests(); len(asked) != 0 {
		t.Errorf("another site was asked for %q", asked)
	}
	for _, c := range []struct {
		req  fetch.CrawlRequest
		want []string
	}{
		{fetch.CrawlRequest{MaxPages: 3}, want[:3]},
		{fetch.CrawlRequest{MaxDepth: 1}, want[:4]},
		{fetch.CrawlRequest{MaxDepth: -1}, want[:1]},
		{fetch.CrawlRequest{IncludePrefix: "/a"}, want[:2]},
		{fetch.CrawlRequest{URL: s.URL + "/b", MaxDepth: 1}, []string{"0 /b", "1 /c", "1 /d?utm_source=x"}},
		{fetch.CrawlRequest{URL: s.URL + "/e", IncludePrefix: "/f"}, []string{"0 /e", "1 /f"}},
	} {
		if got, err := crawl(t, s, f, c.req); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, %v; want %q", c.req, got, err, c.want)
		}
	}
}

func TestCrawlEndsWithTheErrorOfItsFirstPage(t *testing.T) {
	s := serve(t, pages(nil))
	got, err := crawl(t, s, fetcher(t, s), fetch.CrawlRequest{})
	if !errors.Is(err, fetch.ErrGone) || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := crawl(t, s, fetcher(t, s), fetch.CrawlRequest{URL: "ftp://example.test/"}); why(err) != "scheme" {
		t.Error(err)
	}
}

func TestCrawlObeysPagesAndRobots(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/header" {
			w.Header().Set("X-Robots-Tag", "none")
		}
		pages(map[string]string{
			"/robots.txt": "User-agent: ragagent\nDisallow: /private\n",
			"/":           links("/private/x", "/noindex", "/nofollow", "/header") + `<a rel=nofollow href="/rel">`,
			"/noindex":    `<meta name=robots content=noindex>` + links("/behind-noindex"),
			"/nofollow":   `<meta name=ragagent content=nofollow>` + links("/behind-nofollow"),
			"/header":     links("/behind-header"), "/behind-noindex": "ok",
		})(w, r)
	})
	got, err := crawl(t, s, fetcher(t, s), fetch.CrawlRequest{})
	want := []string{"0 /", "1 /private/x! robots", "1 /noindex! noindex", "1 /nofollow", "1 /header! noindex", "2 /behind-noindex"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if slices.Contains(s.requests(), "/private/x") {
		t.Error("what robots.txt forbids was asked for")
	}
	ignoring := fetcher(t, s, func(c *fetch.Config) { c.IgnoreRobots = []string{"127.0.0.1"} })
	got, _ = crawl(t, s, ignoring, fetch.CrawlRequest{MaxDepth: 1})
	if !slices.Contains(got, "1 /private/x! gone") {
		t.Errorf("an own site: %q", got)
	}
}

func TestCrawlTellsEachPageOnce(t *testing.T) {
	canonical := func(href string) string { return `<link rel=canonical href="` + href + `">` }
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved", "/moved-too":
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
		case "/leaves":
			http.Redirect(w, r, "http://example.test/", http.StatusFound)
		default:
			pages(map[string]string{
				"/":           links("/moved", "/moved-too", "/new", "/index.html", "/leaves", "/p?print=1", "/ping", "/lost", "/self"),
				"/index.html": links("/moved", "/moved-too", "/new", "/index.html", "/leaves", "/p?print=1", "/ping", "/lost", "/self"),
				"/new":        "new", "/p?print=1": canonical("/p") + "print", "/p": canonical("/p") + "p",
				"/ping": canonical("/pong") + "ping", "/pong": canonical("/ping") + "pong",
				"/lost": canonical("/nowhere") + "lost", "/self": canonical("/self") + "self",
			})(w, r)
		}
	})
	got, err := crawl(t, s, fetcher(t, s), fetch.CrawlRequest{})
	want := []string{"0 /", "1 /moved! duplicate", "1 /moved-too! duplicate", "1 /new", "1 /index.html! duplicate",
		"1 /leaves! site", "1 /p?print=1! duplicate", "1 /ping! duplicate", "1 /lost! duplicate", "1 /self",
		"1 /p", "1 /pong", "1 /nowhere! gone", "1 /lost"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestCrawlReadsSitemaps(t *testing.T) {
	var s *site
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		pages(map[string]string{
			"/":  links("/a"),
			"/a": "a", "/b": "b", "/c": "c", "/d": "d",
			"/robots.txt": "Sitemap: " + s.URL + "/index.xml\n",
			"/index.xml": "<sitemapindex><sitemap><loc>" + s.URL + "/one.xml</loc></sitemap><sitemap><loc>" + s.URL + "/two.txt</loc></sitemap>" +
				"<sitemap><loc>" + s.URL + "/index.xml</loc></sitemap><sitemap><loc>http://10.0.0.1/s.xml</loc></sitemap></sitemapindex>",
			"/one.xml": "<urlset><url><loc>" + s.URL + "/b</loc></url><url><loc>http://example.test/</loc></url></urlset>",
			"/two.txt": s.URL + "/c\n" + s.URL + "/a\n",
		})(w, r)
	})
	got, err := crawl(t, s, fetcher(t, s), fetch.CrawlRequest{UseSitemap: true})
	want := []string{"0 /", "1 /a", "0 /b", "0 /c"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err = crawl(t, s, fetcher(t, s), fetch.CrawlRequest{UseSitemap: true, MaxDepth: -1})
	if want := []string{"0 /", "0 /b", "0 /c", "0 /a"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("only the sitemap: %q, %v", got, err)
	}
}

// A site with a new link on every page has no end; a crawl has.
func TestCrawlOfAnEndlessSite(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for i := range 50 {
			_, _ = fmt.Fprintf(w, `<a href="%s/%d">`, strings.TrimSuffix(r.URL.Path, "/"), i)
		}
		_, _ = fmt.Fprint(w, r.URL.Path)
		if strings.HasSuffix(r.URL.Path, "/7") {
			_, _ = fmt.Fprint(w, "<meta name=robots content=noindex>")
		}
	})
	got, err := crawl(t, s, fetcher(t, s), fetch.CrawlRequest{MaxPages: 60, MaxDepth: 1000})
	told := 0
	for _, line := range got {
		if !strings.HasSuffix(line, "noindex") {
			told++
		}
	}
	if err != nil || told != 60 || len(s.requests()) > 3*60+100+1 {
		t.Errorf("%d pages for %d requests, %v", told, len(s.requests()), err)
	}
}

func TestCrawlIsPolite(t *testing.T) {
	busy := true
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/busy" && busy {
			busy = false
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		pages(map[string]string{
			"/": links("/busy", "/a"), "/a": "a", "/busy": "busy",
			"/robots.txt": "User-agent: *\nCrawl-delay: 3\n",
		})(w, r)
	})
	now := time.Unix(1_000_000, 0)
	var waited []time.Duration
	f := fetcher(t, s, func(c *fetch.Config) {
		c.Delay = time.Second
		c.Now = func() time.Time { return now }
		c.Sleep = func(_ context.Context, d time.Duration) error {
			waited = append(waited, d)
			now = now.Add(d)
			return nil
		}
	})
	got, err := crawl(t, s, f, fetch.CrawlRequest{})
	if want := []string{"0 /", "1 /a", "1 /busy"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	s3 := 3 * time.Second
	if want := []time.Duration{s3, 7 * time.Second, s3}; !slices.Equal(waited, want) {
		t.Errorf("waited %v", waited)
	}
}

func TestCrawlCanBeStopped(t *testing.T) {
	s := serve(t, pages(map[string]string{"/": links("/a", "/b"), "/a": "a", "/b": "b"}))
	f := fetcher(t, s)
	for p, err := range f.Crawl(context.Background(), fetch.CrawlRequest{URL: s.URL}) {
		if err != nil || p.Err != nil {
			t.Error(err, p.Err)
		}
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for _, err := range f.Crawl(ctx, fetch.CrawlRequest{URL: s.URL}) {
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Error(last)
	}
}
