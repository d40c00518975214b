package parse

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// allocated returns the bytes that do allocates in this process, freed or not:
// more than it ever holds.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestSmallTextOfGreatCost holds small files whose syntax tree is huge, or
// whose reading takes time beyond proportion. They must not cost this process
// more than they are long, some megabytes aside; what the child may take is
// limited by the system.
func TestSmallTextOfGreatCost(t *testing.T) {
	table := func(columns, rows int) string {
		return strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat("|b\n", rows)
	}
	tests := []struct {
		name, text string
	}{
		{"2,000 columns, 1,000 rows", table(2000, 1000)},
		{"5,000 columns, 4,000 rows", table(5000, 4000)},
		{"a table in a quote", "> " + strings.ReplaceAll(table(5000, 4000), "\n", "\n> ")},
		{"many tables", strings.Repeat(table(100, 100)+"\n", 200)},
		{"footnotes", strings.Repeat("[^1] ", 90_000)},
		{"notes of footnotes", manyNotes(20_000)},
		{"marks that an invisible character parts", strings.Repeat("|\u00ad", 2000) + "\n" + strings.Repeat("|-", 2000) + "\n" + strings.Repeat("|\r", 5000)},
		{"comments in front matter", "---\n" + strings.Repeat("a: b # c\n\n# d\n", 3000) + "---\nneedle\n"},
		{"blanks", strings.Repeat(" \n", 3<<20)},
	}
	p := newParser(t, Config{Memory: 256 << 20, Stall: 2 * time.Second})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := []byte(tt.text)
			if !strings.Contains(tt.text, "needle") {
				data = []byte("needle\n\n" + tt.text)
			}
			var text Text
			var err error
			cost := allocated(func() { text, err = p.Parse(t.Context(), "x.md", inMemory(data)) })
			if err != nil || !strings.Contains(text.Body, "needle") {
				t.Fatalf("got %.40q, %v", text.Body, err)
			}
			t.Logf("%d KB: %d MB allocated, warnings %q", len(data)>>10, cost>>20, text.Warnings)
			if limit := uint64(16*len(data) + 32<<20); cost > limit {
				t.Errorf("%d MB allocated for a file of %d KB", cost>>20, len(data)>>10)
			}
		})
	}
}

func manyNotes(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "[^%d]: note[^%d]\n\n", i, n-i)
	}
	return out.String()
}

// TestSmallPDFOfManyLines is a small file whose pages share one content of
// short lines: 21 million of them, each of which would take a hundred bytes.
func TestSmallPDFOfManyLines(t *testing.T) {
	const pages, lines = 30_000, 700
	m := newPDF().object(1, "<</Type /Catalog /Pages 2 0 R>>").
		object(3, "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>").
		stream(4, "/Filter /FlateDecode", deflate(t, []byte("BT /F1 1 Tf 1 TL 72 780 Td"+strings.Repeat("(a)'", lines)+" ET")))
	var kids strings.Builder
	for i := range pages {
		m.object(10+i, "<</Type /Page /Parent 2 0 R /Contents 4 0 R>>")
		fmt.Fprintf(&kids, "%d 0 R ", 10+i)
	}
	data := m.object(2, fmt.Sprintf("<</Type /Pages /Count %d /Kids [%s] /MediaBox [0 0 612 792] /Resources <</Font <</F1 3 0 R>>>>>>", pages, &kids)).bytes("")
	p := newParser(t, Config{})
	var err error
	cost := allocated(func() { _, err = p.Parse(t.Context(), "x.pdf", inMemory(data)) })
	if !errors.Is(err, ErrLimit) {
		t.Errorf("got %v, want %v", err, ErrLimit)
	}
	t.Logf("%d KB: %d MB allocated, %v", len(data)>>10, cost>>20, err)
	if cost > 256<<20 {
		t.Errorf("%d MB allocated for a file of %d KB", cost>>20, len(data)>>10)
	}
}

// TestCancelledText is a text that takes long: who asks for its end gets it.
func TestCancelledText(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(50*time.Millisecond, cancel)
	data := []byte("x\n\n" + manyNotes(200_000))
	if _, err := newParser(t, Config{}).Parse(ctx, "x.md", inMemory(data)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
