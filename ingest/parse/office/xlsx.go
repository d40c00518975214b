package office

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"ragagent/ingest/parse/doc"
)

// ReadXLSX reads a workbook of Excel as a stream: its sheets in order, each with
// its name as heading, its rows with the names of their columns where the sheet
// names them. Numbers and dates are written as they are shown, dates as in ISO
// 8601; formulas by the results they had. A page is a sheet.
func ReadXLSX(r io.ReaderAt, size int64, out doc.Sink) error {
	p, err := openPack(r, size, out)
	if err != nil {
		return err
	}
	main, err := p.mainPart("xl/workbook.xml")
	if err != nil {
		return err
	}
	if _, err := p.properties(); err != nil {
		return err
	}
	relations, err := p.relations(main)
	if err != nil {
		return err
	}
	w := workbook{pack: p}
	sheets, err := w.sheets(main, relations)
	if err != nil {
		return err
	}
	if err := w.readFormats(one(relations, "styles", "xl/styles.xml")); err != nil {
		return err
	}
	if err := w.readStrings(one(relations, "sharedStrings", "xl/sharedStrings.xml")); err != nil {
		return err
	}
	var hidden []string
	for i, s := range sheets {
		if s.part == "" || out.Full() {
			continue
		}
		if s.hidden {
			hidden = append(hidden, s.name)
		}
		if err := w.sheet(i+1, s); err != nil {
			return err
		}
	}
	if len(hidden) > 0 {
		out.Warn("hidden sheets were read too: " + strings.Join(hidden, ", "))
	}
	if w.unknown > 0 {
		out.Warn(fmt.Sprintf("%d formulas have no stored result: open the workbook, save it, and upload it again", w.unknown))
	}
	return p.finish()
}

// workbook is what the sheets share.
type workbook struct {
	*pack
	mac     bool           // days count from 1904
	formats []numberFormat // by the style of a cell
	shared  stringTable
	unknown int // formulas without a result
}

type sheetInfo struct {
	name   string
	part   string
	hidden bool
}

// Bounds of a workbook.
const (
	maxSheets  = 10_000
	maxFormats = 100_000
	maxColumns = 16_384
)

func (w *workbook) sheets(main string, relations map[string]relation) ([]sheetInfo, error) {
	var out []sheetInfo
	err := w.walk(main, func(_ *scanner, t token) error {
		switch {
		case t.kind != start:
		case t.name == "workbookPr":
			mac := t.attr("date1904")
			w.mac = mac == "1" || mac == "true"
		case t.name == "sheet" && len(out) < maxSheets:
			r := relations[t.reference("id")]
			if r.kind == "chartsheet" || r.kind == "dialogsheet" {
				r.target = ""
			}
			state := t.attr("state")
			out = append(out, sheetInfo{name: t.attr("name"), part: r.target, hidden: state == "hidden" || state == "veryHidden"})
		}
		return nil
	})
	return out, err
}

// readFormats reads how the styles of cells show numbers.
func (w *workbook) readFormats(part string) error {
	codes := map[int]string{}
	known := map[int]numberFormat{}
	cells := false
	return w.walk(part, func(_ *scanner, t token) error {
		switch {
		case t.kind == end:
			cells = cells && t.name != "cellXfs"
		case t.kind != start:
		case t.name == "numFmt" && len(codes) < maxFormats:
			codes[t.number("numFmtId", 0)] = t.attr("formatCode")
		case t.name == "cellXfs":
			cells = true
		case t.name == "xf" && cells && len(w.formats) < maxFormats:
			id := t.number("numFmtId", 0)
			f, ok := known[id]
			if !ok {
				code, ok := codes[id]
				if !ok {
					code = builtin[id]
				}
				f = parseFormat(code)
				known[id] = f
			}
			w.formats = append(w.formats, f)
		}
		return nil
	})
}

// stringTable holds the shared strings, which may be many, close together.
type stringTable struct {
	text []byte
	ends []uint32
}

// maxStrings bounds the bytes of all shared strings.
const maxStrings = 256 << 20

func (s *stringTable) at(i int) string {
	if i < 0 || i >= len(s.ends) {
		return ""
	}
	from := uint32(0)
	if i > 0 {
		from = s.ends[i-1]
	}
	return string(s.text[from:s.ends[i]])
}

func (w *workbook) readStrings(part string) error {
	t := &w.shared
	inText := false
	return w.walk(part, func(s *scanner, tok token) error {
		switch {
		case tok.kind == text && inText:
			if len(t.text)+len(tok.text) > maxStrings {
				return fmt.Errorf("%w: more than %d MB of texts in a workbook", doc.ErrLimit, maxStrings>>20)
			}
			t.text = append(t.text, tok.text...)
		case tok.kind == text:
		case tok.name == "t":
			inText = tok.kind == start
		case tok.name == "rPh" && tok.kind == start: // how it is pronounced
			return s.skipElement()
		case tok.name == "si" && tok.kind == end:
			t.ends = append(t.ends, uint32(len(t.text)))
		}
		return nil
	})
}

