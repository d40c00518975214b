package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ragagent/retrieval/eval"
)

// shared is the folder with the test collections, which a user's checkout does
// not have.
func shared(tb testing.TB, path ...string) string {
	tb.Helper()
	root := os.Getenv("RAGAGENT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(append([]string{root, "data"}, path...)...)
	if _, err := os.Stat(dir); err != nil {
		tb.Skipf("the test collections are not here: %v", err)
	}
	return dir
}

// BenchmarkFilings measures the main job on the annual reports: ingestion,
// start-up, memory, and the latency of questions over HTTP. One iteration is
// the whole; the figures come as metrics of their own.
func BenchmarkFilings(b *testing.B) {
	set, err := eval.OpenDataset(shared(b, "filings"), "")
	if err != nil {
		b.Fatal(err)
	}
	files, err := set.Files()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		filings(b, set, files)
	}
}

func filings(b *testing.B, set *eval.Dataset, files []string) {
	data := b.TempDir()
	srv := startServer(b, data)
	memory := watchMemory(srv.cmd.Process.Pid)
	api := srv.client()
	if err := api.ensureKnowledgeBase(b.Context(), "kb"); err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	uploads, _, err := filesOf(files)
	if err != nil {
		b.Fatal(err)
	}
	run := &ingestRun{api: api, kb: "kb", bar: newProgress(b.Output(), len(files))}
	if sum := run.all(b.Context(), uploads); sum.Ready != len(files) {
		b.Fatalf("ingest: %+v", sum)
	}
	elapsed := time.Since(begin)
	bytes, pages := sizeOf(b, api, files)
	b.ReportMetric(elapsed.Seconds(), "ingest-s")
	b.ReportMetric(float64(pages)/elapsed.Seconds(), "pages/s")
	b.ReportMetric(float64(bytes)/1e6/elapsed.Seconds(), "ingest-MB/s")
	b.ReportMetric(memory(), "ingest-peak-MB")
	srv.kill()

	begin = time.Now()
	srv = startServer(b, data)
	b.ReportMetric(float64(time.Since(begin).Milliseconds()), "start-ms")
	b.ReportMetric(rss(srv.cmd.Process.Pid)/1e6, "start-rss-MB")
	api = srv.client()
	for _, call := range []struct{ name, path, field string }{
		{"retrieve", "/api/v1/retrieve", "query"},
		{"ask", "/api/v1/ask", "question"},
	} {
		var times []time.Duration
		for range 5 {
			for _, q := range set.Queries {
				at := time.Now()
				err := api.post(b.Context(), call.path, map[string]any{call.field: q.Text, "knowledge_bases": []string{"kb"}}, nil)
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(at))
			}
		}
		slices.Sort(times)
		b.ReportMetric(ms(times[len(times)/2]), call.name+"-p50-ms")
		b.ReportMetric(ms(times[len(times)*95/100]), call.name+"-p95-ms")
	}
	b.ReportMetric(rss(srv.cmd.Process.Pid)/1e6, "rss-MB")
	b.ReportMetric(folderMB(b, data), "disk-MB")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// sizeOf sums the files' bytes and the documents' pages.
func sizeOf(b *testing.B, api *client, files []string) (bytes int64, pages int) {
	b.Helper()
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			b.Fatal(err)
		}
		bytes += info.Size()
	}
	var docs struct {
		Data []struct {
			Pages int `json:"pages"`
		} `json:"data"`
	}
	if err := api.get(b.Context(), "/api/v1/knowledge-bases/kb/documents?limit=1000", &docs); err != nil {
		b.Fatal(err)
	}
	for _, d := range docs.Data {
		pages += d.Pages
	}
	return bytes, pages
}

// watchMemory samples the resident memory of a process and its children every
// few milliseconds; the returned function ends that and gives the peak in MB.
func watchMemory(pid int) func() float64 {
	ctx, cancel := context.WithCancel(context.Background())
	peak := make(chan float64, 1)
	go func() {
		most := 0.0
		for ctx.Err() == nil {
			most = max(most, treeRSS(pid))
			time.Sleep(10 * time.Millisecond)
		}
		peak <- most / 1e6
	}()
	return func() float64 {
		cancel()
		return <-peak
	}
}

// treeRSS is the resident memory of a process and its children, in bytes.
func treeRSS(pid int) float64 {
	sum := rss(pid)
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // none elsewhere than on Linux
	for _, t := range tasks {
		raw, err := os.ReadFile(t)
		if err != nil {
			continue
		}
		for _, child := range strings.Fields(string(raw)) {
			if n, err := strconv.Atoi(child); err == nil {
				sum += treeRSS(n)
			}
		}
	}
	return sum
}

// rss is the resident memory of a process in bytes; 0 where it is not known.
func rss(pid int) float64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err != nil {
				return 0
			}
			return kb * 1024
		}
	}
	return 0
}

func folderMB(b *testing.B, dir string) float64 {
	b.Helper()
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return float64(sum) / 1e6
}

// TestBoeing is the question of every demonstration: it has to be answered from
// the right filing and page.
func TestBoeing(t *testing.T) {
	data := t.TempDir()
	if code, out, msg := command(t, "ingest", "--data", data, "--kb", "filings", shared(t, "filings", "pdfs")); code != exitOK {
		t.Fatalf("ingest: %d\n%s%s", code, out, msg)
	}
	code, out, msg := command(t, "ask", "--data", data, "--kb", "filings", "--json",
		"How much did Boeing spend on research and development in 2022?")
	var a answered
	if err := json.Unmarshal([]byte(out), &a); code != exitOK || err != nil {
		t.Fatalf("ask: %d %v\n%s", code, err, msg)
	}
	// The total stands in the table of page 28 and in the income statement, page 55.
	for _, c := range a.Citations {
		if c.DocumentName == "BOEING_2022_10K.pdf" && (c.PageStart == 28 || c.PageStart == 55) && c.Verified {
			return
		}
	}
	t.Errorf("answer %q cites %+v, want page 28 or 55 of BOEING_2022_10K.pdf", a.Answer, a.Citations)
}
