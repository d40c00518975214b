package lexical_test

import (
	"fmt"
	"strings"
	"testing"

	"ragagent/rerank/lexical"
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
)

// The second stage on 100 candidates of 800 characters, with titles that their
// neighbours name now and then. One operation is one question.
func BenchmarkRerank(b *testing.B) {
	analyzer := analysis.New()
	r, err := lexical.New(lexical.Config{Analyzer: analyzer, Statistics: weights{}})
	if err != nil {
		b.Fatal(err)
	}
	hits := make([]retrieval.Hit, 100)
	for i := range hits {
		var text strings.Builder
		for n := 0; text.Len() < 800; n++ {
			fmt.Fprintf(&text, "Station%d of the Northern%d railway opened; ", (i*37+n*n)%211, (i*11+n)%97)
		}
		hits[i] = hit(fmt.Sprint("chunk", i), .9-float64(i%71)/100,
			fmt.Sprintf("Northern%d Railway", i), text.String())
		hits[i].Terms = analyzer.Terms(hits[i].Text)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Rerank(b.Context(), "When did Station12 of the Northern railway open in 1887?", hits); err != nil {
			b.Fatal(err)
		}
	}
}
