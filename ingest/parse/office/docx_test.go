package office

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/parse/doc"
)

const (
	wordHead = xmlHead + `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" mc:Ignorable="w14"><w:body>`
	wordTail = `<w:sectPr w:rsidR="00A"><w:headerReference w:type="default" r:id="rId9"/><w:pgSz w:w="12240" w:h="15840"/></w:sectPr></w:body></w:document>`
	styles   = xmlHead + `<w:styles xmlns:w="w"><w:docDefaults><w:rPrDefault><w:rPr/></w:rPrDefault></w:docDefaults>
<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:basedOn w:val="Standard"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/><w:basedOn w:val="berschrift1"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:customStyle="1" w:styleId="Mine"><w:name w:val="My head"/><w:basedOn w:val="berschrift2"/><w:pPr><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Zitat"><w:name w:val="Quote"/></w:style>
<w:style w:type="paragraph" w:styleId="Quelltext"><w:name w:val="HTML Preformatted"/></w:style>
<w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Listenabsatz"><w:name w:val="List Paragraph"/></w:style></w:styles>`
	numbers = xmlHead + `<w:numbering xmlns:w="w">
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%2)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val=""/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1"/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num></w:numbering>`
)

// p is a paragraph of Word: properties and what stands in it.
func p(properties, runs string) string {
	return `<w:p w:rsidR="00E" w14:paraId="5"><w:pPr>` + properties + `<w:rPr><w:lang w:val="de"/></w:rPr></w:pPr>` + runs + `</w:p>`
}

