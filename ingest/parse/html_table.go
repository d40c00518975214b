package parse

import "strings"

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
		r.body.add(Paragraph, 0, 0, row)
	}
	t.rows, t.cells = nil, nil
	r.inline.write(pending, true)
}

func (r *htmlReader) openCell() {
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
		t.inCell = true
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
		t.cells = append(t.cells, strings.ReplaceAll(cell, "|", "/"))
		t.inCell = false
	}
}

func (r *htmlReader) endRow() {
	t := r.table()
	if t == nil {
		return
	}
	r.endCell()
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
	r.body.add(Table, 0, 0, strings.Join(t.rows, "\n"))
}
