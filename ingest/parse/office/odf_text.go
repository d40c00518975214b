package office

import (
	"fmt"
	"slices"
	"strings"

	"ragagent/ingest/parse/doc"
)

// odf reads content.xml.
type odf struct {
	*pack
	kind     odfKind
	page     int               // page, slide or sheet; 0 where they are not known
	numbered map[listMark]bool // levels of list styles that count

	texts  []*odfText // open paragraphs: notes and boxes lie inside of one
	inNote int
	noted  int
	style  string // of lists, while one is described
	lists  []odfList
	items  []string // of the list block being read
	page0  int      // where it begins
	tables []*odfTable
	sheet  *sheetRows
	rowAt  int // latest row of the sheet

	titled  bool // the slide has its heading
	title   bool // the frame being read holds it
	inNotes bool // of a slide
}

// odfText is a paragraph or heading that is being read.
type odfText struct {
	text  strings.Builder
	level int // of a heading, 0 for none
	page  int
	due   []string // notes and boxes, to be written behind it
}

// odfList is an open list.
type odfList struct {
	style  string
	count  int
	marked bool // the item being read has its mark
}

// odfSkipped are elements whose content is no text of the document.
var odfSkipped = map[string]bool{
	"tracked-changes": true, "annotation": true, "font-face-decls": true, "scripts": true, "table-of-content": true,
	"sequence-decls": true, "forms": true, "note-citation": true, "ruby-text": true, "shapes": true,
	"event-listeners": true, "desc": true, "title": true, "named-expressions": true, "database-ranges": true, "settings": true,
}

func (d *odf) token(s *scanner, t token) error {
	switch t.kind {
	case text:
		d.write(string(t.text))
		return nil
	case end:
		d.close(t.name)
		return nil
	}
	if odfSkipped[t.name] {
		return s.skipElement()
	}
	switch t.name {
	case "p", "h":
		level := 0
		if t.name == "h" {
			level = min(max(t.number("outline-level", 1), 1), 6)
		}
		d.texts = append(d.texts, &odfText{level: level, page: d.page})
	case "s":
		d.write(strings.Repeat(" ", min(max(t.number("c", 1), 1), 100)))
	case "tab":
		d.write("\t")
	case "line-break":
		d.write("\n")
	case "soft-page-break":
		if d.page > 0 && d.kind == textDocument {
			d.page++
		}
	case "note":
		d.inNote++
		d.noted++
		d.write(fmt.Sprintf("[^%d]", d.noted))
	case "list":
		style := t.attr("style-name")
		if n := len(d.lists); n > 0 && style == "" {
			style = d.lists[n-1].style
		}
		d.lists = append(d.lists, odfList{style: style})
	case "list-item", "list-header":
		if n := len(d.lists); n > 0 {
			d.lists[n-1].marked = false
		}
	default:
		d.frame(t)
		return d.listStyle(s, t)
	}
	return nil
}

// listStyle takes which levels of a list style count.
func (d *odf) listStyle(_ *scanner, t token) error {
	switch {
	case t.kind != start:
	case t.name == "list-style":
		d.style = t.attr("name")
	case t.name == "list-level-style-number" && len(d.numbered) < maxStyles && t.attr("num-format") != "":
		d.numbered[listMark{d.style, t.number("level", 1)}] = true
	}
	return nil
}

// write appends to the paragraph that is open; between paragraphs there is only
// white space.
func (d *odf) write(text string) {
	n := len(d.texts)
	if n == 0 {
		return
	}
	p := d.texts[n-1]
	if p.text.Len()+len(text) > maxParagraph { // what no author writes goes on as the next one
		*p = odfText{page: p.page, due: append(p.due, p.text.String())}
	}
	p.text.WriteString(text)
}

func (d *odf) close(name string) {
	switch name {
	case "p", "h":
		if n := len(d.texts); n > 0 {
			p := d.texts[n-1]
			d.texts = d.texts[:n-1]
			d.endText(p)
		}
	case "note":
		d.inNote = max(0, d.inNote-1)
	case "list":
		if n := len(d.lists); n > 0 {
			d.lists = d.lists[:n-1]
		}
		if len(d.lists) == 0 {
			d.endList()
		}
	case "notes":
		d.inNotes = false
	case "frame":
		d.title = false
	case "table-cell", "covered-table-cell", "table-row", "table":
		d.closeTable(name)
	}
}

// endText puts a finished paragraph where it belongs.
func (d *odf) endText(p *odfText) {
	text := strings.TrimSpace(p.text.String())
	if n := len(d.texts); n > 0 {
		if text != "" && d.inNote > 0 {
			text = fmt.Sprintf("[^%d] %s", d.noted, text)
		}
		d.texts[n-1].due = append(append(d.texts[n-1].due, text), p.due...)
		return
	}
	if n := len(d.tables); n > 0 && d.tables[n-1].open {
		tb := d.tables[n-1]
		tb.cell = append(append(tb.cell, text), p.due...)
		return
	}
	d.emit(p, text)
	for _, t := range p.due {
		d.put(doc.Block{Kind: doc.Paragraph, Page: p.page, Text: t})
	}
}

// emit writes a paragraph: as an item, a heading, or as it is.
func (d *odf) emit(p *odfText, text string) {
	if text == "" {
		return
	}
	if d.kind == presentation && !d.inNotes && d.page > 0 && !d.titled {
		d.titled = true
		if d.title {
			d.put(doc.Block{Kind: doc.Heading, Level: 1, Page: p.page, Text: text})
			return
		}
		d.put(doc.Block{Kind: doc.Heading, Level: 1, Page: p.page, Text: fmt.Sprintf("Slide %d", d.page)})
	}
	switch n := len(d.lists); {
	case n > 0 && p.level == 0:
		d.item(&d.lists[n-1], n, p.page, text)
	case p.level > 0:
		d.put(doc.Block{Kind: doc.Heading, Level: p.level, Page: p.page, Text: text})
	default:
		if d.inNotes {
			text = "Notes: " + text
		}
		d.put(doc.Block{Kind: doc.Paragraph, Page: p.page, Text: text})
	}
}

// item writes a paragraph of a list; the first one of an item has its mark.
func (d *odf) item(l *odfList, depth, page int, text string) {
	if len(d.items) == 0 {
		d.page0 = page
	}
	indent := strings.Repeat("  ", min(depth, maxListLevel)-1)
	if l.marked {
		d.items = append(d.items, indent+"  "+text)
		return
	}
	l.marked = true
	l.count++
	mark := "-"
	if d.numbered[listMark{l.style, depth}] {
		mark = fmt.Sprintf("%d.", l.count)
	}
	d.items = append(d.items, itemLine(block{Block: doc.Block{Text: text}, item: mark, deep: min(depth, maxListLevel) - 1}))
	if len(d.items) >= maxItems {
		d.endList()
	}
}

func (d *odf) endList() {
	if len(d.items) > 0 {
		d.add(doc.Block{Kind: doc.List, Page: d.page0, Text: strings.Join(d.items, "\n")})
		d.items = slices.Delete(d.items, 0, len(d.items))
	}
}

func (d *odf) put(b doc.Block) {
	d.endList()
	d.add(b)
}

// end closes what is open at the end of the text, or where it breaks off.
func (d *odf) end() {
	for len(d.texts) > 0 {
		d.close("p")
	}
	for len(d.tables) > 0 {
		d.closeTable("table")
	}
	d.endList()
}
