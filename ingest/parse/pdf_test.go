package parse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPDFText(t *testing.T) {
	data := newPDF().pages(
		show("First page of two."),
		show("Second page, with \x93quotes\x94 and 50% of it."),
	).object(4, "<</Title (A Title) /Author (Ann) /CreationDate (D:20240203)>>").bytes("/Info 4 0 R")
	text, err := parseBytes(t, "x.pdf", data)
	if err != nil {
		t.Fatal(err)
	}
	if want := "First page of two.\n\nSecond page, with “quotes” and 50% of it."; text.Body != want {
		t.Errorf("got %q, want %q", text.Body, want)
	}
	if text.Title != "A Title" || text.Pages != 2 || text.MIME != "application/pdf" || text.Properties["created"] != "2024-02-03" {
		t.Errorf("title %q, pages %d, properties %v", text.Title, text.Pages, text.Properties)
	}
	if text.Blocks[0].Page != 1 || text.Blocks[1].Page != 2 {
		t.Errorf("pages of blocks: %v", text.Blocks)
	}
}

// TestHostilePDF holds what would make the library use all memory or time.
// Each file must end with an error of its own or with the text that can be
// read, in bounded time.
func TestHostilePDF(t *testing.T) {
	size := 100 << 20
	if raced {
		size = 1 << 20
	}
	line := "(xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx) Tj\n"
	bomb := deflate(t, bytes.Repeat([]byte(line), size/len(line)))
	deep := strings.Repeat("[", size/50)
	tests := []struct {
		name string
		data []byte
		want error // nil: text comes out
	}{
		{"entries of the cross-reference stream with huge fields",
			newPDF().withXRefStream("/Size 3 /W [1 40000000000 1]", "xxxx"), ErrLimit},
		{"a cross-reference stream of huge size",
			newPDF().withXRefStream("/Size 900000000 /W [1 1 1]", "xxxx"), ErrLimit},
		{"a cross-reference stream of impossible size",
			newPDF().withXRefStream("/Size 9000000000000000000 /W [1 1 1]", "xxxx"), ErrDamaged},
		{"an index far out",
			newPDF().withXRefStream("/Size 3 /W [1 1 1] /Index [2000000000 1]", "\x01\x01\x01"), ErrLimit},
		{"a table that starts far out",
			[]byte("%PDF-1.4\nxref\n3000000000 1\n0000000000 00000 n \ntrailer\n<</Size 1>>\nstartxref\n9\n%%EOF\n" + strings.Repeat(" ", 40)), ErrLimit},
		{"pages that are their own children",
			newPDF().object(1, "<</Type /Catalog /Pages 2 0 R>>").object(2, "<</Type /Pages /Count 9 /Kids [2 0 R 2 0 R 1 0 R]>>").bytes(""), ErrNoText},
		{"a page that is its own parent and content",
			newPDF().object(1, "<</Type /Catalog /Pages 2 0 R>>").object(2, "<</Type /Page /Parent 2 0 R /Contents 2 0 R>>").bytes(""), ErrNoText},
		{"an array of contents that holds itself",
			newPDF().object(1, "<</Type /Catalog /Pages 2 0 R>>").object(2, "<</Type /Page /Contents 3 0 R>>").object(3, "[3 0 R 3 0 R]").bytes(""), ErrNoText},
		{"a stream longer than the file",
			newPDF().pages(show("Read me."), show("Me too.")).object(11, "<</Length 99999999>>\nstream\n"+show("Read me.")+"\nendstream").bytes(""), nil},
		{"a length that is a reference to itself",
			newPDF().pages("x", show("Read me.")).object(11, "<</Length 11 0 R>>\nstream\n"+show("x")+"\nendstream").bytes(""), nil},
		{"a page that unpacks to 100 MB",
			newPDF().pages("x", show("Read me.")).stream(11, "/Filter /FlateDecode", bomb).bytes(""), nil},
		{"a predictor with huge rows",
			newPDF().pages("x", show("Read me.")).stream(11, "/Filter /FlateDecode /DecodeParms <</Predictor 12 /Columns 80000000000>>", bomb).bytes(""), nil},
		{"a font with endless widths",
			newPDF().pages(show("Read me.")).object(3, "<</Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<</W [0 4294967295 500]>>]>>").bytes(""), ErrNoText},
		{"forms that draw each other",
			newPDF().pages("/X Do /X Do "+show("Read me.")).object(2, "<</Type /Pages /Count 1 /Kids [10 0 R] /Resources <</Font <</F1 3 0 R>> /XObject <</X 40 0 R>>>>>>").
				stream(40, "/Subtype /Form", strings.Repeat("/X Do ", 50)).bytes(""), nil},
		{"deep arrays in a page",
			newPDF().pages(deep, show("Read me.")).bytes(""), nil},
		{"deep arrays in the file",
			newPDF().pages(show("Read me.")).object(10, deep).bytes(""), ErrDamaged},
		{"an object stream that lies in itself",
			objectStreamInItself(), ErrDamaged},
		{"only its header", []byte("%PDF-1.7\n"), ErrDamaged},
	}
	p := newParser(t, Config{Timeout: 30 * time.Second})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := p.Parse(t.Context(), "x.pdf", inMemory(tt.data))
			if tt.want == nil {
				if err != nil || !strings.Contains(text.Body, "Read me.") {
					t.Errorf("got %.80q, %v", text.Body, err)
				}
				return
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// TestEndlessPDF holds what the library would read for ever.
func TestEndlessPDF(t *testing.T) {
	tests := map[string][]byte{
		"previous tables in a circle":                    cyclicPrev(),
		"an object stream that extends itself":           objectStreamCircle("/Extends 5 0 R"),
		"an object stream with a huge number of objects": objectStreamCircle("/N 9000000000000"),
	}
	p := newParser(t, Config{Stall: 300 * time.Millisecond})
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := p.Parse(t.Context(), "x.pdf", inMemory(data)); !errors.Is(err, ErrLimit) {
				t.Errorf("got %v, want %v", err, ErrLimit)
			}
		})
	}
}

