package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// maxLarge is what the server and its children may take together while a large
// input is ingested, in bytes.
const maxLarge = 1 << 30

// TestLarge ingests one text of 500 MB, one PDF of 5,000 pages and 20,000 small
// files, with RAGAGENT_LARGE set, and prints what each took. Reading, cutting and
// embedding stay below maxLarge; the index of 500 MB of text is more than that
// by itself, and is printed beside.
func TestLarge(t *testing.T) {
	if os.Getenv("RAGAGENT_LARGE") == "" {
		t.Skip("takes minutes: set RAGAGENT_LARGE")
	}
	t.Run("text", func(t *testing.T) {
		largeFile(t, "large.txt", func(out io.Writer, words madeWords) error {
			for size := 0; size < 500<<20; {
				n, err := fmt.Fprintf(out, "%s\n\n", words.sentences(6))
				if err != nil {
					return err
				}
				size += n
			}
			return nil
		})
	})
	t.Run("pdf", func(t *testing.T) {
		largeFile(t, "large.pdf", func(out io.Writer, words madeWords) error { return words.pdf(out, 5000) })
	})
	t.Run("small files", manyFiles)
}

// largeFile ingests one file and follows the memory of every stage.
func largeFile(t *testing.T, name string, write func(io.Writer, madeWords) error) {
	path := filepath.Join(t.TempDir(), name)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	if err := write(out, newMadeWords(9)); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	srv := startServer(t, t.TempDir())
	defer srv.kill()
	api := &client{http: &http.Client{}, base: srv.base}
	if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	doc, err := api.upload(t.Context(), "kb", name, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("sent after %.1f s", time.Since(begin).Seconds())
	var job jobState
	peak, stage, since := map[string]float64{}, "", begin
	for !job.ended() {
		if err := api.get(t.Context(), "/api/v1/jobs/"+doc.JobID, &job); err != nil {
			t.Fatal(err)
		}
		if job.Stage != stage {
			t.Logf("%s: %.1f s", stage, time.Since(since).Seconds())
			stage, since = job.Stage, time.Now()
		}
		peak[stage] = max(peak[stage], treeRSS(srv.cmd.Process.Pid))
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("%s: %.1f s, of %.1f s in all", stage, time.Since(since).Seconds(), time.Since(begin).Seconds())
	if job.Status != "ready" {
		t.Fatalf("%s: %s", job.Status, job.Error)
	}
	for stage, most := range peak {
		t.Logf("%s: %.0f MB", stage, most/1e6)
		if stage != "index" && most > maxLarge {
			t.Errorf("%s took more than %d MB", stage, maxLarge/1_000_000)
		}
	}
	var found struct {
		Hits []struct {
			ID string `json:"chunk_id"`
		} `json:"hits"`
	}
	err = api.post(t.Context(), "/api/v1/retrieve", map[string]any{"query": newMadeWords(9).sentences(1), "knowledge_bases": []string{"kb"}}, &found)
	if err != nil || len(found.Hits) == 0 {
		t.Errorf("search afterwards: %d hits, %v", len(found.Hits), err)
	}
}

// manyFiles ingests 20,000 files of 2 KB.
func manyFiles(t *testing.T) {
	const files = 20_000
	dir := t.TempDir()
	words := newMadeWords(10)
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.md", i)), []byte(words.markdown(2)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	srv := startServer(t, t.TempDir())
	defer srv.kill()
	memory := watchMemory(srv.cmd.Process.Pid)
	begin := time.Now()
	code, out, msg := command(t, "ingest", "--server", srv.base, "--kb", "kb", dir)
	took, peak := time.Since(begin).Seconds(), memory()
	t.Logf("%.0f s, %.0f documents/s, %.0f MB", took, files/took, peak)
	if code != exitOK {
		t.Errorf("ingest: %d\n%s%.2000s", code, out, msg)
	}
	if peak*1e6 > maxLarge {
		t.Errorf("took more than %d MB", maxLarge/1_000_000)
	}
}
