package office

import (
	"strings"

	"ragagent/ingest/parse/doc"
)

// odfTable is a table that is being read; of a sheet, its row only.
type odfTable struct {
	rows   [][]string
	row    []string
	cell   []string // paragraphs of the cell being read
	open   bool     // one is
	span   int      // how often it stands side by side
	repeat int      // how often the row stands there
}

// maxRepeat bounds how often a cell or row is written that says it is repeated.
// What says so a million times is the blank rest of a sheet.
const maxRepeat = 64

// frame takes what paragraphs stand in: sheets and tables, and slides.
func (d *odf) frame(t token) {
	switch t.name {
	case "table":
		d.openTable(t)
	case "table-row":
		if n := len(d.tables); n > 0 {
			d.tables[n-1].row = d.tables[n-1].row[:0]
			d.tables[n-1].repeat = max(t.number("number-rows-repeated", 1), 1)
		}
	case "table-cell", "covered-table-cell":
		if n := len(d.tables); n > 0 {
			tb := d.tables[n-1]
			tb.open, tb.cell = true, nil
			tb.span = max(t.number("number-columns-repeated", 1), 1)
		}
	case "page":
		if d.kind == presentation {
			d.page++
			d.titled, d.inNotes = false, false
		}
	case "notes":
		d.inNotes = true
	case "frame":
		d.title = t.attr("class") == "title"
	}
}

func (d *odf) openTable(t token) {
	if d.kind == spreadsheet && len(d.tables) == 0 {
		d.page++
		d.rowAt = 0
		d.sheet = &sheetRows{pack: d.pack, page: d.page, heading: t.attr("name")}
	}
	d.tables = append(d.tables, &odfTable{})
}

// closeTable takes the end of a cell, a row or a table.
func (d *odf) closeTable(name string) {
	n := len(d.tables)
	if n == 0 {
		return
	}
	tb := d.tables[n-1]
	switch name {
	case "table-cell", "covered-table-cell":
		if tb.open {
			tb.endCell()
		}
	case "table-row":
		if d.sheet != nil && n == 1 {
			d.endSheetRow(tb)
		} else if len(tb.rows) < maxRows {
			tb.rows = append(tb.rows, append([]string(nil), tb.row...))
		}
	case "table":
		d.tables = d.tables[:n-1]
		d.endTable(tb)
	}
}

func (tb *odfTable) endCell() {
	text := strings.TrimSpace(strings.Join(tb.cell, "\n"))
	tb.open = false
	for i := range min(tb.span, maxColumns-len(tb.row)) {
		if i >= maxRepeat {
			text = ""
		}
		tb.row = append(tb.row, text)
	}
}

func (d *odf) endSheetRow(tb *odfTable) {
	if !blank(tb.row) {
		for i := range min(tb.repeat, maxRepeat) {
			d.sheet.add(d.rowAt+1+i, tb.row)
		}
	}
	d.rowAt = min(d.rowAt+tb.repeat, 1<<30)
}

// endTable writes a table: to the sheet it is, the cell it is nested in, or the
// text.
func (d *odf) endTable(tb *odfTable) {
	if d.sheet != nil && len(d.tables) == 0 {
		d.sheet.end()
		d.sheet = nil
		return
	}
	var lines []string
	for _, row := range tb.rows {
		if line := doc.Row(row); line != "" {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "\n")
	if n := len(d.tables); n > 0 && d.tables[n-1].open {
		d.tables[n-1].cell = append(d.tables[n-1].cell, text)
		return
	}
	d.put(doc.Block{Kind: doc.Table, Page: d.page, Text: text})
}
