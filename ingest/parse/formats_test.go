package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// file is one of a format.
type file struct {
	name string
	mime string
	data []byte
	page int // of the block that holds "needle"
}

// oneOfEach returns a file of each format, with "needle" in its text.
func oneOfEach(t testing.TB) []file {
	t.Helper()
	officeMIME := "application/vnd.openxmlformats-officedocument."
	mail := "From: Ann <ann@example.com>\r\nTo: bob@example.com\r\nSubject: Hello\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nA needle in a mail.\r\n"
	return []file{
		{"x.pdf", "application/pdf", newPDF().pages(show("First."), show("A needle.")).bytes(""), 2},
		{"x.html", "text/html", []byte("<!doctype html><body><h1>T</h1><p>needle</p>"), 0},
		{"x.md", "text/markdown", []byte("# T\n\nneedle\n"), 0},
		{"x.go", "text/plain", []byte("package needle\n"), 0},
		{"x.txt", "text/plain", []byte("needle\n"), 0},
		{"x.csv", "text/csv", []byte("Name,Sum\nneedle,1\nb,2\n"), 0},
		{"x.tsv", "text/tab-separated-values", []byte("Name\tSum\nneedle\t1\nb\t2\n"), 0},
		{"x.json", "application/json", []byte(`[{"name": "needle", "sum": 1}, {"name": "b"}]`), 0},
		{"x.jsonl", "application/jsonl", []byte("{\"name\": \"needle\"}\n{\"name\": \"b\"}\n"), 0},
		{"x.eml", "message/rfc822", []byte(mail), 0},
		{"x.rtf", "application/rtf", []byte(`{\rtf1\ansi A \b needle\b0  in RTF.\par}`), 0},
		{"x.epub", "application/epub+zip", epubFile(t, "<h1>T</h1><p>A needle.</p>"), 0},
		{"x.docx", officeMIME + "wordprocessingml.document", wordFile(t, paragraphs("First.", "A needle.")), 0},
		{"x.pptx", officeMIME + "presentationml.presentation", slidesFile(t, "A needle."), 1},
		{"x.xlsx", officeMIME + "spreadsheetml.sheet", workbookFile(t, `<row r="1"><c r="A1" t="inlineStr"><is><t>needle</t></is></c><c r="B1"><v>1</v></c></row>`), 1},
		{"x.odt", "application/vnd.oasis.opendocument.text", odfFile(t, "text", "<office:text><text:p>A needle.</text:p></office:text>"), 0},
		{"x.ods", "application/vnd.oasis.opendocument.spreadsheet", odfFile(t, "spreadsheet", `<office:spreadsheet><table:table table:name="S"><table:table-row><table:table-cell><text:p>needle</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`), 1},
		{"x.odp", "application/vnd.oasis.opendocument.presentation", odfFile(t, "presentation", `<office:presentation><draw:page><draw:frame><draw:text-box><text:p>needle</text:p></draw:text-box></draw:frame></draw:page></office:presentation>`), 1},
	}
}

// TestEveryFormat reads one of each: what it is told to be, that its blocks lie
// where they should, on their pages; and, of those that are no plain text, that
// the name does not matter.
func TestEveryFormat(t *testing.T) {
	p := newParser(t, Config{})
	for _, f := range oneOfEach(t) {
		names := []string{f.name}
		if trait := traits[format(strings.TrimPrefix(f.name, "x."))]; trait.mime != "" && !trait.characters {
			names = append(names, "none", "wrong.txt", "wrong.pdf", "wrong.md")
		}
		for _, name := range names {
			text, err := p.Parse(t.Context(), name, inMemory(f.data))
			if err != nil {
				t.Errorf("%s named %s: %v", f.name, name, err)
				continue
			}
			if text.MIME != f.mime {
				t.Errorf("%s named %s: %s", f.name, name, text.MIME)
			}
			if why := brokenText(text); why != "" {
				t.Errorf("%s: %s", f.name, why)
			}
			found := -1
			for _, b := range text.Blocks {
				if strings.Contains(text.Body[b.Span.Start:b.Span.End], "needle") {
					found = b.Page
				}
			}
			if found != f.page {
				t.Errorf("%s: the needle is on page %d of %q, want %d", f.name, found, text.Body, f.page)
			}
			if len(text.Warnings) > 0 {
				t.Errorf("%s: %q", f.name, text.Warnings)
			}
		}
	}
}

// TestFilesInAFile sends a mail with one of each format attached.
func TestFilesInAFile(t *testing.T) {
	var mail strings.Builder
	mail.WriteString("From: a@example.com\r\nTo: b@example.com\r\nSubject: Files\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n")
	files := oneOfEach(t)
	for _, f := range files {
		fmt.Fprintf(&mail, "--B\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=\"%s\"\r\nContent-Transfer-Encoding: base64\r\n\r\n%s\r\n", f.name, base64Lines(f.data))
	}
	mail.WriteString("--B--\r\n")
	text, err := parseBytes(t, "x", []byte(mail.String()))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.Body, "needle"); n != len(files) {
		t.Errorf("%d needles of %d files in %q, warnings %q", n, len(files), text.Body, text.Warnings)
	}
	if why := brokenText(text); why != "" || text.Pages != 0 {
		t.Error(why, text.Pages)
	}
}

