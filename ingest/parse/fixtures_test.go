package parse

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"

	"strings"
	"testing"
	"unicode/utf16"
)

// fixture is a small file of some format that a test can write with its parts
// changed. Formats of one part have one that is called "".
type fixture struct {
	name  string // of the file
	parts []fixturePart
	pack  func(parts []fixturePart) []byte
}

type fixturePart struct {
	name string
	data []byte
}

// bytes is the file as it should be.
func (f fixture) bytes() []byte { return f.pack(f.parts) }

func flatFixture(name, data string) fixture {
	return fixture{name: name, parts: []fixturePart{{data: []byte(data)}}, pack: func(parts []fixturePart) []byte { return parts[0].data }}
}

// zipFixture is a file of the given names and contents, in turns.
func zipFixture(name string, entries ...string) fixture {
	f := fixture{name: name, pack: zipOf}
	for i := 0; i+1 < len(entries); i += 2 {
		f.parts = append(f.parts, fixturePart{entries[i], []byte(entries[i+1])})
	}
	return f
}

func zipOf(parts []fixturePart) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, p := range parts {
		w, err := z.Create(p.name)
		if err != nil {
			panic(err) // a buffer takes what it is given
		}
		if _, err := w.Write(p.data); err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

// fixtures makes a small file of every format, each with the word "needle" in
// it.
func fixtures(t testing.TB) []fixture {
	pdfText := deflate(t, []byte(show("Read the needle.", "A second line of it.")))
	return []fixture{
		flatFixture("plain.pdf", string(newPDF().pages(show("Read the needle."), show("Me too."), show("And me, (12) %")).object(4, "<</Title (T)>>").bytes("/Info 4 0 R"))),
		flatFixture("packed.pdf", string(newPDF().pages("x").stream(11, "/Filter /FlateDecode", pdfText).bytes(""))),
		flatFixture("page.html", htmlFixture),
		flatFixture("notes.md", "---\ntitle: Notes\ntags: [a, b]\n---\n# Needle\n\n- a\n- b [c](d)\n\n|a|b|\n|-|-|\n|1|2|\n\n> said[^1]\n\n[^1]: note\n\n```go\nx := 1\n```\n"),
		flatFixture("main.go", "// Package main has a needle.\npackage main\n\nfunc main() {\n\tprintln(\"x\")\n}\n"),
		flatFixture("letter.txt", "A needle\n========\n\nDear all,\n\n- one\n- two\n\nna\xefve caf\xe9\n"),
		flatFixture("wide.txt", utf16Text("A needle in sixteen bits.\n\nZweite Zeile äöü.\n")),
		flatFixture("table.csv", "name;born;note\n\"Needle; x\";1815;\"two\nlines\"\nAlan;1912;\"say \"\"hi\"\"\"\n1;2\n"),
		flatFixture("table.tsv", "name\tborn\nneedle\t1815\nAlan\t1912\n"),
		flatFixture("data.json", `{"title": "Needle", "items": [{"id": 1, "text": "One \u00e9 \ud83d\ude42", "tags": ["a", "b"]}, {"id": 2, "deep": {"a": {"b": [1, 2.5e3, null, true]}}}]}`),
		flatFixture("lines.jsonl", "{\"id\": 1, \"text\": \"needle\"}\n{\"id\": 2, \"text\": \"two\"}\n{\"id\": 3}\n"),
		flatFixture("letter.rtf", `{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fnil\fcharset204 Arial;}}{\stylesheet{\s1 heading 1;}}{\info{\title T}{\creatim\yr2020\mo1\dy2}}`+
			`\pard\s1 Needle\par\pard caf\'e9 \u8364?\f1 \'cf\'f0\f0{\footnote n}\par{\pict\bin4 {}{}}{\listtext\'b7\tab}\ls1 item\par\trowd\intbl a\cell b\cell\row}`),
		flatFixture("message.eml", mailFixture(t)),
		flatFixture("box.mbox", "From a@example.org Tue Mar  3 04:05:06 2020\nFrom: a@example.org\nSubject: One\nDate: Tue, 3 Mar 2020 04:05:06 +0000\n\nA needle.\n\nFrom b@example.org Tue Mar  3 04:05:07 2020\nFrom: b@example.org\nSubject: Two\n\n> quoted\n\nB.\n"),
		epubFixture(),
		docxFixture(),
		pptxFixture(),
		xlsxFixture(),
		odtFixture(),
		odsFixture(),
	}
}

func utf16Text(s string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

const htmlFixture = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title><meta name="author" content="Ann"></head>
<body><nav><a href="/">Home</a></nav><main><h1>Needle</h1><p>Some &amp; <em>text</em>.</p><ul><li>a<ul><li>b</ul></ul>
<table><tr><th colspan=2>A</tr><tr><td rowspan=2>1<td>2</tr><tr><td>3</tr></table><pre>x
 y</pre><dl><dt>a<dd>b</dl></main><footer>end</footer></body></html>`

func mailFixture(t testing.TB) string {
	t.Helper()
	attached := base64.StdEncoding.EncodeToString(xlsxFixture().bytes())
	var lines strings.Builder
	for len(attached) > 0 {
		n := min(76, len(attached))
		lines.WriteString(attached[:n] + "\r\n")
		attached = attached[n:]
	}
	return strings.ReplaceAll("From: =?utf-8?Q?Andr=C3=A9?= <a@example.org>\nTo: b@example.org\nSubject: Needle\nDate: Tue, 3 Mar 2020 04:05:06 +0100\nMIME-Version: 1.0\n"+
		"Content-Type: multipart/mixed; boundary=\"outer\"\n\n--outer\nContent-Type: multipart/alternative; boundary=\"inner\"\n\n"+
		"--inner\nContent-Type: text/plain; charset=utf-8; format=flowed\nContent-Transfer-Encoding: quoted-printable\n\nThe needle=\n is here. \nNa=C3=AFve.\n> quoted\n\n"+
		"--inner\nContent-Type: text/html; charset=utf-8\n\n<p>The needle.</p>\n--inner--\n"+
		"--outer\nContent-Type: message/rfc822\n\nSubject: Inner\nFrom: c@example.org\n\nInner text.\n"+
		"--outer\nContent-Type: application/octet-stream; name=\"a.xlsx\"\nContent-Disposition: attachment; filename=\"a.xlsx\"\nContent-Transfer-Encoding: base64\n\n", "\n", "\r\n") +
		lines.String() + "--outer--\r\n"
}

func epubFixture() fixture {
	return zipFixture("book.epub",
		"mimetype", "application/epub+zip",
		"META-INF/container.xml", xmlHead+`<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
		"OEBPS/content.opf", xmlHead+`<package xmlns="http://www.idpf.org/2007/opf" version="2.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Book</dc:title><dc:creator>Ann</dc:creator></metadata>`+
			`<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest><spine toc="ncx"><itemref idref="a"/><itemref idref="b"/></spine></package>`,
		"OEBPS/toc.ncx", xmlHead+`<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>One</text></navLabel><content src="a.xhtml"/></navPoint></navMap></ncx>`,
		"OEBPS/a.xhtml", xmlHead+`<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>The needle of the first chapter.</p></body></html>`,
		"OEBPS/b.xhtml", xmlHead+`<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Two</h1><p>The second.</p></body></html>`)
}

