package chunk

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/parse"
	"ragagent/store"
)

func TestMain(m *testing.M) {
	parse.ChildMain()
	os.Exit(m.Run())
}

// report is what every file of the table below says, as far as its format can:
// headings, paragraphs, a long sentence and a table.
type report struct {
	sections []reportSection
}

type reportSection struct {
	heading    string
	paragraphs []string
	rows       [][]string
}

func newReport() report {
	var r report
	for i, name := range []string{"Umsatz und Größe", "What it cost", "People", "The year to come"} {
		s := reportSection{heading: fmt.Sprintf("Part %d: %s", i+1, name)}
		for j := range 3 {
			var b strings.Builder
			for k := range 6 + 5*j {
				fmt.Fprintf(&b, "Sentence %d of Dr. Smith weighs 1,%03d kg, e.g. 這是一句話。 ", k, 37*k)
			}
			s.paragraphs = append(s.paragraphs, strings.TrimSpace(b.String()))
		}
		s.paragraphs = append(s.paragraphs, "(in millions)")
		s.rows = append(s.rows, []string{"Item", "2022", "2021"})
		for j := range 25 {
			s.rows = append(s.rows, []string{fmt.Sprintf("Item number %d", j), fmt.Sprint(100 * j), fmt.Sprint(90 * j)})
		}
		r.sections = append(r.sections, s)
	}
	return r
}

// lines writes a report with the marks of a markup.
func (r report) lines(heading, paragraph, row, cell, end string) string {
	var b strings.Builder
	for _, s := range r.sections {
		fmt.Fprintf(&b, heading, s.heading)
		for _, p := range s.paragraphs {
			fmt.Fprintf(&b, paragraph, p)
		}
		for _, cells := range s.rows {
			fmt.Fprintf(&b, row, strings.Join(cells, cell))
		}
		b.WriteString(end)
	}
	return b.String()
}

func (r report) markdown() string {
	text := r.lines("# %s\n\n", "%s\n\n", "| %s |\n", " | ", "\n")
	return strings.ReplaceAll(text, "| Item | 2022 | 2021 |\n", "| Item | 2022 | 2021 |\n|---|---|---|\n")
}

func (r report) html() string {
	text := r.lines("<h2>%s</h2>", "<p>%s</p>", "<tr><td>%s</td></tr>", "</td><td>", "</table>")
	return "<!doctype html><html><head><title>Report</title></head><body><h1>Report</h1>" +
		strings.ReplaceAll(text, "<tr><td>Item</td>", "<table><tr><td>Item</td>") + "</body></html>"
}

