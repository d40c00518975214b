package parse

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"testing"
)

// zipped writes a zip file: names and contents in turns.
func zipped(t testing.TB, entries ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.Create(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, entries[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const contentTypes = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/x" ContentType="application/vnd.`

// typesOf is the part of a container that says what it is.
func typesOf(kind string) string { return contentTypes + kind + `"/></Types>` }

func wordFile(t testing.TB, body string) []byte {
	return zipped(t, "[Content_Types].xml", typesOf("openxmlformats-officedocument.wordprocessingml.document.main+xml"),
		"word/document.xml", `<w:document xmlns:w="w"><w:body>`+body+`</w:body></w:document>`,
		"docProps/core.xml", `<c:coreProperties><dc:title>Title</dc:title><dc:creator>Ann</dc:creator></c:coreProperties>`)
}

// paragraphs are of Word.
func paragraphs(texts ...string) string {
	out := ""
	for _, text := range texts {
		out += `<w:p><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	return out
}

func workbookFile(t testing.TB, rows string) []byte {
	return zipped(t, "[Content_Types].xml", typesOf("ms-excel.sheet.macroEnabled.main+xml"),
		"xl/workbook.xml", `<workbook><sheets><sheet name="Sums" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData>`+rows+`</sheetData></worksheet>`)
}

func slidesFile(t testing.TB, text string) []byte {
	return zipped(t, "[Content_Types].xml", typesOf("openxmlformats-officedocument.presentationml.slideshow.main+xml"),
		"ppt/presentation.xml", `<p:presentation><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="rId1" Type="x/slide" Target="slides/slide1.xml"/></Relationships>`,
		"ppt/slides/slide1.xml", `<p:sld><p:sp><p:txBody><a:p><a:r><a:t>`+text+`</a:t></a:r></a:p></p:txBody></p:sp></p:sld>`)
}

func odfFile(t testing.TB, kind, body string) []byte {
	return zipped(t, "mimetype", "application/vnd.oasis.opendocument."+kind,
		"content.xml", `<office:document-content><office:body>`+body+`</office:body></office:document-content>`)
}

func epubFile(t testing.TB, page string) []byte {
	return zipped(t, "mimetype", "application/epub+zip",
		"META-INF/container.xml", `<container><rootfiles><rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
		"c.opf", `<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Book</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`,
		"a.xhtml", `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>`+page+`</body></html>`)
}

// base64Lines writes data as mail does.
func base64Lines(data []byte) string {
	text := base64.StdEncoding.EncodeToString(data)
	var out strings.Builder
	for len(text) > 0 {
		n := min(len(text), 76)
		out.WriteString(text[:n] + "\r\n")
		text = text[n:]
	}
	return out.String()
}
