package office

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readBook reads a workbook of sheets, given as what is in their sheetData and
// behind it.
func readBook(t testing.TB, sheets ...string) (*recorder, error) {
	t.Helper()
	book := xmlHead + `<workbook xmlns="x" xmlns:r="r"><workbookPr defaultThemeVersion="1"/><sheets>`
	relations := [][3]string{{"rId90", "styles", "styles.xml"}, {"rId91", "sharedStrings", "/xl/sharedStrings.xml"}}
	parts := []part{}
	for i, s := range sheets {
		state := ""
		if strings.Contains(s, "<!--hidden-->") {
			state = ` state="hidden"`
		}
		book += fmt.Sprintf(`<sheet name="Sheet &amp; %d" sheetId="%d"%s r:id="rId%d"/>`, i+1, i+10, state, i+1)
		relations = append(relations, [3]string{fmt.Sprintf("rId%d", i+1), "worksheet", fmt.Sprintf("worksheets/sheet%d.xml", i+1)})
		parts = append(parts, part{fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1), xmlHead + `<worksheet xmlns="x"><dimension ref="A1:C3"/><sheetData>` + s + `</worksheet>`})
	}
	parts = append(parts,
		part{"xl/workbook.xml", book + `</sheets><definedNames/></workbook>`},
		rels("xl/_rels/workbook.xml.rels", relations...),
		part{"xl/styles.xml", xmlHead + `<styleSheet xmlns="x"><numFmts><numFmt numFmtId="164" formatCode="#,##0.00\ &quot;€&quot;"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"><alignment/></xf><xf numFmtId="10"/><xf numFmtId="164"/></cellXfs></styleSheet>`},
		part{"xl/sharedStrings.xml", xmlHead + `<sst count="5"><si><t>Name</t></si><si><t xml:space="preserve">Born </t></si><si><r><rPr><b/></rPr><t>Rich</t></r><r><t xml:space="preserve"> text</t></r><rPh sb="0"><t>READ</t></rPh></si><si><t/></si><si><t>Ann</t></si></sst>`})
	return read(t, ReadXLSX, parts...)
}

// cells writes a row: texts inline, numbers as they are, "" for none; "=2.5/3"
// for 2.5 in style 3.
func cells(row int, values ...string) string {
	out := fmt.Sprintf(`<row r="%d" spans="1:3">`, row)
	for i, v := range values {
		ref := fmt.Sprintf("%c%d", 'A'+i, row)
		number, style, styled := strings.Cut(strings.TrimPrefix(v, "="), "/")
		switch {
		case v == "":
		case strings.HasPrefix(v, "="):
			if !styled {
				style = "0"
			}
			out += fmt.Sprintf(`<c r="%s" s="%s"><v>%s</v></c>`, ref, style, number)
		default:
			out += fmt.Sprintf(`<c r="%s" t="inlineStr"><is><t>%s</t></is></c>`, ref, v)
		}
	}
	return out + "</row>"
}

func TestWorkbook(t *testing.T) {
	first := `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="D1" t="inlineStr"><is><t>Share</t></is></c></row>` +
		`<row r="2"><c r="A2" t="s"><v>4</v></c><c r="B2" s="1"><v>45000</v></c><c r="C2"/><c r="D2" s="2"><v>0.5</v></c></row>` +
		`<row r="3"><c t="s"><v>2</v></c><c s="3"><f>1+1</f><v>1234.5</v></c><c r="D3" t="b"><v>1</v></c></row>` +
		`<row r="4"><c r="A4" t="str"><f>"x"</f><v>made</v></c><c r="B4"><f>SUM(A1)</f></c><c r="D4" t="e"><v>#N/A</v></c></row></sheetData>`
	got, err := readBook(t, first, cells(1, "Only", "text")+"</sheetData><!--hidden-->")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"heading1@1 Sheet & 1",
		"table@1 Name: Ann | Born: 2023-03-15 | Share: 50.00%\nName: Rich text | Born: 1,234.50 € | Share: TRUE\nName: made | Share: #N/A",
		"heading1@2 Sheet & 2",
		"table@2 Only | text",
	}
	if diff := cmp.Diff(want, got.blocks); diff != "" {
		t.Error(diff)
	}
	warnings := []string{"hidden sheets were read too: Sheet & 2", "1 formulas have no stored result: open the workbook, save it, and upload it again"}
	if diff := cmp.Diff(warnings, got.warnings); diff != "" {
		t.Error(diff)
	}
}

