package office

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func shapeXML(placeholder, paragraphs string) string {
	return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr>` + placeholder + `</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:lstStyle><a:lvl1pPr lvl="3"/></a:lstStyle>` + paragraphs + `</p:txBody></p:sp>`
}

func line(properties, text string) string {
	return `<a:p>` + properties + `<a:r><a:rPr lang="de"/><a:t>` + text + `</a:t></a:r><a:endParaRPr/></a:p>`
}

func slideXML(attributes, shapes string) string {
	return xmlHead + `<p:sld xmlns:a="a" xmlns:r="r" xmlns:p="p"` + attributes + `><p:cSld><p:spTree><p:nvGrpSpPr/>` + shapes + `</p:spTree></p:cSld></p:sld>`
}

func TestPresentation(t *testing.T) {
	graphic := `<p:graphicFrame><a:graphic><a:graphicData>`
	cell := func(attributes, text string) string {
		return `<a:tc` + attributes + `><a:txBody><a:bodyPr/>` + line("", text) + `</a:txBody><a:tcPr/></a:tc>`
	}
	got, err := read(t, ReadPPTX,
		rels("_rels/.rels", [3]string{"rId1", "officeDocument", "ppt/presentation.xml"}),
		part{"ppt/presentation.xml", xmlHead + `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldMasterIdLst><p:sldMasterId id="1" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst><p:sldId id="300" r:id="rId3"/><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId4"/></p:sldIdLst></p:presentation>`},
		rels("ppt/_rels/presentation.xml.rels", [3]string{"rId1", "slideMaster", "slideMasters/m.xml"}, [3]string{"rId2", "slide", "slides/slide1.xml"}, [3]string{"rId3", "slide", "/ppt/slides/slide2.xml"}, [3]string{"rId4", "slide", "slides/slide3.xml"}),
		part{"ppt/slides/slide2.xml", slideXML("", shapeXML(`<p:ph type="body" idx="1"/>`, line(`<a:pPr lvl="0"/>`, "one")+line(`<a:pPr lvl="1"/>`, "deep")+line(`<a:pPr><a:buNone/></a:pPr>`, "no item"))+
			shapeXML(`<p:ph type="ctrTitle"/>`, line("", "The &lt;first&gt;")+line("", "in two lines"))+
			shapeXML(`<p:ph type="sldNum"/>`, `<a:p><a:fld type="slidenum"><a:t>1</a:t></a:fld></a:p>`))},
		part{"ppt/slides/slide1.xml", slideXML(` show="0"`, shapeXML("", line("", "A box")+line("", "of text"))+
			`<p:grpSp>`+shapeXML("", line(`<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>`, "first")+line(`<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>`, "second"))+`</p:grpSp>`+
			graphic+`<a:tbl><a:tblPr/><a:tr h="1">`+cell("", "Name")+cell(` gridSpan="2"`, "Sum")+cell(` hMerge="1"`, "")+`</a:tr><a:tr h="1">`+cell("", "x")+cell("", "1")+cell("", "2")+`</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`+
			graphic+`<c:chart xmlns:c="c" r:id="rId7"/></a:graphicData></a:graphic></p:graphicFrame>`+
			graphic+`<dgm:relIds r:dm="rId8" r:lo="rId9"/></a:graphicData></a:graphic></p:graphicFrame>`)},
		rels("ppt/slides/_rels/slide1.xml.rels", [3]string{"rId7", "chart", "../charts/chart1.xml"}, [3]string{"rId8", "diagramData", "../diagrams/data1.xml"}, [3]string{"rId5", "notesSlide", "../notesSlides/notesSlide1.xml"}),
		part{"ppt/charts/chart1.xml", `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Growth</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:f>S!A1</c:f><c:strCache><c:pt idx="0"><c:v>Sales</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>Q1</c:v></c:pt><c:pt idx="1"><c:v>Q2</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>General</c:formatCode><c:pt idx="0"><c:v>4.3</c:v></c:pt><c:pt idx="1"><c:v>2.5</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`},
		part{"ppt/diagrams/data1.xml", `<dgm:dataModel><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>Do</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`},
		part{"ppt/notesSlides/notesSlide1.xml", slideXML("", shapeXML(`<p:ph type="sldImg"/>`, "")+shapeXML(`<p:ph type="body" idx="1"/>`, line("", "Say this.")))},
		part{"ppt/slides/slide3.xml", slideXML("", "")},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"heading1@1 The <first> in two lines", "list@1 - one\n  - deep", "paragraph@1 no item",
		"heading1@2 Slide 2", "paragraph@2 A box\nof text", "list@2 1. first\n2. second",
		"table@2 Name | Sum\nx | 1 | 2",
		"paragraph@2 Chart: Growth", "table@2 Category | Sales\nQ1 | 4.3\nQ2 | 2.5",
		"list@2 - Plan\n- Do",
		"paragraph@2 Notes: Say this.",
	}
	if diff := cmp.Diff(want, got.blocks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"hidden slides were read too: 2"}, got.warnings); diff != "" {
		t.Error(diff)
	}
}