const (
	packageTypes = xmlHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>%s</Types>`
	relations    = xmlHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">%s</Relationships>`
	relation     = `<Relationship Id="%s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`
	typeOf       = `<Override PartName="%s" ContentType="application/vnd.openxmlformats-officedocument.%s+xml"/>`
)

func docxFixture() fixture {
	const w = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
	return zipFixture("letter.docx",
		"[Content_Types].xml", fmt.Sprintf(packageTypes, fmt.Sprintf(typeOf, "/word/document.xml", "wordprocessingml.document.main")+fmt.Sprintf(typeOf, "/word/styles.xml", "wordprocessingml.styles")),
		"_rels/.rels", fmt.Sprintf(relations, fmt.Sprintf(relation, "rId1", "officeDocument", "word/document.xml")),
		"word/_rels/document.xml.rels", fmt.Sprintf(relations, fmt.Sprintf(relation, "rId1", "styles", "styles.xml")),
		"word/styles.xml", xmlHead+`<w:styles `+w+`><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>`,
		"word/document.xml", xmlHead+`<w:document `+w+`><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Needle</w:t></w:r></w:p><w:p><w:r><w:t xml:space="preserve">Some </w:t></w:r><w:r><w:t>text.</w:t><w:br/></w:r></w:p>`+
			`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>A</w:t></w:r></w:p></w:tc><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>B</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:sectPr/></w:body></w:document>`)
}

