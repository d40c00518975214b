package ingest_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

// zipped is an archive of names and texts, by turns.
func zipped(t testing.TB, files ...string) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		entry, err := w.Create(files[i])
		if err == nil {
			_, err = entry.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes())
}

func (h *house) unpack(t *testing.T, file *bytes.Reader) map[string]ingest.Unpacked {
	t.Helper()
	all, isArchive, err := h.Unpack(t.Context(), "kb", ingest.Upload{Name: "b.zip", Path: "in/b.zip", Metadata: store.Metadata{"x": true}}, file, file.Size())
	if err != nil || !isArchive {
		t.Fatalf("archive: %t, %v", isArchive, err)
	}
	got := map[string]ingest.Unpacked{}
	for _, one := range all {
		got[one.Path] = one
	}
	return got
}

func TestUnpack(t *testing.T) {
	h := build(t, t.TempDir(), func(c *ingest.Config) { c.MaxFileBytes = 100 })
	h.start(t)
	got := h.unpack(t, zipped(t, "a.txt", "The first.", "sub/b.txt", "The second.", "__MACOSX/._a.txt", "junk",
		"../out.txt", "x", "large.txt", strings.Repeat("x", 101), "sub/c.txt", "The first."))
	for path, want := range map[string]string{"in/b.zip/a.txt": "", "in/b.zip/sub/b.txt": "", "in/b.zip/large.txt": "too large", "in/b.zip/sub/c.txt": ""} {
		one, there := got[path]
		switch {
		case !there:
			t.Errorf("%s is not told", path)
		case want == "" && (one.Err != nil || one.DocumentID == "" || one.JobID == "" || one.Revision != 1):
			t.Errorf("%s: %+v", path, one)
		case want != "" && (one.Err == nil || !strings.Contains(one.Err.Error(), want) || one.DocumentID != ""):
			t.Errorf("%s: %+v, want %q", path, one, want)
		}
	}
	if len(got) != 5 || got["in/b.zip/a.txt"].DocumentID != got["in/b.zip/sub/c.txt"].DocumentID {
		t.Errorf("%d are told: %+v", len(got), got)
	}
	if job := h.end(t, got["in/b.zip/sub/b.txt"].JobID); job.Status != store.StatusReady {
		t.Errorf("job: %+v", job)
	}
	doc := h.document(t, got["in/b.zip/sub/b.txt"].DocumentID)
	if diff := cmp.Diff([]any{"b.txt", store.Metadata{"x": true}, []store.Source{{Path: "in/b.zip/sub/b.txt"}}},
		[]any{doc.Name, doc.Metadata, doc.Sources}); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}

	again := h.unpack(t, zipped(t, "a.txt", "The first.", "sub/b.txt", "The second, changed."))
	if one := again["in/b.zip/a.txt"]; one.DuplicateOf != got["in/b.zip/a.txt"].DocumentID {
		t.Errorf("unchanged: %+v", one)
	}
	if one := again["in/b.zip/sub/b.txt"]; one.DocumentID != doc.ID || one.Revision != 2 {
		t.Errorf("changed: %+v", one)
	}
	h.end(t, again["in/b.zip/sub/b.txt"].JobID)
	h.verify(t)
}

func TestUnpackOfWhatIsDamaged(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	if _, isArchive, err := h.Unpack(t.Context(), "kb", ingest.Upload{Name: "a.txt"}, strings.NewReader("text"), 4); isArchive || err != nil {
		t.Errorf("a text: %t, %v", isArchive, err)
	}
	whole := zipped(t, "a.txt", strings.Repeat("The first. ", 100), "b.txt", strings.Repeat("The second. ", 100))
	half := make([]byte, whole.Size()*2/3)
	if _, err := whole.ReadAt(half, 0); err != nil {
		t.Fatal(err)
	}
	got := h.unpack(t, bytes.NewReader(half))
	if one := got["in/b.zip"]; one.Err == nil || !strings.Contains(one.Err.Error(), "damaged") {
		t.Errorf("the archive: %+v", one)
	}
	h.verify(t)
}

// BenchmarkUnpack adds an archive of 10,000 small files; reading them is not
// waited for.
func BenchmarkUnpack(b *testing.B) {
	const n = 10_000
	var files []string
	for i := range n {
		files = append(files, fmt.Sprintf("f/%05d.md", i), strings.Repeat(fmt.Sprintf("Line of file %d. ", i), 40))
	}
	file := zipped(b, files...)
	for range b.N {
		h := build(b, b.TempDir(), nil)
		if _, err := h.CreateKnowledgeBase(b.Context(), store.KnowledgeBase{Name: "kb"}); err != nil {
			b.Fatal(err)
		}
		b.ResetTimer()
		all, _, err := h.Unpack(b.Context(), "kb", ingest.Upload{Name: "b.zip"}, file, file.Size())
		if err != nil || len(all) != n {
			b.Fatal(len(all), err)
		}
		b.ReportMetric(n/b.Elapsed().Seconds(), "files/s")
	}
}

// TestFilesDoNotWaitForAnArchive: a file that is uploaded behind an archive is
// taken up after one of the archive's, also after a restart.
func TestFilesDoNotWaitForAnArchive(t *testing.T) {
	dir := t.TempDir()
	one := func(c *ingest.Config) { c.Workers = 1 }
	h := build(t, dir, one)
	hold := make(chan struct{})
	h.parser.hold = hold
	h.start(t)
	h.submit(t, "held.txt", "hold the worker")
	waitFor(t, func() bool {
		h.parser.mu.Lock()
		defer h.parser.mu.Unlock()
		return h.parser.calls == 1
	})
	var files []string
	for i := range 20 {
		files = append(files, fmt.Sprintf("%d.txt", i), fmt.Sprintf("File %d.", i))
	}
	h.unpack(t, zipped(t, files...))
	late := h.submit(t, "late.txt", "Uploaded last.")
	h.close(t) // nothing was taken up since
	close(hold)

	h = build(t, dir, one)
	h.start(t)
	h.end(t, late.Job.ID)
	jobs, err := h.records.Jobs(t.Context(), store.JobFilter{Status: store.StatusQueued}, store.Page{Limit: store.MaxPage})
	if err != nil || len(jobs) < 16 {
		t.Errorf("%d of 20 files still wait, %v", len(jobs), err)
	}
	for _, job := range jobs {
		h.end(t, job.ID)
	}
	h.verify(t)
}
