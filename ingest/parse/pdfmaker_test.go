package parse

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
)

// pdfMaker writes PDF files for tests, well-formed ones and others.
type pdfMaker struct {
	out     bytes.Buffer
	offsets map[int]int
	highest int
}

func newPDF() *pdfMaker {
	m := &pdfMaker{offsets: map[int]int{}}
	m.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	return m
}

// object adds an indirect object.
func (m *pdfMaker) object(id int, body string) *pdfMaker {
	m.offsets[id] = m.out.Len()
	m.highest = max(m.highest, id)
	fmt.Fprintf(&m.out, "%d 0 obj\n%s\nendobj\n", id, body)
	return m
}

// stream adds a stream; dict holds its entries but for the length.
func (m *pdfMaker) stream(id int, dict, data string) *pdfMaker {
	return m.object(id, fmt.Sprintf("<<%s /Length %d>>\nstream\n%s\nendstream", dict, len(data), data))
}

// bytes ends the file with a table of its objects.
func (m *pdfMaker) bytes(trailer string) []byte {
	start := m.out.Len()
	fmt.Fprintf(&m.out, "xref\n0 %d\n0000000000 65535 f \n", m.highest+1)
	for id := 1; id <= m.highest; id++ {
		if at, ok := m.offsets[id]; ok {
			fmt.Fprintf(&m.out, "%010d 00000 n \n", at)
		} else {
			m.out.WriteString("0000000000 65535 f \n")
		}
	}
	fmt.Fprintf(&m.out, "trailer\n<</Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n", m.highest+1, trailer, start)
	return m.out.Bytes()
}

// withXRefStream ends the file with a cross-reference stream whose dictionary
// and data are as given; "" for data means one right entry a made object.
func (m *pdfMaker) withXRefStream(dict, data string) []byte {
	start := m.out.Len()
	fmt.Fprintf(&m.out, "%d 0 obj\n<</Type /XRef /Root 1 0 R %s /Length %d>>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n",
		m.highest+1, dict, len(data), data, start)
	return m.out.Bytes()
}

// pages adds a catalog (1), a page tree (2), a font (3) and one page for each
// content stream, from object 10 on.
func (m *pdfMaker) pages(contents ...string) *pdfMaker {
	m.object(1, "<</Type /Catalog /Pages 2 0 R>>")
	m.object(3, "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>")
	var kids []string
	for i, content := range contents {
		page := 10 + 2*i
		kids = append(kids, fmt.Sprintf("%d 0 R", page))
		m.object(page, fmt.Sprintf("<</Type /Page /Parent 2 0 R /Contents %d 0 R>>", page+1))
		m.stream(page+1, "", content)
	}
	return m.object(2, fmt.Sprintf("<</Type /Pages /Count %d /Kids [%s] /MediaBox [0 0 612 792] /Resources <</Font <</F1 3 0 R>>>>>>",
		len(contents), strings.Join(kids, " ")))
}

// show is a content stream that writes lines from the top of a page, 12 points
// apart.
func show(lines ...string) string {
	var out strings.Builder
	out.WriteString("BT /F1 10 Tf 12 TL 72 720 Td\n")
	for _, line := range lines {
		fmt.Fprintf(&out, "(%s) Tj T*\n", strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(line))
	}
	out.WriteString("ET")
	return out.String()
}

func deflate(t testing.TB, data []byte) string {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