func run(text string) string {
	return `<w:r w:rsidRPr="1"><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
}

func styled(id, text string) string { return p(`<w:pStyle w:val="`+id+`"/>`, run(text)) }

func item(number, level, text string) string {
	return p(`<w:pStyle w:val="Listenabsatz"/><w:numPr><w:ilvl w:val="`+level+`"/><w:numId w:val="`+number+`"/></w:numPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs>`, run(text))
}

func readWord(t *testing.T, body string, more ...part) (*recorder, error) {
	t.Helper()
	parts := append([]part{
		rels("_rels/.rels", [3]string{"rId1", "officeDocument", "/word/document.xml"}),
		rels("word/_rels/document.xml.rels", [3]string{"rId1", "styles", "styles.xml"}, [3]string{"rId2", "numbering", "/word/numbering.xml"}),
		{"word/document.xml", wordHead + body + wordTail},
		{"word/styles.xml", styles},
		{"word/numbering.xml", numbers},
		{"word/header1.xml", `<w:hdr xmlns:w="w">` + p("", run("HEADER")) + `</w:hdr>`},
	}, more...)
	return read(t, ReadDOCX, parts...)
}

func TestDocument(t *testing.T) {
	body := styled("Titel", "The &amp; Title") +
		styled("Verzeichnis1", "First 1") +
		styled("berschrift1", "First") + styled("berschrift2", "Below") + styled("berschrift2", "Beside") + styled("Mine", "Unnumbered") +
		p("", run("One ")+`<w:hyperlink r:id="rId5"><w:r><w:t>linked</w:t></w:r></w:hyperlink>`+`<w:smartTag w:element="place"><w:r><w:t xml:space="preserve"> place</w:t></w:r></w:smartTag>`+
			`<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t xml:space="preserve"> 7</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`+
			`<w:r><w:rPr><w:vanish/></w:rPr><w:t>SECRET</w:t></w:r><w:r><w:tab/><w:t>tab</w:t><w:br/><w:t>line</w:t><w:noBreakHyphen/><w:t>x</w:t></w:r>`) +
		p("", `<w:del w:id="1"><w:r><w:delText>GONE</w:delText></w:r></w:del><w:ins w:id="2"><w:r><w:t>new </w:t></w:r></w:ins><w:moveFrom w:id="3"><w:r><w:t>OLD</w:t></w:r></w:moveFrom>`+run("text")) +
		item("1", "0", "one") + item("1", "1", "deep") + item("1", "1", "deeper") + item("1", "0", "two") +
		styled("Zitat", "Said.") + styled("Quelltext", "x := 1") +
		item("2", "0", "dot") + item("4", "0", "five") + item("4", "0", "six") +
		`<w:sdt><w:sdtPr><w:alias w:val="a"/></w:sdtPr><w:sdtContent>` + p("", run("In a control.")) + `</w:sdtContent></w:sdt>` +
		`<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>` + p("", run("Click here")) + `</w:sdtContent></w:sdt>` +
		p("", run("Before box")+`<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx><w:txbxContent>`+p("", run("In the box"))+`</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>`+p("", run("In the box"))+`</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`+run(", after it")) +
		p("", run(" "))
	got, err := readWord(t, body, part{"docProps/core.xml", xmlHead + `<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>Core</dc:title><dc:creator>Ann</dc:creator><cp:keywords>a, b; c</cp:keywords><dcterms:created xsi:type="dcterms:W3CDTF">2024-05-06T07:08:09Z</dcterms:created></cp:coreProperties>`},
		part{"docProps/custom.xml", xmlHead + `<Properties xmlns="p" xmlns:vt="v"><property fmtid="{D}" pid="2" name="Client"><vt:lpwstr>ACME</vt:lpwstr></property><property fmtid="{D}" pid="3" name="Number"><vt:i4>12</vt:i4></property><property fmtid="{D}" pid="4" name="Done"><vt:bool>true</vt:bool></property></Properties>`})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"heading1 The & Title",
		"heading1 1 First", "heading2 1.1 Below", "heading2 1.2 Beside", "heading2 Unnumbered",
		"paragraph One linked place 7\ttab\nline-x",
		"paragraph new text",
		"list 1. one\n  a) deep\n  b) deeper\n2. two",
		"quote Said.", "code x := 1",
		"list - dot\n5. five\n6. six",
		"paragraph In a control.",
		"paragraph Before box, after it", "paragraph In the box",
	}
	if diff := cmp.Diff(want, got.blocks); diff != "" {
		t.Error(diff)
	}
	properties := map[string]any{"author": "Ann", "keywords": []string{"a", "b", "c"}, "created": "2024-05-06T07:08:09Z", "Client": "ACME", "Number": 12.0, "Done": true}
	if diff := cmp.Diff(properties, got.properties); diff != "" || got.title != "Core" {
		t.Error(got.title, diff)
	}
	if len(got.warnings) > 0 {
		t.Error(got.warnings)
	}
}

func tc(properties, content string) string {
	return "<w:tc><w:tcPr><w:tcW w:w='1'/>" + properties + "</w:tcPr>" + content + "</w:tc>"
}

func tr(cells ...string) string {
	return "<w:tr><w:trPr><w:cantSplit/></w:trPr>" + strings.Join(cells, "") + "</w:tr>"
}

func tbl(rows ...string) string {
	return `<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w="1"/></w:tblGrid>` + strings.Join(rows, "") + "</w:tbl>"
}

func TestDocumentTables(t *testing.T) {
	x := func(text string) string { return tc("", p("", run(text))) }
	body := tbl(
		tr(x("Name"), tc(`<w:gridSpan w:val="2"/>`, p("", run("Sums"))), x("Note")),
		tr(tc(`<w:vMerge w:val="restart"/>`, p("", run("Ann"))), x("1"), x("2"), tc("", p("", run("a"))+p("", run("b|c")))),
		tr(tc(`<w:vMerge/>`, p("", "")), x("3"), x("4"), tc("", p("", ""))),
		`<w:tr><w:trPr><w:del w:id="7"/></w:trPr>`+x("gone")+`</w:tr>`,
		`<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>`+x("5")+`</w:tr>`,
	) +
		tbl(tr(tc("", p("", run("Only cell"))+item("1", "0", "an item")))) +
		tbl(tr(x("left"), tc("", tbl(tr(x("i"), x("j")), tr(x("k"), x("l")))+p("", run("right"))))) +
		p("", run("Text")+`<w:r><w:footnoteReference w:id="2"/></w:r>`+run(" goes on")+`<w:r><w:endnoteReference w:id="1"/></w:r>`) +
		p("", run("Next"))
	got, err := readWord(t, body,
		part{"word/footnotes.xml", `<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote><w:footnote w:id="2">` + p("", `<w:r><w:footnoteRef/></w:r>`+run(" A note.")) + `</w:footnote></w:footnotes>`},
		part{"word/endnotes.xml", `<w:endnotes xmlns:w="w"><w:endnote w:id="1">` + p("", run("At the end.")) + `</w:endnote></w:endnotes>`})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"table Name | Sums |  | Note\nAnn | 1 | 2 | a b/c\nAnn | 3 | 4\n | 5",
		"paragraph Only cell", "list 1. an item",
		"paragraph left", "table i | j\nk | l", "paragraph right",
		"paragraph Text[^1] goes on[^2]", "paragraph [^1] A note.", "paragraph [^2] At the end.",
		"paragraph Next",
	}
	if diff := cmp.Diff(want, got.blocks); diff != "" {
		t.Error(diff)
	}
}

func TestDocumentPages(t *testing.T) {
	rendered := `<w:r><w:lastRenderedPageBreak/></w:r>`
	made := `<w:r><w:br w:type="page"/></w:r>`
	app := func(pages string) part {
		return part{"docProps/app.xml", `<Properties xmlns="a"><Pages>` + pages + `</Pages></Properties>`}
	}
	tests := []struct {
		name, body string
		more       []part
		want       []string
	}{
		{"as laid out", p("", run("one")) + p("", made) + p("", rendered+run("two")) + p("", run("still")+rendered+run(" two")) + p("", run("three")), nil,
			[]string{"paragraph@1 one", "paragraph@2 two", "paragraph@2 still two", "paragraph@3 three"}},
		{"as made", p("", run("one")+made) + p("", run("two")) + p("<w:pageBreakBefore/>", run("three")), []part{app("3")},
			[]string{"paragraph@1 one", "paragraph@2 two", "paragraph@3 three"}},
		{"unknown", p("", run("one")+made) + p("", run("somewhere")), []part{app("12")}, []string{"paragraph one", "paragraph somewhere"}},
	}
	for _, tt := range tests {
		got, err := readWord(t, tt.body, tt.more...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.blocks); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestDamagedDocument(t *testing.T) {
	got, err := readWord(t, p("", run("kept"))+"<w:p><w:r><w:t>cut")
	if err != nil || len(got.warnings) != 1 || got.blocks[0] != "paragraph kept" {
		t.Errorf("got %q, %q, %v", got.blocks, got.warnings, err)
	}
	for name, body := range map[string]string{
		"a document type": `<!DOCTYPE x [<!ENTITY a "b">]>` + p("", run("x")),
		"no XML":          "<<<",
	} {
		_, err := read(t, ReadDOCX, part{"word/document.xml", body})
		if !errors.Is(err, doc.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readWord(t, p("", "")); !errors.Is(err, doc.ErrNoText) {
		t.Errorf("blank: %v", err)
	}
	if _, err := read(t, ReadDOCX, part{"word/other.xml", ""}); !errors.Is(err, doc.ErrDamaged) {
		t.Errorf("no main part: %v", err)
	}
}

func TestLongParagraphIsKept(t *testing.T) {
	const words = 2 << 20
	got, err := readWord(t, p("", run(strings.Repeat("word ", words))))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(strings.Join(got.blocks, ""), "word"); n != words {
		t.Errorf("%d words of %d", n, words)
	}
}