func TestTablesOnASheet(t *testing.T) {
	tests := []struct {
		name, rows string
		want       []string
	}{
		{"a title, a table, a gap, its total", cells(1, "Sales of the year") + cells(3, "City", "Sum", "Kind") + cells(4, "Ulm", "=5", "a") + cells(5, "Bonn", "=6", "b") + cells(7, "Total", "=11"),
			[]string{"paragraph@1 Sales of the year", "table@1 City: Ulm | Sum: 5 | Kind: a\nCity: Bonn | Sum: 6 | Kind: b", "table@1 City: Total | Sum: 11"}},
		{"two tables", cells(1, "A", "B") + cells(2, "=1", "=2") + cells(5, "C", "D", "E") + cells(6, "x", "=4", "=5"),
			[]string{"table@1 A: 1 | B: 2", "table@1 C: x | D: 4 | E: 5"}},
		{"a title above its columns", cells(1, "Report", "") + cells(2, "Item", "=2023", "=2022") + cells(3, "Cost", "=1", "=2"),
			[]string{"paragraph@1 Report", "table@1 Item: Cost | 2023: 1 | 2022: 2"}},
		{"numbers alone", cells(1, "=1", "=2") + cells(2, "=3", "=4"), []string{"table@1 1 | 2\n3 | 4"}},
		{"names and values side by side", cells(1, "Name", "Ann") + cells(2, "Age", "=36") + cells(3, "City", "Ulm"),
			[]string{"table@1 Name | Ann\nAge | 36\nCity | Ulm"}},
		{"a column of its own", cells(1, "", "", "alone"), []string{"paragraph@1 alone"}},
		{"a long text", cells(1, "Id", "Text") + cells(2, "a", strings.TrimSpace(strings.Repeat("word ", 100))) + cells(3, "b", "short"),
			[]string{"table@1 Id: a", "paragraph@1 Text: " + strings.TrimSpace(strings.Repeat("word ", 100)), "table@1 Id: b | Text: short"}},
	}
	for _, tt := range tests {
		got, err := readBook(t, tt.rows+"</sheetData>")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.blocks[1:]); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestMergedCells(t *testing.T) {
	got, err := readBook(t, cells(1, "Region", "City", "Sum")+cells(2, "South", "Ulm", "=1")+
		`<row r="3"><c r="A3" s="0"/><c r="B3" t="inlineStr"><is><t>Isny</t></is></c><c r="C3"><v>2</v></c></row>`+
		`</sheetData><mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>`)
	if err != nil {
		t.Fatal(err)
	}
	if want := "table@1 Region: South | City: Ulm | Sum: 1\nRegion: South | City: Isny | Sum: 2"; got.blocks[1] != want {
		t.Errorf("got %q", got.blocks[1])
	}
}

func TestDaysFrom1904(t *testing.T) {
	data := []part{
		{"xl/workbook.xml", `<workbook xmlns:r="r"><workbookPr date1904="1"/><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		rels("xl/_rels/workbook.xml.rels", [3]string{"rId1", "worksheet", "worksheets/sheet1.xml"}),
		{"xl/styles.xml", `<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`},
		{"xl/worksheets/sheet1.xml", `<worksheet><sheetData>` + cells(1, "=1/0") + `</sheetData></worksheet>`},
	}
	got, err := read(t, ReadXLSX, data...)
	if err != nil || got.blocks[1] != "paragraph@1 1904-01-02" {
		t.Errorf("got %q, %v", got.blocks, err)
	}
}
