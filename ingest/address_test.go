package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/ingest/fetch"
	"ragagent/store"
)

// site is a server on this machine whose pages a test changes.
type site struct {
	*httptest.Server
	mu      sync.Mutex
	pages   map[string]string // by path; "!503" answers with a status
	asked   []string          // paths, "304 " before those answered so
	tagless bool              // it gives no ETags
}

func newSite(t *testing.T, pages map[string]string) *site {
	t.Helper()
	s := &site{pages: pages}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.pages[r.URL.Path]
	if r.URL.Path == "/robots.txt" {
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, text)
		return
	}
	tag := fmt.Sprintf("%q", strconv.Itoa(len(text))+text[:min(len(text), 5)])
	said := r.URL.Path
	if r.Header.Get("If-None-Match") == tag {
		said = "304 " + said
	}
	s.asked = append(s.asked, said)
	switch {
	case !ok:
		http.NotFound(w, r)
	case strings.HasPrefix(text, "!"):
		status, _ := strconv.Atoi(text[1:])
		w.WriteHeader(status)
	case strings.HasPrefix(said, "304"):
		w.WriteHeader(http.StatusNotModified)
	default:
		if !s.tagless {
			w.Header().Set("ETag", tag)
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, text)
	}
}

func (s *site) set(path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = text
}

// requests returns what was asked for since the last call.
func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fetching wires a fetcher that may fetch from this machine, a clock and no
// randomness.
func fetching(t *testing.T, s *site, c *clock) func(*ingest.Config) {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Ports: []uint16{uint16(port)}, Delay: -1, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return func(cfg *ingest.Config) {
		cfg.Fetcher, cfg.Now, cfg.Jitter = f, c.Now, func() float64 { return .5 }
	}
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (h *house) submitURL(t *testing.T, order ingest.URLOrder) ingest.Submitted {
	t.Helper()
	done, err := h.SubmitURL(t.Context(), "kb", order)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func (h *house) document(t *testing.T, id string) store.Document {
	t.Helper()
	doc, err := h.records.Document(t.Context(), "", id)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func (h *house) address(t *testing.T, id string) store.Address {
	t.Helper()
	all, err := h.records.DocumentAddresses(t.Context(), []string{id})
	if err != nil {
		t.Fatal(err)
	}
	return all[id]
}

func TestURLBecomesADocument(t *testing.T) {
	s := newSite(t, map[string]string{"/guide.html": "One.\n\nTwo."})
	h := build(t, t.TempDir(), fetching(t, s, newClock()))
	h.start(t)
	done := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/guide.html#top", Metadata: store.Metadata{"team": "a"}})
	if done.Document.Name != "guide.html" || done.Document.Status != store.StatusQueued || done.Job.Kind != store.JobFetch {
		t.Errorf("accepted as %+v", done)
	}
	if last := h.end(t, done.Job.ID); last.Status != store.StatusReady || last.Kind != store.JobFetch {
		t.Fatalf("ended as %+v", last)
	}
	doc := h.document(t, done.Document.ID)
	if doc.Bytes != 10 || doc.ChunkCount != 1 || doc.Revision != 1 || doc.Metadata["team"] != "a" {
		t.Errorf("%+v", doc)
	}
	if diff := cmp.Diff([]store.Source{{Origin: "url", Path: s.URL + "/guide.html"}}, doc.Sources); diff != "" {
		t.Error(diff)
	}
	a := h.address(t, doc.ID)
	if a.FinalURL != s.URL+"/guide.html" || a.ETag == "" || a.FetchedAt.IsZero() || !a.NextAt.IsZero() {
		t.Errorf("%+v", a)
	}
	h.verify(t)
}

func TestURLErrorsKeepTheirCause(t *testing.T) {
	s := newSite(t, map[string]string{"/robots.txt": "User-agent: *\nDisallow: /private\n"})
	h := build(t, t.TempDir(), fetching(t, s, newClock()))
	h.start(t)
	for given, want := range map[string]string{
		s.URL + "/missing":              "the page does not exist any more (status 404)",
		s.URL + "/private/x":            "(setting fetch-ignore-robots)",
		"http://127.0.0.1:1/":           "(setting fetch-ports)",
		"http://169.254.169.254:8080/x": "(setting fetch-ports)",
	} {
		done := h.submitURL(t, ingest.URLOrder{URL: given})
		last := h.end(t, done.Job.ID)
		if last.Status != store.StatusFailed || !strings.HasSuffix(last.Error, want) {
			t.Errorf("%s: %s, %q; want %q", given, last.Status, last.Error, want)
		}
		if doc := h.document(t, done.Document.ID); doc.Error != last.Error || doc.Status != store.StatusFailed {
			t.Errorf("%s: the document says %s, %q", given, doc.Status, doc.Error)
		}
	}
	for _, given := range []string{"", "example.org", "ftp://example.org/", "http://a b/", "https://user:secret@example.org/"} {
		_, err := h.SubmitURL(t.Context(), "kb", ingest.URLOrder{URL: given})
		var field *store.FieldError
		if !errors.As(err, &field) || field.Field != "url" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", given, err)
		}
	}
	if _, err := h.SubmitURL(t.Context(), "kb", ingest.URLOrder{URL: s.URL, Refresh: time.Minute}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a refresh every minute: %v", err)
	}
	h.verify(t)
}

func TestURLOfKnownContentIsADuplicate(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "One."})
	h := build(t, t.TempDir(), fetching(t, s, newClock()))
	h.start(t)
	first := h.submit(t, "one.txt", "One.")
	h.end(t, first.Job.ID)
	done := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/a"})
	if last := h.end(t, done.Job.ID); last.Status != store.StatusReady || last.DocumentID != first.Document.ID {
		t.Errorf("%+v", last)
	}
	if _, err := h.records.Document(t.Context(), "", done.Document.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the duplicate is there: %v", err)
	}
	if doc := h.document(t, first.Document.ID); len(doc.Sources) != 2 || doc.Status != store.StatusReady {
		t.Errorf("%+v", doc)
	}
	h.verify(t)
}