func (r report) docx(t *testing.T) string {
	w := "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>%s</w:t></w:r></w:p>"
	text := r.lines(w, "<w:p><w:r><w:t>%s</w:t></w:r></w:p>", "<w:tr><w:tc><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:tc></w:tr>",
		"</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>", "</w:tbl>")
	text = strings.ReplaceAll(text, "<w:tr><w:tc><w:p><w:r><w:t>Item</w:t>", "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Item</w:t>")
	return zipped(t, map[string]string{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
		"_rels/.rels":         `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/document.xml":   `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` + text + `</w:body></w:document>`,
	})
}

func (r report) pptx(t *testing.T) string {
	const ns = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	const relations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">%s</Relationships>`
	const relation = `<Relationship Id="r%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`
	files := map[string]string{"_rels/.rels": fmt.Sprintf(relations, fmt.Sprintf(relation, 1, "officeDocument", "ppt/presentation.xml"))}
	types, slides, list := "", "", ""
	for i, s := range r.sections {
		name := fmt.Sprintf("slides/slide%d.xml", i+1)
		var b strings.Builder
		shape := `<p:sp><p:nvSpPr><p:nvPr>%s</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>%s</a:t></a:r></a:p></p:txBody></p:sp>`
		fmt.Fprintf(&b, shape, `<p:ph type="title"/>`, s.heading)
		for _, p := range s.paragraphs {
			fmt.Fprintf(&b, shape, "", p)
		}
		files["ppt/"+name] = `<p:sld ` + ns + `><p:cSld><p:spTree>` + b.String() + `</p:spTree></p:cSld></p:sld>`
		types += `<Override PartName="/ppt/` + name + `" ContentType="application/vnd.openxmlformats-officedocument.presentationml.slide+xml"/>`
		slides += fmt.Sprintf(relation, i+1, "slide", name)
		list += fmt.Sprintf(`<p:sldId id="%d" r:id="r%d"/>`, 256+i, i+1)
	}
	files["[Content_Types].xml"] = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/ppt/presentation.xml" ContentType="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/>` + types + `</Types>`
	files["ppt/presentation.xml"] = `<p:presentation ` + ns + `><p:sldIdLst>` + list + `</p:sldIdLst></p:presentation>`
	files["ppt/_rels/presentation.xml.rels"] = fmt.Sprintf(relations, slides)
	return zipped(t, files)
}

func (r report) xlsx(t *testing.T) string {
	var b strings.Builder
	row := 0
	for _, s := range r.sections {
		for _, cells := range append(s.rows, []string{s.paragraphs[0]}) {
			row++
			fmt.Fprintf(&b, `<row r="%d">`, row)
			for i, c := range cells {
				fmt.Fprintf(&b, `<c r="%c%d" t="inlineStr"><is><t>%s</t></is></c>`, 'A'+i, row, c)
			}
			b.WriteString("</row>")
		}
	}
	const ns = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	const relation = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/></Relationships>`
	return zipped(t, map[string]string{
		"[Content_Types].xml":        `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
		"_rels/.rels":                fmt.Sprintf(relation, "officeDocument", "xl/workbook.xml"),
		"xl/workbook.xml":            `<workbook ` + ns + `><sheets><sheet name="Figures" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": fmt.Sprintf(relation, "worksheet", "worksheets/sheet1.xml"),
		"xl/worksheets/sheet1.xml":   `<worksheet ` + ns + `><sheetData>` + b.String() + `</sheetData></worksheet>`,
	})
}

func (r report) epub(t *testing.T) string {
	return zipped(t, map[string]string{
		"mimetype":               "application/epub+zip",
		"META-INF/container.xml": `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
		"book.opf":               `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Report</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`,
		"a.xhtml":                strings.Replace(r.html(), "<html>", `<html xmlns="http://www.w3.org/1999/xhtml">`, 1),
	})
}

// pdf has a section on each page; its font knows no Chinese.
func (r report) pdf() string {
	var b strings.Builder
	var offsets []int
	object := func(text string) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), text)
	}
	b.WriteString("%PDF-1.4\n")
	var kids strings.Builder
	for i := range r.sections {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	object(fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(r.sections), kids.String()))
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	for _, s := range r.sections {
		var page strings.Builder
		y := 780
		line := func(size int, text string) {
			fmt.Fprintf(&page, "BT /F %d Tf 40 %d Td (%s) Tj ET\n", size, y, strings.NewReplacer("(", "\\(", ")", "\\)", "ö", "\\366").Replace(text))
			y -= size + 4
		}
		line(18, s.heading)
		for _, p := range s.paragraphs[:2] {
			y -= 12
			for at := 0; at < len(p); at += 90 {
				line(9, strings.Map(func(r rune) rune {
					if r > 0x7e {
						return '.'
					}
					return r
				}, p[at:min(at+90, len(p))]))
			}
		}
		object(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>", len(offsets)+2))
		object(fmt.Sprintf("<</Length %d>>\nstream\n%sendstream", page.Len(), page.String()))
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, xref)
	return b.String()
}

func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	write := func(name string, method uint16) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := files["mimetype"]; ok { // comes first, as it is
		write("mimetype", zip.Store)
	}
	for name := range files {
		if name != "mimetype" {
			write(name, zip.Deflate)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// files are the report in every format that is read.
func (r report) files(t *testing.T) map[string]string {
	records := r.lines("", "", "%s\n", ",", "")
	var objects []string
	for i, s := range r.sections {
		objects = append(objects, fmt.Sprintf(`{"id":%d,"title":%q,"text":%q}`, i, s.heading, s.paragraphs[0]))
	}
	const mail = "From: a@example.org\nTo: b@example.org\nSubject: Report\nDate: Mon, 2 Jan 2023 10:00:00 +0000\nMIME-Version: 1.0\n" +
		"Content-Type: text/plain; charset=utf-8\n\n"
	plain := r.lines("%s\n\n", "%s\n\n", "%s\n", "  ", "\n")
	return map[string]string{
		"report.txt":   plain,
		"report.md":    r.markdown(),
		"report.html":  r.html(),
		"report.csv":   records,
		"report.tsv":   strings.ReplaceAll(records, ",", "\t"),
		"report.json":  "[" + strings.Join(objects, ",") + "]",
		"report.jsonl": strings.Join(objects, "\n"),
		"report.go":    "package report\n\n" + r.lines("// %s\n", "// %s\n\nfunc f() int {\n\treturn 1\n}\n\n", "// %s\n", " ", "\n"),
		"report.eml":   strings.ReplaceAll(mail+plain, "\n", "\r\n"),
		"report.rtf":   `{\rtf1\ansi ` + strings.NewReplacer("ö", `\u246?`, "這是一句話。", "").Replace(r.lines(`\b %s\b0\par `, `%s\par `, `%s\par `, `\tab `, "")) + "}",
		"report.docx":  r.docx(t),
		"report.pptx":  r.pptx(t),
		"report.xlsx":  r.xlsx(t),
		"report.epub":  r.epub(t),
		"report.pdf":   r.pdf(),
	}
}

// file is a file in memory.
type file struct{ *strings.Reader }

func (file) Close() error { return nil }

func TestPiecesOfEveryFormatKeepTheirPromises(t *testing.T) {
	parser, err := parse.New(parse.Config{})
	if err != nil {
		t.Fatal(err)
	}
	settings := []store.Chunking{{}, {Size: 64, Overlap: 16}, {Size: 48, Parent: store.ParentChunking{Size: 400}},
		{Strategy: store.ChunkingSentence, Size: 100, Overlap: 20}, {Strategy: store.ChunkingFixed, Size: 50, Overlap: 10, Parent: store.ParentChunking{Size: 300}}}
	for name, content := range newReport().files(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := parser.Parse(context.Background(), name, file{strings.NewReader(content)})
			if err != nil {
				t.Fatal(err)
			}
			if len(text.Body) < 500 || !strings.Contains(text.Body, "Part 4") && !strings.Contains(text.Body, "2021") {
				t.Fatalf("the text is %q", text.Body)
			}
			for _, s := range settings {
				pieces, err := Split(text, s)
				if err != nil {
					t.Fatal(err)
				}
				if why := broken(text, s, pieces); why != "" {
					t.Errorf("%+v: %s", s, why)
				}
				again, _ := Split(text, s)
				if diff := cmp.Diff(pieces, again); diff != "" {
					t.Errorf("%+v: cut once more: %s", s, diff)
				}
			}
		})
	}
}
