package office

import (
	"fmt"
	"io"
	"strings"

	"ragagent/ingest/parse/doc"
)

// ReadDOCX reads a document of Word. What was deleted under change tracking is
// left out and what was inserted is there; headers and footers, comments,
// tables of contents and hidden text are left out. Notes stand behind the
// paragraph that refers to them, marked "[^1]". Blocks have page numbers where
// the file says where its pages break.
func ReadDOCX(r io.ReaderAt, size int64, out doc.Sink) error {
	p, err := openPack(r, size, out)
	if err != nil {
		return err
	}
	main, err := p.mainPart("word/document.xml")
	if err != nil {
		return err
	}
	counted, err := p.properties()
	if err != nil {
		return err
	}
	relations, err := p.relations(main)
	if err != nil {
		return err
	}
	d := docx{pack: p, notes: map[noteRef]string{}}
	if d.styles, err = p.styles(one(relations, "styles", "word/styles.xml")); err != nil {
		return err
	}
	if d.numbers, err = p.numbering(one(relations, "numbering", "word/numbering.xml")); err != nil {
		return err
	}
	for kind, part := range map[string]string{"footnote": "word/footnotes.xml", "endnote": "word/endnotes.xml"} {
		if err := d.readNotes(kind, one(relations, kind+"s", part)); err != nil {
			return err
		}
	}
	if d.breaks, err = p.pageBreaks(main, counted); err != nil {
		return err
	}
	if d.breaks != nil {
		d.page = 1
	}
	if err := p.walk(main, d.token); err != nil {
		return err
	}
	d.end()
	return p.finish()
}

// docx reads the main part of a document.
type docx struct {
	*pack
	styles  map[string]style
	numbers *numbering
	notes   map[noteRef]string
	breaks  map[string]bool // elements that begin a page
	page    int             // the current one, 0 where they are not known

	paragraphs []*paragraph // open ones: a text box lies inside one
	tables     []*table
	items      []string // of the list being read
	listPage   int
	due        []string // notes referred to, to be written behind the paragraph
	noted      int      // notes so far
	hidden     bool     // the run is
	inRun      bool     // its properties are read
}

// paragraph is one that is being read.
type paragraph struct {
	text  strings.Builder
	style style
	level int // of the heading, unset if the paragraph does not say
	list  listMark
	page  int // where its text begins
	boxes []block
}

// block is a finished paragraph.
type block struct {
	doc.Block
	item string // the mark of a list item
	deep int    // its level
}

// maxParagraph bounds a paragraph, in bytes.
const maxParagraph = 4 << 20

// skipped are elements whose content is no text of the document, or a second
// copy of it.
var skipped = map[string]bool{
	"del": true, "moveFrom": true, "delText": true, "instrText": true, "delInstrText": true,
	"rPrChange": true, "pPrChange": true, "tblPrChange": true, "tcPrChange": true, "trPrChange": true, "sectPrChange": true, "tblGridChange": true,
	"Fallback": true, "rt": true, "fldData": true, "binData": true, "tblGrid": true,
}

// token takes the next piece of the document.
func (d *docx) token(s *scanner, t token) error {
	switch t.kind {
	case text:
		return nil // outside of w:t there is only white space
	case end:
		d.close(t.name)
		return nil
	}
	if d.breaks[t.name] {
		d.turn(t)
	}
	switch t.name {
	case "del":
		if d.row() != nil && len(d.paragraphs) == 0 {
			d.row().deleted = true
		}
		return s.skipElement()
	case "t":
		return d.text(s)
	case "p":
		d.paragraphs = append(d.paragraphs, &paragraph{level: unset, page: 0})
	case "tbl":
		d.endList()
		d.tables = append(d.tables, &table{})
	case "tr":
		d.openRow()
	case "tc":
		d.openCell()
	case "gridSpan", "vMerge", "gridBefore":
		d.cellProperty(t)
	case "showingPlcHdr":
		return d.placeholder(s)
	case "rPr":
		d.inRun = true
	case "vanish":
		d.hidden = d.inRun && t.attr("val") != "0" && t.attr("val") != "false"
	case "r":
		d.hidden = false
	default:
		if skipped[t.name] {
			return s.skipElement()
		}
		if p := d.paragraph(); p != nil {
			d.inParagraph(p, t)
		}
	}
	return nil
}