// cell is one that is being read.
type cell struct {
	kind    string // "s", "str", "inlineStr", "b", "e", "d" or "" for a number
	style   int
	value   []byte
	formula bool
	reading bool // its value or text
}

// sheet reads one sheet.
func (w *workbook) sheet(number int, info sheetInfo) error {
	merged, err := w.merged(info.part)
	if err != nil {
		return err
	}
	name := info.name
	if name == "" {
		name = fmt.Sprintf("Sheet %d", number)
	}
	rows := sheetRows{pack: w.pack, page: number, heading: name}
	r := sheetReader{workbook: w, rows: &rows, merged: merged}
	if err := w.walk(info.part, r.token); err != nil {
		return err
	}
	r.endRow()
	rows.end()
	return nil
}

// sheetReader turns the tokens of a sheet into rows.
type sheetReader struct {
	*workbook
	rows   *sheetRows
	merged map[[2]int]*mergedCell
	row    int // the current one, from 1
	column int // of the latest cell, from 1
	cells  []string
	cell   cell
}

func (r *sheetReader) token(s *scanner, t token) error {
	c := &r.cell
	switch t.kind {
	case text:
		if c.reading && len(c.value) < maxParagraph {
			c.value = append(c.value, t.text...)
		}
	case end:
		switch t.name {
		case "v", "t":
			c.reading = false
		case "c":
			r.put(r.shown(*c))
		case "row":
			r.endRow()
		case "sheetData":
			return errStop
		}
	case start:
		switch t.name {
		case "row":
			r.endRow()
			r.row = t.number("r", r.row+1)
		case "c":
			r.openCell(t)
		case "v", "t":
			c.reading = true
		case "f":
			c.formula = true
			return s.skipElement()
		case "rPh":
			return s.skipElement()
		}
	}
	return nil
}

func (r *sheetReader) openCell(t token) {
	r.column++
	if at := columnOf(t.attr("r")); at > 0 {
		r.column = at
	}
	r.cell = cell{kind: t.attr("t"), style: t.number("s", 0), value: r.cell.value[:0]}
}

// columnOf returns the column that a reference such as "BC12" names, from 1; 0
// if it names none.
func columnOf(ref string) int {
	n := 0
	for i := 0; i < len(ref) && i < 4; i++ {
		c := ref[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			break
		}
		n = 26*n + int(c-'A') + 1
	}
	if n > maxColumns {
		return 0
	}
	return n
}

// shown returns what a cell shows.
func (r *sheetReader) shown(c cell) string {
	value := strings.TrimSpace(string(c.value))
	switch c.kind {
	case "s":
		i, err := strconv.Atoi(value)
		if err != nil {
			return ""
		}
		return r.shared.at(i)
	case "b":
		if value == "1" {
			return "TRUE"
		}
		return "FALSE"
	case "str", "inlineStr", "e", "d":
		return value
	}
	if value == "" {
		if c.formula {
			r.unknown++
		}
		return ""
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	if c.style >= 0 && c.style < len(r.formats) {
		return r.formats[c.style].show(n, r.mac)
	}
	return shortest(n)
}

func (r *sheetReader) put(value string) {
	if m := r.merged[[2]int{r.row, r.column}]; m != nil {
		if value == "" {
			value = m.text
		}
		m.text = value
	}
	if value == "" || r.column < 1 || r.column > maxColumns {
		return
	}
	for len(r.cells) < r.column {
		r.cells = append(r.cells, "")
	}
	r.cells[r.column-1] = value
}

// endRow hands the row on.
func (r *sheetReader) endRow() {
	if r.row > 0 {
		r.rows.add(r.row, r.cells)
	}
	r.cells, r.column = r.cells[:0], 0
}

// mergedCell is one that reaches over several rows, and shows in each of them.
type mergedCell struct{ text string }

// Bounds of what is kept of merged cells.
const (
	maxMerged     = 100_000 // places
	maxMergedRows = 1000    // of one cell
)

// merged reads the cells that reach over several rows of one column, by the
// rows and columns they cover. They stand behind the rows of a sheet, which is
// therefore gone through twice.
func (w *workbook) merged(part string) (map[[2]int]*mergedCell, error) {
	out := map[[2]int]*mergedCell{}
	err := w.walk(part, func(_ *scanner, t token) error {
		if t.kind != start || t.name != "mergeCell" {
			return nil
		}
		first, last, ok := strings.Cut(t.attr("ref"), ":")
		column, rows := columnOf(first), [2]int{rowOf(first), rowOf(last)}
		if !ok || column == 0 || rows[0] < 1 || rows[1] <= rows[0] || rows[1]-rows[0] > maxMergedRows || len(out)+rows[1]-rows[0] > maxMerged {
			return nil
		}
		m := &mergedCell{}
		for row := rows[0]; row <= rows[1]; row++ {
			out[[2]int{row, column}] = m
		}
		return nil
	})
	return out, err
}

func rowOf(ref string) int {
	n, err := strconv.Atoi(strings.TrimLeft(ref, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz$"))
	if err != nil {
		return 0
	}
	return n
}