func TestTemporaryFailuresAreTriedAgain(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "!503"})
	c := newClock()
	h := build(t, t.TempDir(), fetching(t, s, c))
	h.start(t)
	done := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/a"})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var waits []string
	for job, err := range h.Watch(ctx, done.Job.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if job.Status == store.StatusQueued && job.Error != "" {
			waits = append(waits, job.Error)
			c.advance(time.Hour)
			h.NudgeFetch()
		}
		if job.Status.Ended() && (job.Status != store.StatusFailed || !strings.Contains(job.Error, "given up after 6 attempts") || !strings.Contains(job.Error, "503")) {
			t.Errorf("ended as %s: %s", job.Status, job.Error)
		}
	}
	if len(waits) != 5 || !strings.Contains(waits[0], "503 Service Unavailable; next try at 2026-01-02T03:04:08Z") {
		t.Errorf("waited: %q", waits)
	}
	s.set("/a", "There again.")
	again := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/a"})
	if again.Document.ID != done.Document.ID || again.Job.ID != done.Job.ID {
		t.Errorf("sent again: %+v", again)
	}
	if last := h.end(t, again.Job.ID); last.Status != store.StatusReady {
		t.Errorf("ended as %+v", last)
	}
}

// refreshed waits until a document's URL was fetched once more.
func (h *house) refreshed(t *testing.T, id string, was store.Address) store.Address {
	t.Helper()
	var now store.Address
	waitFor(t, func() bool {
		now = h.address(t, id)
		return now.FetchedAt.After(was.FetchedAt) || now.Failures > was.Failures
	})
	return now
}

func TestRefreshFollowsThePage(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "One."})
	c := newClock()
	dir := t.TempDir()
	h := build(t, dir, fetching(t, s, c))
	h.start(t)
	done := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/a", Refresh: time.Hour})
	h.end(t, done.Job.ID)
	id := done.Document.ID
	a := h.address(t, id)
	if want := c.Now().Add(time.Hour); !a.NextAt.Equal(want) || a.Refresh != time.Hour {
		t.Fatalf("next at %v, want %v", a.NextAt, want)
	}
	s.requests()

	c.advance(time.Hour)
	h.NudgeFetch()
	a = h.refreshed(t, id, a)
	if diff := cmp.Diff([]string{"304 /a"}, s.requests()); diff != "" || h.document(t, id).Revision != 1 {
		t.Errorf("an unchanged page: %s", diff)
	}

	// A restart keeps the time.
	h.close(t)
	s.set("/a", "Two, and more.")
	h = build(t, dir, fetching(t, s, c))
	h.start(t)
	c.advance(time.Hour)
	h.NudgeFetch()
	a = h.refreshed(t, id, a)
	waitFor(t, func() bool { d := h.document(t, id); return d.Revision == 2 && d.Status == store.StatusReady })
	if doc := h.document(t, id); doc.Bytes != 14 || len(s.requests()) != 1 {
		t.Errorf("a changed page: %+v", doc)
	}

	s.mu.Lock()
	delete(s.pages, "/a")
	s.mu.Unlock()
	if _, err := h.Refresh(t.Context(), "kb", id); err != nil {
		t.Fatal(err)
	}
	a = h.refreshed(t, id, a)
	if !a.GoneSince.Equal(c.Now()) || !strings.Contains(a.Error, "does not exist any more") || h.document(t, id).Status != store.StatusReady {
		t.Errorf("a page that is gone: %+v", a)
	}

	if a, err := h.SetRefresh(t.Context(), "kb", id, 0); err != nil || !a.NextAt.IsZero() || a.Refresh != 0 {
		t.Errorf("stopped: %+v, %v", a, err)
	}
	s.requests()
	c.advance(48 * time.Hour)
	h.NudgeFetch()
	s.set("/b", "B.")
	h.end(t, h.submitURL(t, ingest.URLOrder{URL: s.URL + "/b"}).Job.ID)
	if diff := cmp.Diff([]string{"/b"}, s.requests()); diff != "" {
		t.Errorf("after the end: %s", diff)
	}
	h.verify(t)
}