// TestMailInMailInMail nests until it is enough.
func TestMailInMailInMail(t *testing.T) {
	mail := "From: a@example.com\r\nTo: b@example.com\r\nSubject: core\r\n\r\ninnermost\r\n"
	for i := range 12 {
		mail = fmt.Sprintf("From: a@example.com\r\nTo: b@example.com\r\nSubject: shell %d\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=B%d\r\n\r\n--B%d\r\nContent-Type: text/plain\r\n\r\nlevel %d\r\n--B%d\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=x.eml\r\nContent-Transfer-Encoding: base64\r\n\r\n%s\r\n--B%d--\r\n",
			i, i, i, i, i, base64Lines([]byte(mail)), i)
	}
	text, err := parseBytes(t, "x.eml", []byte(mail))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.Body, "level 11") || strings.Contains(text.Body, "innermost") || len(text.Warnings) == 0 {
		t.Errorf("%q, warnings %q", text.Body, text.Warnings)
	}
}

func TestOldAndLockedOfficeFiles(t *testing.T) {
	ole := func(stream string) []byte {
		data := "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 1016)
		for _, c := range stream {
			data += string(c) + "\x00"
		}
		return []byte(data + strings.Repeat("\x00", 512))
	}
	for _, tt := range []struct {
		data []byte
		want error
		says string
	}{
		{ole("EncryptedPackage"), ErrEncrypted, "password"},
		{ole("WordDocument"), ErrUnsupported, ".docx"},
		{ole("Workbook"), ErrUnsupported, ".xlsx"},
		{ole("PowerPoint Document"), ErrUnsupported, ".pptx"},
		{ole("Something"), ErrUnsupported, "old Office"},
		{zipped(t, "a.txt", "x"), ErrUnsupported, "ZIP"},
		{zipped(t, "[Content_Types].xml", typesOf("ms-excel.sheet.binary.macroEnabled.main"), "xl/workbook.bin", "x"), ErrUnsupported, ".xlsb"},
	} {
		_, err := parseBytes(t, "x.docx", tt.data)
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("got %v, want %v that says %q", err, tt.want, tt.says)
		}
	}
}

// TestWhatOnlyLooksLikeAFormat is read as text in the end.
func TestWhatOnlyLooksLikeAFormat(t *testing.T) {
	for name, data := range map[string]string{
		"x.json":  "{ not: 'json', needle }",
		"x.jsonl": "{needle\n",
		"x.csv":   "needle",
	} {
		text, err := parseBytes(t, name, []byte(data))
		if err != nil || !strings.Contains(text.Body, "needle") {
			t.Errorf("%s: %q, %v", name, text.Body, err)
		}
	}
}

func BenchmarkSmallFiles(b *testing.B) {
	p := newParser(b, Config{})
	lines := strings.Split(strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 40), "\n")
	for name, data := range map[string][]byte{
		"pdf":  newPDF().pages(show(lines...)).bytes(""),
		"docx": wordFile(b, paragraphs(lines...)),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Parse(b.Context(), "x", inMemory(data)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "files/s")
		})
	}
}

// BenchmarkFormats reads a large file of each format; MB/s are of the text that
// comes of it.
func BenchmarkFormats(b *testing.B) {
	p := newParser(b, Config{})
	var texts []string
	var rows, sheet, lines, objects, slide strings.Builder
	for i := range 20_000 {
		texts = append(texts, fmt.Sprintf("Paragraph %d speaks of the weather in the mountains, and of the snow that fell there.", i))
		fmt.Fprintf(&rows, "%d,Name of person %d,City %d,%d\n", i, i, i%1000, i*7)
		fmt.Fprintf(&sheet, `<row r="%d"><c r="A%d" t="inlineStr"><is><t>Name of person %d</t></is></c><c r="B%d"><v>%d</v></c><c r="C%d"><v>%d.5</v></c></row>`, i+1, i+1, i, i+1, i, i+1, i*7)
		fmt.Fprintf(&objects, "{\"number\": %d, \"name\": \"Name of person %d\", \"sum\": %d}\n", i, i, i*7)
	}
	for _, text := range texts {
		lines.WriteString(text + "\n\n")
		slide.WriteString("</a:t></a:r></a:p><a:p><a:r><a:t>" + text)
	}
	for _, f := range []file{
		{name: "txt", data: []byte(lines.String())},
		{name: "md", data: []byte(lines.String())},
		{name: "html", data: []byte("<!doctype html><body><p>" + strings.Join(texts, "<p>"))},
		{name: "csv", data: []byte("number,name,city,sum\n" + rows.String())},
		{name: "jsonl", data: []byte(objects.String())},
		{name: "docx", data: wordFile(b, paragraphs(texts...))},
		{name: "pptx", data: slidesFile(b, slide.String())},
		{name: "xlsx", data: workbookFile(b, sheet.String())},
		{name: "odt", data: odfFile(b, "text", "<text:p>"+strings.Join(texts, "</text:p><text:p>")+"</text:p>")},
		{name: "epub", data: epubFile(b, "<p>"+strings.Join(texts, "</p><p>")+"</p>")},
		{name: "rtf", data: []byte(`{\rtf1 ` + strings.Join(texts, `\par `) + "}")},
	} {
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				text, err := p.Parse(b.Context(), "x."+f.name, inMemory(f.data))
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(text.Body)))
			}
		})
	}
}