func pptxFixture() fixture {
	const ns = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`
	slide := func(title, text string) string {
		shape := func(kind, text string) string {
			return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr><p:ph type="` + kind + `"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:txBody></p:sp>`
		}
		return xmlHead + `<p:sld ` + ns + `><p:cSld><p:spTree>` + shape("title", title) + shape("body", text) + `</p:spTree></p:cSld></p:sld>`
	}
	return zipFixture("talk.pptx",
		"[Content_Types].xml", fmt.Sprintf(packageTypes, fmt.Sprintf(typeOf, "/ppt/presentation.xml", "presentationml.presentation.main")+fmt.Sprintf(typeOf, "/ppt/slides/slide1.xml", "presentationml.slide")+fmt.Sprintf(typeOf, "/ppt/slides/slide2.xml", "presentationml.slide")),
		"_rels/.rels", fmt.Sprintf(relations, fmt.Sprintf(relation, "rId1", "officeDocument", "ppt/presentation.xml")),
		"ppt/presentation.xml", xmlHead+`<p:presentation `+ns+`><p:sldIdLst><p:sldId id="256" r:id="rId1"/><p:sldId id="257" r:id="rId2"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", fmt.Sprintf(relations, fmt.Sprintf(relation, "rId1", "slide", "slides/slide1.xml")+fmt.Sprintf(relation, "rId2", "slide", "slides/slide2.xml")),
		"ppt/slides/slide1.xml", slide("Needle", "The first."),
		"ppt/slides/slide2.xml", slide("More", "The second."))
}

func xlsxFixture() fixture {
	const ns = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	return zipFixture("book.xlsx",
		"[Content_Types].xml", fmt.Sprintf(packageTypes, fmt.Sprintf(typeOf, "/xl/workbook.xml", "spreadsheetml.sheet.main")+fmt.Sprintf(typeOf, "/xl/worksheets/sheet1.xml", "spreadsheetml.worksheet")+fmt.Sprintf(typeOf, "/xl/sharedStrings.xml", "spreadsheetml.sharedStrings")),
		"_rels/.rels", fmt.Sprintf(relations, fmt.Sprintf(relation, "rId1", "officeDocument", "xl/workbook.xml")),
		"xl/workbook.xml", xmlHead+`<workbook `+ns+`><sheets><sheet name="People" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", fmt.Sprintf(relations, fmt.Sprintf(relation, "rId1", "worksheet", "worksheets/sheet1.xml")+fmt.Sprintf(relation, "rId2", "sharedStrings", "sharedStrings.xml")),
		"xl/sharedStrings.xml", xmlHead+`<sst `+ns+` count="3" uniqueCount="3"><si><t>Name</t></si><si><t>Born</t></si><si><r><t>Nee</t></r><r><t>dle</t></r></si></sst>`,
		"xl/worksheets/sheet1.xml", xmlHead+`<worksheet `+ns+`><dimension ref="A1:B3"/><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>1815</v></c></row><row r="3"><c r="A3" t="inlineStr"><is><t>Alan</t></is></c><c r="B3"><f>A1+1</f><v>1912</v></c></row></sheetData><mergeCells count="1"><mergeCell ref="A4:B4"/></mergeCells></worksheet>`)
}

const openDocument = ` xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" office:version="1.3"`

func odtFixture() fixture {
	return zipFixture("letter.odt",
		"mimetype", "application/vnd.oasis.opendocument.text",
		"content.xml", xmlHead+`<office:document-content`+openDocument+`><office:body><office:text><text:h text:outline-level="1">Needle</text:h><text:p>Some<text:s text:c="3"/>text.</text:p><text:list><text:list-item><text:p>a</text:p></text:list-item></text:list></office:text></office:body></office:document-content>`,
		"META-INF/manifest.xml", xmlHead+`<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/></manifest:manifest>`)
}

func odsFixture() fixture {
	return zipFixture("table.ods",
		"mimetype", "application/vnd.oasis.opendocument.spreadsheet",
		"content.xml", xmlHead+`<office:document-content`+openDocument+`><office:body><office:spreadsheet><table:table table:name="One"><table:table-row><table:table-cell><text:p>Name</text:p></table:table-cell><table:table-cell table:number-columns-repeated="3"/></table:table-row><table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>needle</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`)
}

// TestFixtures asks that each is read as what it is: damage to files that
// cannot be read anyway would show nothing.
func TestFixtures(t *testing.T) {
	p := newParser(t, Config{})
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			text, err := p.Parse(t.Context(), f.name, inMemory(f.bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.ToLower(text.Body), "needle") {
				t.Errorf("got %q", text.Body)
			}
			if why := brokenText(text); why != "" {
				t.Error(why)
			}
			if len(text.Warnings) > 1 { // of the charset, for two of them
				t.Errorf("warnings %q", text.Warnings)
			}
		})
	}
}