func TestCrawlMakesDocumentsAndGoesOn(t *testing.T) {
	link := func(to string) string { return `<a href="` + to + `">x</a> ` }
	s := newSite(t, map[string]string{"/": "Start. " + link("/a") + link("/b") + link("/gone"), "/a": "A. " + link("/c"), "/b": "B.", "/c": "C."})
	dir := t.TempDir()
	c := newClock()
	cut := make(chan struct{})
	h := build(t, dir, func(cfg *ingest.Config) {
		fetching(t, s, c)(cfg)
		cfg.Fetcher = cutting{cfg.Fetcher.(*fetch.Fetcher), 3, cut}
	})
	h.start(t)
	done := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/", Refresh: time.Hour, Crawl: &ingest.CrawlOrder{}})
	if done.Job.Kind != store.JobCrawl {
		t.Fatalf("%+v", done.Job)
	}
	<-cut // two pages were taken in, the third was asked for and not
	h.close(t)
	if diff := cmp.Diff([]string{"/", "/a", "/b"}, s.requests()); diff != "" {
		t.Error(diff)
	}
	h = build(t, dir, fetching(t, s, c))
	h.start(t)
	if last := h.end(t, done.Job.ID); last.Status != store.StatusReady || last.Kind != store.JobCrawl {
		t.Fatalf("%+v", last)
	}
	if diff := cmp.Diff([]string{"/b", "/gone", "/c", "/"}, s.requests()); diff != "" {
		t.Errorf("goes on: %s", diff)
	}
	waitFor(t, func() bool {
		n, err := h.records.CountJobs(t.Context())
		return err == nil && n[store.StatusReady] == 4
	})
	sources, err := h.records.Sources(t.Context(), h.kb.ID, "url", store.Page{})
	var paths []string
	for _, src := range sources {
		paths = append(paths, strings.TrimPrefix(src.Path, s.URL))
		if a := h.address(t, src.DocumentID); a.Refresh != time.Hour || a.NextAt.IsZero() {
			t.Errorf("%s: %+v", src.Path, a)
		}
	}
	if diff := cmp.Diff([]string{"/", "/a", "/b", "/c"}, paths); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if pages, err := h.records.CrawlPages(t.Context(), done.Job.ID); err != nil || len(pages) != 0 {
		t.Errorf("the journal is still there: %v, %v", pages, err)
	}
	if _, err := h.SubmitURL(t.Context(), "kb", ingest.URLOrder{URL: s.URL, Crawl: &ingest.CrawlOrder{}}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("crawled again: %v", err)
	}
	h.verify(t)
}

// cutting holds the n-th page of a crawl back until the crawl is ended.
type cutting struct {
	*fetch.Fetcher
	at  int
	cut chan struct{}
}

func (f cutting) Crawl(ctx context.Context, req fetch.CrawlRequest) iter.Seq2[fetch.Page, error] {
	return func(yield func(fetch.Page, error) bool) {
		n := 0
		for page, err := range f.Fetcher.Crawl(ctx, req) {
			if n++; n == f.at {
				close(f.cut)
				<-ctx.Done()
				yield(fetch.Page{}, ctx.Err())
				return
			}
			if !yield(page, err) {
				return
			}
		}
	}
}

func TestCrawlIsCancelled(t *testing.T) {
	s := newSite(t, map[string]string{"/": `Start. <a href="/a">a</a>`, "/a": "A."})
	cut := make(chan struct{})
	h := build(t, t.TempDir(), func(cfg *ingest.Config) {
		fetching(t, s, newClock())(cfg)
		cfg.Fetcher = cutting{cfg.Fetcher.(*fetch.Fetcher), 2, cut}
	})
	h.start(t)
	done := h.submitURL(t, ingest.URLOrder{URL: s.URL, Crawl: &ingest.CrawlOrder{}})
	<-cut
	if job, err := h.Cancel(t.Context(), done.Job.ID); err != nil || job.Status != store.StatusCancelled {
		t.Errorf("%+v, %v", job, err)
	}
	if last := h.end(t, done.Job.ID); last.Status != store.StatusCancelled {
		t.Errorf("%+v", last)
	}
	h.verify(t)
}
