package office

import (
	"bytes"
	"errors"
	"testing"

	"ragagent/ingest/parse/doc"
)

// readers are those of the package with the part that is fuzzed.
var readers = []struct {
	read doc.Reader
	part string
}{
	{ReadDOCX, "word/document.xml"}, {ReadDOCX, "word/numbering.xml"}, {ReadDOCX, "word/styles.xml"}, {ReadDOCX, "word/footnotes.xml"},
	{ReadXLSX, "xl/worksheets/sheet1.xml"}, {ReadXLSX, "xl/styles.xml"}, {ReadXLSX, "xl/sharedStrings.xml"},
	{ReadPPTX, "ppt/slides/slide1.xml"}, {ReadPPTX, "ppt/charts/chart1.xml"},
	{ReadODT, "content.xml"}, {ReadODS, "content.xml"}, {ReadODP, "content.xml"},
	{ReadDOCX, "docProps/custom.xml"}, {ReadODT, "meta.xml"},
}

// around are the other parts that readers need to get as far as the fuzzed one.
func around() []part {
	return []part{
		{"word/document.xml", wordHead + item("1", "0", "x") + styled("berschrift1", "h") + wordTail},
		{"word/numbering.xml", numbers}, {"word/styles.xml", styles},
		{"xl/workbook.xml", `<workbook><sheets><sheet name="S" r:id="rId1"/></sheets></workbook>`},
		rels("xl/_rels/workbook.xml.rels", [3]string{"rId1", "worksheet", "worksheets/sheet1.xml"}),
		{"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row r="1"><c t="s" s="1"><v>0</v></c><c s="0"><v>1.5</v></c></row></sheetData></worksheet>`},
		{"ppt/presentation.xml", `<p><sldIdLst><sldId id="1" r:id="rId1"/></sldIdLst></p>`},
		rels("ppt/_rels/presentation.xml.rels", [3]string{"rId1", "slide", "slides/slide1.xml"}),
		{"ppt/slides/slide1.xml", slideXML("", `<c:chart r:id="rId1"/>`)},
		rels("ppt/slides/_rels/slide1.xml.rels", [3]string{"rId1", "chart", "../charts/chart1.xml"}),
		{"content.xml", `<office><text:p>x</text:p></office>`},
	}
}

// FuzzReaders puts any text in the place of a part of each format.
func FuzzReaders(f *testing.F) {
	for i, seed := range []string{
		wordHead + p("", run("x")) + tbl(tr(tc(`<w:vMerge/>`, p("", run("y"))))) + wordTail,
		numbers, styles, `<w:footnotes><w:footnote w:id="2"><w:p><w:r><w:t>n</w:t></w:r></w:p></w:footnote></w:footnotes>`,
		`<worksheet><sheetData>` + cells(1, "a", "b") + cells(2, "=1/1", "=2") + `</sheetData><mergeCells><mergeCell ref="A1:A2"/></mergeCells></worksheet>`,
		`<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$€-407]#,##0.00;[Red]-0"/></numFmts><cellXfs><xf numFmtId="164"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
		`<sst><si><r><t>a</t></r></si></sst>`,
		slideXML("", shapeXML(`<p:ph type="title"/>`, line("", "t"))), `<c:chart><c:ser><c:val><c:pt idx="1"><c:v>2</c:v></c:pt></c:val></c:ser></c:chart>`,
		`<office><text:list><text:list-item><text:p>a<text:note><text:note-body><text:p>n</text:p></text:note-body></text:note></text:p></text:list-item></text:list></office>`,
		`<office><table:table><table:table-row table:number-rows-repeated="9"><table:table-cell table:number-columns-repeated="9"><text:p>1</text:p></table:table-cell></table:table-row></table:table></office>`,
		`<office><draw:page><draw:frame presentation:class="title"><text:p>1</text:p></draw:frame></draw:page></office>`,
	} {
		f.Add(i, seed)
	}
	f.Fuzz(func(t *testing.T, which int, text string) {
		r := readers[uint(which)%uint(len(readers))]
		data := packed(t, append([]part{{r.part, text}}, around()...)...)
		var out recorder
		err := r.read(bytes.NewReader(data), int64(len(data)), &out)
		if err != nil && !errors.Is(err, doc.ErrDamaged) && !errors.Is(err, doc.ErrNoText) && !errors.Is(err, doc.ErrLimit) && !errors.Is(err, doc.ErrEncrypted) {
			t.Fatal(err)
		}
	})
}
