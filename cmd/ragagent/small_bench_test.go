package main

import (
	"context"
	"testing"
	"time"
)

// smallDocs are the documents of BenchmarkSmallTexts, Markdown of about 2 KB.
const smallDocs = 2_000

// BenchmarkSmallTexts uploads 2,000 small texts over HTTP to a server that does
// nothing else, and as many while questions are asked, and waits each time until
// all are ready.
func BenchmarkSmallTexts(b *testing.B) {
	for b.Loop() {
		srv := startServer(b, b.TempDir())
		api := srv.client()
		if err := api.ensureKnowledgeBase(b.Context(), "kb"); err != nil {
			b.Fatal(err)
		}
		words, files := newMadeWords(9), make([][]byte, 2*smallDocs)
		for i := range files {
			files[i] = []byte(words.markdown(3))
		}
		begin := time.Now()
		sendAll(b, api, files[:smallDocs])
		b.ReportMetric(smallDocs/time.Since(begin).Seconds(), "idle-documents/s")

		ctx, done := context.WithCancel(b.Context())
		begin = time.Now()
		go func() {
			defer done()
			sendAll(b, api, files[smallDocs:])
		}()
		asked := askFor(b, api, newMadeWords(10), func(int) bool { return ctx.Err() == nil })
		b.ReportMetric(smallDocs/time.Since(begin).Seconds(), "asked-documents/s")
		b.ReportMetric(float64(len(asked)), "questions")
		srv.kill()
	}
}
