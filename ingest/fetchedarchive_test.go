package ingest_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

// archived is an archive as the text of a page.
func archived(t *testing.T, files ...string) string {
	t.Helper()
	text, err := io.ReadAll(zipped(t, files...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// texts are the documents of the knowledge base by their sources.
func (h *house) texts(t *testing.T) map[string]string {
	t.Helper()
	docs, err := h.records.Documents(t.Context(), h.kb.ID, store.Page{Limit: store.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, doc := range docs {
		for _, source := range doc.Sources {
			got[source.Path] = h.original(t, doc)
		}
		if doc.Status != store.StatusReady || doc.Metadata["team"] != "a" {
			t.Errorf("%s is %s: %s, %v", doc.Name, doc.Status, doc.Error, doc.Metadata)
		}
	}
	return got
}

// TestArchiveBehindAURL: its files are documents with the URL before their
// paths, and follow it.
func TestArchiveBehindAURL(t *testing.T) {
	s := newSite(t, map[string]string{"/box": archived(t, "a.txt", "One.", "in/b.txt", "Two.", "../x.txt", "Out.")})
	c := newClock()
	h := build(t, t.TempDir(), fetching(t, s, c))
	h.start(t)
	done := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/box", Metadata: store.Metadata{"team": "a"}, Refresh: time.Hour})
	last := h.end(t, done.Job.ID)
	if last.Status != store.StatusReady {
		t.Fatalf("%+v", last)
	}
	box := s.URL + "/box/"
	if diff := cmp.Diff(map[string]string{box + "a.txt": "One.", box + "in/b.txt": "Two."}, h.texts(t)); diff != "" {
		t.Error(diff)
	}
	a := h.address(t, last.DocumentID)
	if a.URL != s.URL+"/box" || !strings.Contains(a.Error, "was left out") || a.NextAt.IsZero() {
		t.Errorf("%+v", a)
	}

	// The first file goes, the second changes, a third comes.
	s.set("/box", archived(t, "c.txt", "Three.", "in/b.txt", "Two, and more."))
	c.advance(time.Hour)
	h.NudgeFetch()
	want := []string{box + "c.txt", box + "in/b.txt"}
	waitFor(t, func() bool {
		docs, err := h.records.Documents(t.Context(), h.kb.ID, store.Page{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, doc := range docs {
			if doc.Status == store.StatusReady && doc.Pending == nil {
				got = append(got, doc.Sources[0].Path)
			}
		}
		slices.Sort(got)
		return slices.Equal(got, want)
	})
	docs, err := h.records.Documents(t.Context(), h.kb.ID, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	addresses := 0
	for _, doc := range docs {
		if h.address(t, doc.ID).URL == s.URL+"/box" {
			addresses++
		}
	}
	if addresses != 1 {
		t.Errorf("%d documents have the address", addresses)
	}
	h.verify(t)
}

// TestArchiveBehindAURLThatIsRefused says why, and leaves nothing.
func TestArchiveBehindAURLThatIsRefused(t *testing.T) {
	whole := archived(t, "a.txt", strings.Repeat("One. ", 1000))
	s := newSite(t, map[string]string{"/links": archived(t, "../a.txt", "One."), "/cut": whole[:60]})
	h := build(t, t.TempDir(), fetching(t, s, newClock()))
	h.start(t)
	for path, want := range map[string]string{"/links": "nothing in the archive was taken: ", "/cut": "nothing in the archive was taken: "} {
		last := h.end(t, h.submitURL(t, ingest.URLOrder{URL: s.URL + path}).Job.ID)
		if last.Status != store.StatusFailed || !strings.HasPrefix(last.Error, want) {
			t.Errorf("%s: %s, %s", path, last.Status, last.Error)
		}
	}
	h.verify(t)
}

// TestArchiveFoundWhileCrawling: its files are documents, as those of an archive
// that is fetched alone; one that holds nothing is left out, and the crawl goes on.
func TestArchiveFoundWhileCrawling(t *testing.T) {
	s := newSite(t, map[string]string{
		"/":    `Start. <a href="/box">box</a> <a href="/none">none</a> <a href="/c">c</a>`,
		"/box": archived(t, "a.txt", "One.", "in/b.txt", "Two."), "/none": archived(t, "../x.txt", "Out."), "/c": "Three.",
	})
	c := newClock()
	h := build(t, t.TempDir(), fetching(t, s, c))
	h.start(t)
	done := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/", Metadata: store.Metadata{"team": "a"}, Refresh: time.Hour, Crawl: &ingest.CrawlOrder{}})
	if last := h.end(t, done.Job.ID); last.Status != store.StatusReady {
		t.Fatalf("%+v", last)
	}
	waitFor(t, func() bool {
		n, err := h.records.CountJobs(t.Context())
		return err == nil && n[store.StatusReady] == 4
	})
	got := h.texts(t)
	delete(got, s.URL+"/")
	box := s.URL + "/box/"
	if diff := cmp.Diff(map[string]string{box + "a.txt": "One.", box + "in/b.txt": "Two.", s.URL + "/c": "Three."}, got); diff != "" {
		t.Error(diff)
	}

	// It is followed as one that was fetched alone.
	s.set("/box", archived(t, "a.txt", "One, and more."))
	c.advance(2 * time.Hour)
	h.NudgeFetch()
	waitFor(t, func() bool {
		docs, err := h.records.Documents(t.Context(), h.kb.ID, store.Page{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, doc := range docs {
			if doc.Pending == nil && doc.Status == store.StatusReady && doc.Bytes != 4 {
				names = append(names, doc.Name)
			}
		}
		return len(docs) == 3 && len(names) == 3
	})
	h.verify(t)
}

// TestDeletedFromAnArchive: what was deleted of an archive behind a URL does not
// come back while the archive is the same; with another one it does.
func TestDeletedFromAnArchive(t *testing.T) {
	s := newSite(t, map[string]string{"/box": archived(t, "a.txt", "One.", "b.txt", "Two.")})
	s.tagless = true // one that gives ETags answers 304
	c := newClock()
	h := build(t, t.TempDir(), fetching(t, s, c))
	h.start(t)
	done := h.submitURL(t, ingest.URLOrder{URL: s.URL + "/box", Refresh: time.Hour})
	last := h.end(t, done.Job.ID)
	docs, err := h.records.Documents(t.Context(), h.kb.ID, store.Page{})
	if err != nil || len(docs) != 2 {
		t.Fatalf("%v, %v", docs, err)
	}
	for _, doc := range docs {
		if doc.ID != last.DocumentID {
			if err := h.DeleteDocument(t.Context(), h.kb.ID, doc.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	again := func() int {
		t.Helper()
		c.advance(2 * time.Hour)
		now := c.Now()
		h.NudgeFetch()
		waitFor(t, func() bool {
			a, err := h.records.Address(t.Context(), h.kb.ID, s.URL+"/box")
			return err == nil && !a.FetchedAt.Before(now) && a.Error == ""
		})
		docs, err := h.records.Documents(t.Context(), h.kb.ID, store.Page{})
		if err != nil {
			t.Fatal(err)
		}
		return len(docs)
	}
	if n := again(); n != 1 {
		t.Errorf("%d documents: what was deleted is back", n)
	}
	s.set("/box", archived(t, "a.txt", "One.", "b.txt", "Two.", "c.txt", "Three."))
	if n := again(); n != 3 {
		t.Errorf("%d documents of the new archive, not 3", n)
	}
}
