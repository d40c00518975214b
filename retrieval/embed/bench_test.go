package embed

import (
	"context"
	"strings"
	"testing"
)

// passage is what the embedder mostly sees: some 800 characters of prose with
// names, numbers and a few words that are no piece.
var passage = strings.Repeat(`The aeroelastic flutter of swept wings was measured in a hypersonic tunnel
at Mach 6.8; Crigler and Najjar (1952) had found that unrotatable struts resonate near 34.5 Hz. An annual
subscription is refunded within 30 days, unless section 1024.14 says otherwise. `, 3)

func BenchmarkEmbed(b *testing.B) {
	s := static(b)
	b.SetBytes(int64(len(passage)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.EmbedQuery(context.Background(), passage); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(s.tokens(passage)))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
}

func BenchmarkTokenize(b *testing.B) {
	s := static(b)
	b.SetBytes(int64(len(passage)))
	var w word
	ids := s.tokens(passage)
	for b.Loop() {
		ids = s.tokenizer.end(s.tokenizer.encode(ids[:0], &w, passage), &w)
	}
}

func BenchmarkNewStatic(b *testing.B) {
	for b.Loop() {
		static(b)
	}
}

func BenchmarkFingerprint(b *testing.B) {
	for b.Loop() {
		static(b).Fingerprint()
	}
}