// cyclicPrev is a file whose cross-reference table names itself as the one
// before.
func cyclicPrev() []byte {
	const head = "%PDF-1.4\n"
	return fmt.Appendf([]byte(head), "xref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 1 /Prev %d>>\nstartxref\n%d\n%%%%EOF\n%s", len(head), len(head), strings.Repeat(" ", 60))
}

// objectStreamCircle is a file whose catalog lies in object stream 5, which
// does not hold it.
func objectStreamCircle(entries string) []byte {
	m := newPDF()
	m.stream(5, "/Type /ObjStm /First 4 "+entries, "7 0 ")
	at := m.offsets[5]
	// Entries of objects 0 to 5: type, offset or stream, index.
	data := "\x00\x00\x00\x00" + "\x02\x00\x05\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + string([]byte{1, byte(at >> 8), byte(at), 0})
	return m.withXRefStream("/Size 6 /W [1 2 1]", data)
}

// objectStreamInItself is a file whose object stream 5 is said to lie in
// object stream 5.
func objectStreamInItself() []byte {
	m := newPDF()
	m.object(5, "null")
	data := "\x00\x00\x00\x00" + "\x02\x00\x05\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x02\x00\x05\x00"
	return m.withXRefStream("/Size 6 /W [1 2 1]", data)
}

func TestPDFWithoutText(t *testing.T) {
	blank := newPDF().pages("").bytes("")
	tests := []struct {
		name string
		data []byte
		want error
		says string
	}{
		{"no pages", newPDF().pages().bytes(""), ErrNoText, "no pages"},
		{"blank", newPDF().pages("", " ").bytes(""), ErrNoText, "blank"},
		{"cut off before its text", blank[:len(blank)-40], ErrDamaged, "no text could be found in what is left"},
		{"a scan", newPDF().pages("q 600 0 0 700 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \xff\x00\xfe EI Q").bytes(""), ErrNoText, "OCR"},
		{"glyphs without characters", newPDF().pages("BT /F1 10 Tf (\x01\x02\x03\x04) Tj ET").
			object(3, "<</Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<</DW 500>>]>>").bytes(""), ErrNoText, "OCR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseBytes(t, "x.pdf", tt.data)
			if !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.says) {
				t.Errorf("got %v, want %v that says %q", err, tt.want, tt.says)
			}
		})
	}
}

func TestPDFWithPassword(t *testing.T) {
	o := strings.Repeat("o", 32)
	data := newPDF().pages(show("secret")).
		object(4, fmt.Sprintf("<</Filter /Standard /V 1 /R 2 /P -4 /O (%s) /U (%s)>>", o, o)).
		bytes("/Encrypt 4 0 R /ID [(id) (id)]")
	_, err := parseBytes(t, "x.pdf", data)
	if !errors.Is(err, ErrEncrypted) {
		t.Errorf("got %v, want %v", err, ErrEncrypted)
	}
}

func TestCancelledParsing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newParser(t, Config{}).Parse(ctx, "x.pdf", inMemory(newPDF().pages(show("x")).bytes("")))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestParserWithoutChildren(t *testing.T) {
	p := newParser(t, Config{Executable: "/bin/true"})
	_, err := p.Parse(t.Context(), "x.pdf", inMemory(newPDF().pages(show("x")).bytes("")))
	if err == nil || !strings.Contains(err.Error(), "ChildMain") {
		t.Errorf("got %v, want an error that names ChildMain", err)
	}
	for _, sentinel := range failureCodes {
		if errors.Is(err, sentinel) {
			t.Errorf("%v blames the file", err)
		}
	}
}

