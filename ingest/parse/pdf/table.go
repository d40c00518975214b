package pdf

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Tables are told by rows: lines with cells. Between and above rows stand
// lines that belong to the table as well.
const (
	maxLabels = 3   // lines between two rows, such as "Current assets:"
	maxTitles = 3   // lines above the first row, such as "Accumulated" over its column
	rowGap    = 3.0 // distance of rows in usual line distances, at most
)

// tableLength returns how many lines from the first one make up a table; 0 if
// none begins there. A table has two rows at least.
func (s *style) tableLength(p Page, lines []Line) int {
	n := 0
	for n < len(lines) && n <= maxTitles && !isRow(lines[n]) {
		if n == maxTitles || !s.isColumnTitle(p, lines[n:]) {
			return 0
		}
		n++
	}
	if n == len(lines) {
		return 0
	}
	n++
	rows, right := 1, lines[n-1].X1
	for n < len(lines) {
		next := s.nextRow(lines[n-1], lines[n:], right)
		if next < 0 {
			break
		}
		n += next + 1
		rows++
		right = math.Max(right, lines[n-1].X1)
	}
	if rows < 2 {
		return 0
	}
	return n
}

// isColumnTitle says that the first line stands right above the next one and
// over the right part of the page, though not in its middle.
func (s *style) isColumnTitle(p Page, lines []Line) bool {
	l := lines[0]
	if len(lines) < 2 || lines[1].Column != l.Column || utf8.RuneCountInString(l.Text) > 60 {
		return false
	}
	gap := (lines[1].Y - l.Y) / math.Max(l.Size, 1)
	center := (l.X0 + l.X1) / 2 / math.Max(p.Width, 1)
	return gap > 0 && gap < 1.4*s.leading && l.X0 > 0.35*p.Width && math.Abs(center-0.5) > 0.05
}

// nextRow returns how many label lines stand before the next row of a table
// whose last row is above and whose rows reach to right; -1 if the table ends.
func (s *style) nextRow(above Line, lines []Line, right float64) int {
	for i, l := range lines[:min(len(lines), maxLabels+1)] {
		size := math.Max(above.Size, l.Size)
		switch {
		case l.Column != above.Column || l.Y <= above.Y || l.Y-above.Y > rowGap*s.leading*size:
			return -1
		case isRow(l):
			return i
		case l.X1 > right-2*size && utf8.RuneCountInString(l.Text) > 40:
			return -1 // running text: a label leaves the columns of figures free
		case endsSentence(l.Text) && !strings.HasSuffix(l.Text, ":") && utf8.RuneCountInString(l.Text) > 70:
			return -1
		}
		above = l
	}
	return -1
}

// isRow says that a line has cells; the mark of a list item is none.
func isRow(l Line) bool {
	cells := l.Cells
	if mark, _, ok := strings.Cut(l.Text, "  "); ok && utf8.RuneCountInString(mark) <= maxMarker && marker.MatchString(l.Text) {
		cells--
	}
	return cells > 1
}
