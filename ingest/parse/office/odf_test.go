package office

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/parse/doc"
)

func odfContent(body string) part {
	return part{"content.xml", `<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:automatic-styles><text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/><text:list-level-style-bullet text:level="2"/></text:list-style></office:automatic-styles><office:body>` + body + `</office:body></office:document-content>`}
}

func TestOpenDocumentText(t *testing.T) {
	got, err := read(t, ReadODT, odfContent(`<office:text><text:tracked-changes><text:changed-region><text:deletion><text:p>GONE</text:p></text:deletion></text:changed-region></text:tracked-changes>
<text:h text:style-name="H" text:outline-level="1">The <text:span>head</text:span></text:h>
<text:p>One<text:s text:c="2"/>two<text:tab/>three<text:line-break/>four<office:annotation><text:p>COMMENT</text:p></office:annotation><text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note> on</text:p>
<text:soft-page-break/>
<text:list text:style-name="L1"><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>deep</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>b</text:p><text:p>more</text:p></text:list-item></text:list>
<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Name</text:p></table:table-cell><table:table-cell><text:p>Sum</text:p></table:table-cell></table:table-row></table:table-header-rows>
<table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell></table:table-row></table:table>
<text:p>Frame: <draw:frame><draw:text-box><text:p>in the box</text:p></draw:text-box></draw:frame></text:p></office:text>`),
		part{"meta.xml", `<office:document-meta><office:meta><dc:title>T</dc:title><meta:initial-creator>Ann</meta:initial-creator><dc:creator>Bob</dc:creator><meta:keyword>k</meta:keyword><meta:creation-date>2024-05-06T07:08:09.123</meta:creation-date></office:meta></office:document-meta>`})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"heading1@1 The head",
		"paragraph@1 One  two\tthree\nfour[^1] on", "paragraph@1 [^1] A note.",
		"list@2 1. a\n  - deep\n2. b\n  more",
		"table@2 Name | Sum\nx | x",
		"paragraph@2 Frame:", "paragraph@2 in the box",
	}
	if diff := cmp.Diff(want, got.blocks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"author": "Ann", "keywords": []string{"k"}, "created": "2024-05-06T07:08:09Z"}, got.properties); diff != "" || got.title != "T" {
		t.Error(got.title, diff)
	}
}

func TestOpenDocumentSheets(t *testing.T) {
	cell := func(text string) string {
		return `<table:table-cell office:value-type="float" office:value="1"><text:p>` + text + `</text:p></table:table-cell>`
	}
	got, err := read(t, ReadODS, odfContent(`<office:spreadsheet><table:table table:name="First"><table:table-column/><table:table-row>`+cell("City")+cell("Sum")+`</table:table-row><table:table-row>`+cell("Ulm")+cell("1,5 €")+`<table:table-cell table:number-columns-repeated="16382"/></table:table-row>
<table:table-row table:number-rows-repeated="2">`+cell("Bonn")+cell("2")+`</table:table-row><table:table-row table:number-rows-repeated="1048572"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>
<table:table table:name="Second"><table:table-row>`+cell("x")+`</table:table-row></table:table></office:spreadsheet>`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"heading1@1 First", "table@1 City: Ulm | Sum: 1,5 €\nCity: Bonn | Sum: 2\nCity: Bonn | Sum: 2", "heading1@2 Second", "paragraph@2 x"}
	if diff := cmp.Diff(want, got.blocks); diff != "" {
		t.Error(diff)
	}
}

func TestOpenDocumentSlides(t *testing.T) {
	got, err := read(t, ReadODP, odfContent(`<office:presentation><draw:page draw:name="p1"><draw:frame presentation:class="title"><draw:text-box><text:p>Title</text:p></draw:text-box></draw:frame><draw:frame presentation:class="outline"><draw:text-box><text:list><text:list-item><text:p>point</text:p></text:list-item></text:list></draw:text-box></draw:frame>
<presentation:notes><draw:frame><draw:text-box><text:p>Say it.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page><draw:page><draw:custom-shape><text:p>Shape</text:p></draw:custom-shape></draw:page></office:presentation>`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"heading1@1 Title", "list@1 - point", "paragraph@1 Notes: Say it.", "heading1@2 Slide 2", "paragraph@2 Shape"}
	if diff := cmp.Diff(want, got.blocks); diff != "" {
		t.Error(diff)
	}
}

func TestOpenDocumentWithPassword(t *testing.T) {
	_, err := read(t, ReadODT, part{"META-INF/manifest.xml", `<manifest:manifest><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`}, part{"content.xml", "\x00\x01"})
	if !errors.Is(err, doc.ErrEncrypted) {
		t.Errorf("got %v", err)
	}
}
