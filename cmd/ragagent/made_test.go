package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// madeWords makes texts of made-up words, the frequent ones short, for
// benchmarks that need files of a given size.
type madeWords struct{ zipf *rand.Zipf }

func newMadeWords(seed uint64) madeWords {
	return madeWords{rand.NewZipf(rand.New(rand.NewPCG(seed, 1)), 1.2, 4, 50_000)}
}

func (m madeWords) word() string {
	var word [8]byte
	n, at := m.zipf.Uint64()+27, 0
	for ; n > 0; n /= 26 {
		word[at] = 'a' + byte(n%26)
		at++
	}
	return string(word[:at])
}

// sentences returns n sentences of about 70 bytes.
func (m madeWords) sentences(n int) string {
	var text strings.Builder
	for i := range n {
		if i > 0 {
			text.WriteByte(' ')
		}
		for w := range 14 {
			if w > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(m.word())
		}
		text.WriteByte('.')
	}
	return text.String()
}

// markdown returns a document of sections with a paragraph or two each.
func (m madeWords) markdown(sections int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n", m.sentences(1))
	for i := range sections {
		fmt.Fprintf(&text, "\n## Part %d: %s %s\n\n%s\n\n%s\n", i+1, m.word(), m.word(), m.sentences(5), m.sentences(4))
	}
	return text.String()
}

// pdf writes a PDF of so many pages with 45 lines each to out.
func (m madeWords) pdf(out io.Writer, pages int) error {
	w := &countingWriter{out: out}
	offsets := make([]int64, 0, 4+2*pages)
	object := func(body string) {
		offsets = append(offsets, w.n)
		fmt.Fprintf(w, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	fmt.Fprint(w, "%PDF-1.4\n")
	object("<</Type /Catalog /Pages 3 0 R>>")
	object("<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object(fmt.Sprintf("<</Type /Pages /Count %d /Kids [%s] /MediaBox [0 0 612 792] /Resources <</Font <</F1 2 0 R>>>>>>", pages, kids.String()))
	var content bytes.Buffer
	for i := range pages {
		content.Reset()
		content.WriteString("BT /F1 10 Tf 14 TL 72 720 Td\n")
		for range 45 {
			fmt.Fprintf(&content, "(%s) Tj T*\n", m.sentences(1))
		}
		content.WriteString("ET")
		object(fmt.Sprintf("<</Type /Page /Parent 3 0 R /Contents %d 0 R>>", 5+2*i))
		object(fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", content.Len(), content.Bytes()))
	}
	table := w.n
	fmt.Fprintf(w, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(w, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(w, "trailer\n<</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return w.err
}

// countingWriter knows how much was written, and the first error.
type countingWriter struct {
	out io.Writer
	n   int64
	err error
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.out.Write(p)
	w.n += int64(n)
	w.err = err
	return n, err
}