func (d *docx) paragraph() *paragraph {
	if n := len(d.paragraphs); n > 0 {
		return d.paragraphs[n-1]
	}
	return nil
}

// inParagraph takes what describes a paragraph or stands in it.
func (d *docx) inParagraph(p *paragraph, t token) {
	switch t.name {
	case "pStyle":
		p.style = resolved(d.styles, t.attr("val"))
	case "outlineLvl":
		p.level = outline(t)
	case "ilvl":
		p.list.level = t.number("val", 0)
	case "numId":
		p.list.number = t.attr("val")
	case "tab", "ptab":
		if !d.inTabs(t) {
			d.write(p, "\t")
		}
	case "br", "cr":
		if kind := t.attr("type"); kind != "page" && kind != "column" {
			d.write(p, "\n")
		}
	case "noBreakHyphen":
		d.write(p, "-")
	case "footnoteReference":
		d.refer(p, noteRef{"footnote", t.attr("id")})
	case "endnoteReference":
		d.refer(p, noteRef{"endnote", t.attr("id")})
	}
}

// inTabs says that a tab is a place that tabs go to, not one of the text.
func (d *docx) inTabs(t token) bool {
	_, place := t.lookup("pos")
	return place || t.attr("val") == "clear"
}

func (d *docx) write(p *paragraph, text string) {
	if d.hidden {
		return
	}
	if p.text.Len()+len(text) > maxParagraph { // what no author writes goes on as the next one
		for _, b := range d.blockOf(p) {
			d.place(b)
		}
		p.text.Reset()
		p.style, p.level, p.list, p.page = style{}, 0, listMark{}, 0
	}
	if p.page == 0 && strings.TrimSpace(text) != "" {
		p.page = d.page
	}
	p.text.WriteString(text)
}

// text reads a w:t, or one of formulas and drawings.
func (d *docx) text(s *scanner) error {
	return s.eachText(func(part []byte) {
		if p := d.paragraph(); p != nil {
			d.write(p, string(part))
		}
	})
}

// placeholder leaves out the content of a control that nobody has filled in.
func (d *docx) placeholder(s *scanner) error {
	for {
		t, err := s.next()
		if err != nil {
			return err
		}
		switch {
		case t.kind == start && t.name == "sdtContent":
			return s.skipElement()
		case t.kind == end && t.name == "sdt":
			return nil
		}
	}
}

// close takes the end of an element.
func (d *docx) close(name string) {
	switch name {
	case "rPr":
		d.inRun = false
	case "p":
		n := len(d.paragraphs)
		if n == 0 {
			return
		}
		p := d.paragraphs[n-1]
		d.paragraphs = d.paragraphs[:n-1]
		d.endParagraph(p)
	case "tc":
		d.closeCell()
	case "tbl":
		d.closeTable()
	}
}

// endParagraph makes a block of a paragraph. One in a text box is kept for the
// end of the paragraph that the box is in.
func (d *docx) endParagraph(p *paragraph) {
	blocks := append(d.blockOf(p), p.boxes...)
	if outer := d.paragraph(); outer != nil {
		outer.boxes = append(outer.boxes, blocks...)
		return
	}
	for _, b := range blocks {
		d.place(b)
	}
	if len(d.tables) == 0 {
		d.writeNotes()
	}
}

