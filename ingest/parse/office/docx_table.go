package office

import (
	"strings"

	"ragagent/ingest/parse/doc"
)

// table is one that is being read.
type table struct {
	rows []*tableRow
	open bool // a cell is
}

type tableRow struct {
	cells   []*tableCell
	before  int  // columns left out before the first cell
	deleted bool // under change tracking
}

type tableCell struct {
	blocks []block
	inner  bool // it holds a table or a heading
	span   int  // columns, at least 1
	goesOn bool // the cell above reaches down to here
}

// Bounds of one table.
const (
	maxRows  = 200_000
	maxCells = 1000 // of a row
	maxSpan  = 1000
)

func (d *docx) table() *table {
	if n := len(d.tables); n > 0 {
		return d.tables[n-1]
	}
	return nil
}

func (d *docx) row() *tableRow {
	if t := d.table(); t != nil && len(t.rows) > 0 {
		return t.rows[len(t.rows)-1]
	}
	return nil
}

// cell returns the cell that is open, nil outside of one.
func (d *docx) cell() *tableCell {
	t := d.table()
	if t == nil || !t.open {
		return nil
	}
	cells := d.row().cells
	return cells[len(cells)-1]
}

func (d *docx) openRow() {
	if t := d.table(); t != nil && len(t.rows) < maxRows {
		t.open = false
		t.rows = append(t.rows, &tableRow{})
	}
}

func (d *docx) openCell() {
	t, r := d.table(), d.row()
	if r == nil {
		return
	}
	if len(r.cells) < maxCells {
		r.cells = append(r.cells, &tableCell{span: 1})
	}
	t.open = true
}

func (d *docx) closeCell() {
	if t := d.table(); t != nil {
		t.open = false
	}
}

func (d *docx) cellProperty(t token) {
	if t.name == "gridBefore" {
		if r := d.row(); r != nil {
			r.before = min(max(t.number("val", 0), 0), maxSpan)
		}
		return
	}
	c := d.cell()
	switch {
	case c == nil:
	case t.name == "gridSpan":
		c.span = min(max(t.number("val", 1), 1), maxSpan)
	default:
		c.goesOn = t.attr("val") != "restart"
	}
}

// closeTable writes a table: into the cell it is nested in, or to the text.
func (d *docx) closeTable() {
	n := len(d.tables)
	if n == 0 {
		return
	}
	t := d.tables[n-1]
	d.tables = d.tables[:n-1]
	blocks := t.blocks()
	if c := d.cell(); c != nil {
		c.inner = true
		c.blocks = append(c.blocks, blocks...)
		return
	}
	for _, b := range blocks {
		d.emit(b)
	}
	d.endList()
	if len(d.tables) == 0 && len(d.paragraphs) == 0 {
		d.writeNotes()
	}
}

// blocks returns what a table has to say: its rows, or, of one that is there for
// the layout, what stands in its cells.
func (t *table) blocks() []block {
	var out []block
	if t.isLayout() {
		for _, r := range t.rows {
			for _, c := range r.cells {
				if !r.deleted {
					out = append(out, c.blocks...)
				}
			}
		}
		return out
	}
	page := 0
	var lines []string
	above := map[int]string{} // text of cells that reach down, by column
	for _, r := range t.rows {
		if r.deleted {
			continue
		}
		if page == 0 {
			page = r.page()
		}
		if line := doc.Row(r.texts(above)); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return []block{{Block: doc.Block{Kind: doc.Table, Page: page, Text: strings.Join(lines, "\n")}}}
}

// isLayout says that no row has two cells, or that cells hold tables,
// or headings with text below.
func (t *table) isLayout() bool {
	wide := false
	for _, r := range t.rows {
		wide = wide || len(r.cells) > 1
		for _, c := range r.cells {
			if c.inner {
				return true
			}
			if len(c.blocks) > 1 && c.blocks[0].Kind == doc.Heading {
				return true
			}
		}
	}
	return !wide
}

func (r *tableRow) page() int {
	for _, c := range r.cells {
		for _, b := range c.blocks {
			return b.Page
		}
	}
	return 0
}

// texts returns the cells of a row by columns. One that spans columns stands in
// the first, one that spans rows in each of them.
func (r *tableRow) texts(above map[int]string) []string {
	out := make([]string, r.before)
	for _, c := range r.cells {
		column := len(out)
		text := c.text()
		if c.goesOn && text == "" {
			text = above[column]
		}
		above[column] = text
		out = append(out, text)
		if len(out) < maxCells {
			out = append(out, make([]string, c.span-1)...)
		}
	}
	return out
}

// text joins the paragraphs of a cell.
func (c *tableCell) text() string {
	var parts []string
	for _, b := range c.blocks {
		text := b.Text
		if b.item != "" && b.item != "-" {
			text = b.item + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}
