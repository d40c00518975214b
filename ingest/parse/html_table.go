package parse

import "strings"

// tableState collects one table. A table that holds other tables or headings
// is a means of layout: its cells are read as ordinary text.
type tableState struct {
	rows   []string
	cells  []string
	inCell bool
	layout bool
	span   attributes   // of the cell being read
	below  map[int]span // cells that go on in the rows below, by column
}

// span is a cell that goes on in so many more rows.
type span struct {
	text string
	rows int
}

// maxSpan bounds the columns and rows of one cell.
const maxSpan = 100

// cellSeparator stands between the cells of a table row.
const cellSeparator = " | "

func (r *htmlReader) table() *tableState {
	if len(r.tables) == 0 {
		return nil
	}
	return r.tables[len(r.tables)-1]
}

// inCell returns the data table whose cell is being read, if any.
func (r *htmlReader) inCell() *tableState {
	if t := r.table(); t != nil && t.inCell && !t.layout {
		return t
	}
	return nil
}

func (r *htmlReader) openTable() {
	if len(r.tables) >= maxHTMLDepth {
		return
	}
	r.layoutTable()
	r.flushBlock()
	r.tables = append(r.tables, &tableState{})
}

// layoutTable turns the table that is being read into ordinary text.
func (r *htmlReader) layoutTable() {
	t := r.table()
	if t == nil || t.layout {
		return
	}
	t.layout = true
	pending := r.inline.take()
	for _, row := range append(t.rows, strings.Join(t.cells, cellSeparator)) {
		r.emit(Paragraph, 0, row)
	}
	t.rows, t.cells = nil, nil
	r.inline.write(pending, true)
}

func (r *htmlReader) openCell(attrs attributes) {
	t := r.table()
	switch {
	case t == nil:
		r.breakBlock()
	case t.layout:
		r.flushBlock()
	default:
		r.endCell()
		if !t.inCell { // what stands between the cells, a caption for example
			r.flushBlock()
		}
		t.inCell, t.span = true, attrs
	}
}

func (r *htmlReader) endCell() {
	t := r.table()
	switch {
	case t == nil:
	case t.layout:
		r.flushBlock()
	case t.inCell:
		cell := strings.Join(strings.Fields(r.inline.take()), " ")
		t.put(strings.ReplaceAll(cell, "|", "/"))
		t.inCell = false
	}
}

// put adds a cell to the row, after those that go on from the rows above, and
// with empty ones for the columns that it spans.
func (t *tableState) put(cell string) {
	t.fromAbove()
	columns := max(1, min(t.span.colspan, maxSpan))
	if rows := min(t.span.rowspan, maxSpan); rows > 1 && len(t.below) < maxSpan {
		if t.below == nil {
			t.below = map[int]span{}
		}
		t.below[len(t.cells)] = span{cell, rows - 1}
	}
	t.cells = append(t.cells, cell)
	for range columns - 1 {
		t.cells = append(t.cells, "")
	}
	t.span = attributes{}
}

// fromAbove repeats the cells that go on from the rows above.
func (t *tableState) fromAbove() {
	for {
		above, ok := t.below[len(t.cells)]
		if !ok {
			return
		}
		if above.rows--; above.rows == 0 {
			delete(t.below, len(t.cells))
		} else {
			t.below[len(t.cells)] = above
		}
		t.cells = append(t.cells, above.text)
	}
}

func (r *htmlReader) endRow() {
	t := r.table()
	if t == nil {
		return
	}
	r.endCell()
	if len(t.cells) > 0 {
		t.fromAbove()
	}
	if row := joinCells(t.cells); row != "" {
		t.rows = append(t.rows, row)
	}
	t.cells = t.cells[:0]
}

// joinCells makes one line of a row; empty cells at its end are left out.
func joinCells(cells []string) string {
	n := len(cells)
	for n > 0 && cells[n-1] == "" {
		n--
	}
	if strings.Join(cells[:n], "") == "" {
		return ""
	}
	return strings.Join(cells[:n], cellSeparator)
}

func (r *htmlReader) closeTable() {
	t := r.table()
	if t == nil {
		return
	}
	r.endRow()
	r.tables = r.tables[:len(r.tables)-1]
	if t.layout {
		r.flushBlock()
		return
	}
	r.emit(Table, 0, strings.Join(t.rows, "\n"))
}