// blockOf says what a paragraph is.
func (d *docx) blockOf(p *paragraph) []block {
	text := strings.TrimRight(p.text.String(), " \t\n")
	if strings.TrimSpace(text) == "" || p.style.toc {
		return nil
	}
	if p.page == 0 {
		p.page = d.page
	}
	b := block{Block: doc.Block{Kind: doc.Paragraph, Page: p.page, Text: text}}
	level := p.level
	if level == unset {
		level = p.style.level
	}
	list := p.list
	if list.number == "" && p.style.list.number != "" {
		list = listMark{p.style.list.number, max(p.style.list.level, p.list.level)}
	}
	mark := d.numbers.next(list)
	switch {
	case level > 0:
		b.Kind, b.Level = doc.Heading, min(level, 6)
		if mark != "" && mark != "-" {
			b.Text = mark + " " + text
		}
	case mark != "":
		b.Kind, b.item, b.deep = doc.List, mark, min(max(list.level, 0), maxListLevel)
	case p.style.kind != "":
		b.Kind = p.style.kind
	}
	return []block{b}
}

// place puts a finished block where it belongs: into a cell, a list, or the
// text.
func (d *docx) place(b block) {
	if c := d.cell(); c != nil {
		c.blocks = append(c.blocks, b)
		return
	}
	d.emit(b)
}

// emit writes a block to the text.
func (d *docx) emit(b block) {
	if b.Kind == doc.List {
		if len(d.items) == 0 {
			d.listPage = b.Page
		}
		d.items = append(d.items, itemLine(b))
		if len(d.items) >= maxItems {
			d.endList()
		}
		return
	}
	d.endList()
	d.add(b.Block)
}

// maxItems bounds those of one list block.
const maxItems = 2000

// itemLine writes an item with its mark, two blanks before it for each level.
func itemLine(b block) string {
	indent := strings.Repeat("  ", b.deep)
	return indent + b.item + " " + strings.ReplaceAll(strings.TrimSpace(b.Text), "\n", "\n"+indent+"  ")
}

func (d *docx) endList() {
	if len(d.items) > 0 {
		d.add(doc.Block{Kind: doc.List, Page: d.listPage, Text: strings.Join(d.items, "\n")})
		d.items = d.items[:0]
	}
}

// end closes what is open at the end of the text, or where it breaks off.
func (d *docx) end() {
	for len(d.paragraphs) > 0 {
		d.close("p")
	}
	for len(d.tables) > 0 {
		d.closeTable()
	}
	d.endList()
	d.writeNotes()
}

// noteRef names a note.
type noteRef struct{ kind, id string }

// maxNotes bounds the notes of a document.
const maxNotes = 50_000

// readNotes reads footnotes or endnotes.
func (d *docx) readNotes(kind, part string) error {
	id := ""
	var note strings.Builder
	return d.walk(part, func(s *scanner, t token) error {
		switch {
		case t.kind == start && t.name == kind:
			id = t.attr("id")
			if kind := t.attr("type"); kind != "" && kind != "normal" {
				return s.skipElement() // a line that separates
			}
			note.Reset()
		case t.kind == start && t.name == "t":
			return s.eachText(func(part []byte) {
				if note.Len() < maxParagraph {
					note.Write(part)
				}
			})
		case t.kind == start && (t.name == "tab" || t.name == "br"), t.kind == end && t.name == "p":
			note.WriteByte(' ')
		case t.kind == end && t.name == kind:
			if value := strings.Join(strings.Fields(note.String()), " "); value != "" && len(d.notes) < maxNotes {
				d.notes[noteRef{kind, id}] = value
			}
		case t.kind == start && skipped[t.name]:
			return s.skipElement()
		}
		return nil
	})
}

// refer marks the place that a note belongs to.
func (d *docx) refer(p *paragraph, ref noteRef) {
	note, ok := d.notes[ref]
	if !ok || d.hidden {
		return
	}
	d.noted++
	mark := fmt.Sprintf("[^%d]", d.noted)
	d.write(p, mark)
	d.due = append(d.due, mark+" "+note)
}

// writeNotes writes the notes that were referred to.
func (d *docx) writeNotes() {
	if len(d.due) == 0 {
		return
	}
	d.endList()
	for _, note := range d.due {
		d.add(doc.Block{Kind: doc.Paragraph, Page: d.page, Text: note})
	}
	d.due = d.due[:0]
}
