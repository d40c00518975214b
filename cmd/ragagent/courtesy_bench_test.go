package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"
)

// The documents of BenchmarkCourtesy: one in ten is a PDF of three pages, the
// others are Markdown of about 4 KB.
const (
	courtesyBefore = 500   // that are there before it begins
	courtesyDocs   = 2_000 // that are ingested while questions are asked
	courtesyAsked  = 400   // questions that tell the idle pace, before and after
)

// BenchmarkCourtesy asks one question after the other over HTTP, first of an
// idle server, then while it ingests 2,000 documents, then of the idle server
// again, which now has all of them. Its last figure is how many times the 95th
// percentile grows; the idle one is the mean of before and after.
func BenchmarkCourtesy(b *testing.B) {
	for b.Loop() {
		courtesy(b)
	}
}

func courtesy(b *testing.B) {
	srv := startServer(b, b.TempDir())
	defer srv.kill()
	api := srv.client()
	if err := api.ensureKnowledgeBase(b.Context(), "kb"); err != nil {
		b.Fatal(err)
	}
	files := make([][]byte, courtesyBefore+courtesyDocs)
	words := newMadeWords(5)
	for i := range files {
		var file bytes.Buffer
		if i%10 != 9 {
			file.WriteString(words.markdown(6))
		} else if err := words.pdf(&file, 3); err != nil {
			b.Fatal(err)
		}
		files[i] = file.Bytes()
	}
	sendAll(b, api, files[:courtesyBefore])
	before := askFor(b, api, newMadeWords(6), func(n int) bool { return n < courtesyAsked })

	ctx, done := context.WithCancel(b.Context())
	begin := time.Now()
	go func() {
		defer done()
		sendAll(b, api, files[courtesyBefore:])
	}()
	during := askFor(b, api, newMadeWords(7), func(int) bool { return ctx.Err() == nil })
	b.ReportMetric(courtesyDocs/time.Since(begin).Seconds(), "documents/s")
	after := askFor(b, api, newMadeWords(8), func(n int) bool { return n < courtesyAsked })

	for _, m := range []struct {
		name  string
		times []time.Duration
	}{{"before", before}, {"during", during}, {"after", after}} {
		b.ReportMetric(ms(percentile(m.times, 50)), m.name+"-p50-ms")
		b.ReportMetric(ms(percentile(m.times, 95)), m.name+"-p95-ms")
	}
	b.ReportMetric(float64(len(during)), "questions-during")
	b.ReportMetric(2*ms(percentile(during, 95))/(ms(percentile(before, 95))+ms(percentile(after, 95))), "p95-ratio")
}

// sendAll uploads files, four at a time, and waits until all are ready.
func sendAll(b *testing.B, api *client, files [][]byte) {
	jobs := make([]string, len(files))
	work := make(chan int)
	var senders sync.WaitGroup
	for range uploadsAtOnce {
		senders.Go(func() {
			for i := range work {
				doc, err := api.upload(b.Context(), "kb", fmt.Sprintf("%p.md", &files[i]), bytes.NewReader(files[i]))
				if err != nil {
					b.Errorf("upload: %v", err)
				}
				jobs[i] = doc.JobID
			}
		})
	}
	for i := range files {
		work <- i
	}
	close(work)
	senders.Wait()
	for _, id := range jobs {
		resp, err := api.send(b.Context(), "GET", "/api/v1/jobs/"+id+"/events", nil, "", "text/event-stream")
		if err != nil {
			b.Errorf("job %s: %v", id, err)
			return
		}
		last, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Contains(last, []byte(`"status":"ready"`)) {
			b.Errorf("job %s: %v %s", id, err, last)
			return
		}
	}
}

// askFor asks questions of five words, one after the other, as long as more
// says so, and returns how long each took.
func askFor(b *testing.B, api *client, words madeWords, more func(asked int) bool) []time.Duration {
	var times []time.Duration
	for more(len(times)) {
		query := fmt.Sprintf("%s %s %s %s %s", words.word(), words.word(), words.word(), words.word(), words.word())
		begin := time.Now()
		err := api.post(b.Context(), "/api/v1/retrieve", map[string]any{"query": query, "knowledge_bases": []string{"kb"}}, nil)
		if err != nil {
			b.Errorf("retrieve: %v", err)
			return []time.Duration{0}
		}
		times = append(times, time.Since(begin))
	}
	return times
}

func percentile(times []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}