func TestParsingIsDeterministic(t *testing.T) {
	data := newPDF().pages(show("HEADING ONE", "Text of it.", "Left      Right   12"), show("More.", "- a", "- b")).bytes("")
	first, err := parseBytes(t, "x.pdf", data)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := parseBytes(t, "x.pdf", data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatal(diff)
		}
	}
}

// onDisk is a store.Blob as a folder of blobs gives it.
type onDisk struct{ *os.File }

func (f onDisk) Size() int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

func TestFileOnDiskIsNotCopied(t *testing.T) {
	name := filepath.Join(t.TempDir(), "blob")
	if err := os.WriteFile(name, newPDF().pages(show("Read me.")).bytes(""), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	// A temporary file cannot be made there.
	p := newParser(t, Config{TempDir: filepath.Join(name, "none")})
	for range 2 { // the blob stays usable
		text, err := p.Parse(t.Context(), "x.pdf", onDisk{file})
		if err != nil || text.Body != "Read me." {
			t.Errorf("got %q, %v", text.Body, err)
		}
	}
}

func TestNoTemporaryFilesAreLeft(t *testing.T) {
	dir := t.TempDir()
	p := newParser(t, Config{TempDir: dir})
	if _, err := p.Parse(t.Context(), "x.pdf", inMemory(newPDF().pages(show("x")).bytes(""))); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// inObjectStream is a file whose catalog, page tree and page lie in an object
// stream.
func inObjectStream(t *testing.T) *pdfMaker {
	objects := []string{"<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Count 1 /Kids [7 0 R] /Resources <</Font <</F1 3 0 R>>>>>>", "<</Type /Page /Parent 2 0 R /Contents 8 0 R>>"}
	ids := []int{1, 2, 7}
	var index, data strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&index, "%d %d ", ids[i], data.Len())
		data.WriteString(o + "\n")
	}
	m := newPDF()
	m.object(3, "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>")
	m.stream(8, "", show("Read me."))
	return m.stream(5, fmt.Sprintf("/Type /ObjStm /N 3 /First %d /Filter /FlateDecode", index.Len()), deflate(t, []byte(index.String()+data.String())))
}

func TestDamagedPDFIsRepaired(t *testing.T) {
	whole := string(newPDF().pages(show("Read me."), show("Me too.")).bytes(""))
	cut := whole[:strings.Index(whole, "2 0 obj")] // catalog and pages are there, the page tree is not
	tests := []struct {
		name, data, warning string
	}{
		{"version 2.0", strings.Replace(whole, "%PDF-1.7", "%PDF-2.0", 1), ""},
		{"a header with more in it", strings.Replace(whole, "%PDF-1.7\n%\xe2", "%PDF-1.7 x%\xe2", 1), ""},
		{"mail around it", "From: x\r\n\r\n" + whole + strings.Repeat("\r\nmore", 50), ""},
		{"data behind it", whole + strings.Repeat("\r\nmore", 50), ""},
		{"a wrong place of the table", strings.Replace(whole, "startxref\n", "startxref\n9", 1), "damaged"},
		{"wrong places in the table", strings.ReplaceAll(whole, "00000 n", "00001 n"), "damaged"},
		{"cut off behind the pages", cut, "cut off"},
		{"a table that is lost, and object streams", inObjectStream(t).out.String(), "cut off"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := parseBytes(t, "x.pdf", []byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(text.Body, "Read me.") {
				t.Errorf("got %q", text.Body)
			}
			if warnings := strings.Join(text.Warnings, "; "); (tt.warning == "") != (warnings == "") || !strings.Contains(warnings, tt.warning) {
				t.Errorf("warnings %q, want %q", warnings, tt.warning)
			}
		})
	}
}

// TestPoorTextIsSaidToBe reads files of which little, or nothing good, comes.
func TestPoorTextIsSaidToBe(t *testing.T) {
	scan := "q 600 0 0 700 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \xff\x00\xfe EI Q "
	for _, tt := range []struct {
		name string
		data []byte
		says string // "" for no warning
	}{
		{"a scan with stamps", newPDF().pages(scan+show("Received 1"), scan+show("Received 2"), show("A page of text that is long enough to be one.")).bytes(""), "pages 1, 2: only images"},
		{"a cover and text", newPDF().pages(scan+show("Cover"), show("A page of text that is long enough to be one."), show("And another one of the same kind as that.")).bytes(""), ""},
		{"broken characters", wordFile(t, paragraphs("ab\xff\xff\xff\xffcd")), "4 characters of the text"},
	} {
		text, err := parseBytes(t, "x", tt.data)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(text.Warnings, "; "); (tt.says == "") != (got == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.says)
		}
	}
}
