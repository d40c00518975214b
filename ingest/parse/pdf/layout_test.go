package pdf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var letter = [4]float64{0, 0, 612, 792}

// typed returns the glyphs of text set at (x, y), y from the bottom, every
// character half an em wide.
func typed(x, y, size float64, text string) []glyph {
	var out []glyph
	for _, r := range text {
		out = append(out, glyph{x: x, y: y, dx: 1, w: size / 2, size: size, text: string(r), blank: r == ' '})
		x += size / 2
	}
	return out
}

// moved returns glyphs without the blanks: the gaps say where words end.
func moved(glyphs []glyph) []glyph {
	var out []glyph
	for _, g := range glyphs {
		if !g.blank {
			out = append(out, g)
		}
	}
	return out
}

func texts(lines []Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return out
}

func TestWordsFromGaps(t *testing.T) {
	glyphs := moved(typed(72, 700, 10, "words without any blanks"))
	if diff := cmp.Diff([]string{"words without any blanks"}, texts(layout(glyphs, letter))); diff != "" {
		t.Error(diff)
	}
}

func TestLinesFromAnyOrder(t *testing.T) {
	glyphs := append(typed(72, 688, 10, "second line"), typed(72, 700, 10, "first line")...)
	for i, j := 0, len(glyphs)-1; i < j; i, j = i+1, j-1 {
		glyphs[i], glyphs[j] = glyphs[j], glyphs[i]
	}
	if diff := cmp.Diff([]string{"first line", "second line"}, texts(layout(glyphs, letter))); diff != "" {
		t.Error(diff)
	}
}

func TestRowsOfFigures(t *testing.T) {
	var glyphs []glyph
	glyphs = append(glyphs, typed(72, 700, 10, "Total revenues")...)
	glyphs = append(glyphs, typed(300, 700, 10, "$")...)
	glyphs = append(glyphs, typed(320, 700, 10, "1,234")...)
	glyphs = append(glyphs, typed(400, 700, 10, "(56")...)
	glyphs = append(glyphs, typed(418, 700, 10, ")")...)
	glyphs = append(glyphs, typed(480, 700, 10, "7.5")...)
	glyphs = append(glyphs, typed(500, 700, 10, "%")...)
	if diff := cmp.Diff([]string{"Total revenues  $1,234  (56)  7.5%"}, texts(layout(glyphs, letter))); diff != "" {
		t.Error(diff)
	}
}

func TestShadowsAndRaisedMarks(t *testing.T) {
	var glyphs []glyph
	glyphs = append(glyphs, typed(72, 700, 10, "Shadow")...)
	glyphs = append(glyphs, typed(72.4, 699.7, 10, "Shadow")...)
	glyphs = append(glyphs, typed(103, 704, 6, "1")...)
	if diff := cmp.Diff([]string{"Shadow1"}, texts(layout(glyphs, letter))); diff != "" {
		t.Error(diff)
	}
}

func TestTurnedText(t *testing.T) {
	glyphs := typed(72, 700, 10, "upright text")
	for i, r := range "side" { // running up the left margin
		glyphs = append(glyphs, glyph{x: 30, y: 300 + 5*float64(i), dy: 1, w: 5, size: 10, text: string(r)})
	}
	lines := layout(glyphs, letter)
	if diff := cmp.Diff([]string{"upright text", "side"}, texts(lines)); diff != "" {
		t.Error(diff)
	}
}

// column sets n lines of running text from the top of a page.
func column(x float64, name string, n int) []glyph {
	var out []glyph
	for i := range n {
		out = append(out, typed(x, 700-12*float64(i), 10, fmt.Sprintf("%s line %c of running text as it goes", name, 'a'+i))...)
	}
	return out
}

func TestColumnsAreReadOneAfterTheOther(t *testing.T) {
	glyphs := typed(72, 730, 12, "A title that stands across both of the columns of this page, quite long")
	left, right := column(60, "left", 10), column(320, "right", 10)
	for i := range left { // drawn line by line across the page
		glyphs = append(glyphs, left[i])
		if i < len(right) {
			glyphs = append(glyphs, right[i])
		}
	}
	glyphs = append(glyphs, right[min(len(left), len(right)):]...)
	lines := texts(layout(glyphs, letter))
	if len(lines) != 21 || !strings.HasPrefix(lines[1], "left line a") || !strings.HasPrefix(lines[10], "left line j") || !strings.HasPrefix(lines[11], "right line a") {
		t.Errorf("got %q", lines)
	}
}

func TestTablesAreNotColumns(t *testing.T) {
	var glyphs []glyph
	for i := range 12 {
		y := 700 - 12*float64(i)
		glyphs = append(glyphs, typed(60, y, 10, "a label of some words here")...)
		glyphs = append(glyphs, typed(400, y, 10, "1,234 5,678 901 234")...)
	}
	lines := layout(glyphs, letter)
	if len(lines) != 12 || lines[0].Text != "a label of some words here  1,234 5,678 901 234" || lines[0].Cells != 2 {
		t.Errorf("got %q", texts(lines))
	}
}

func TestRunningLinesStandOutsideOfColumns(t *testing.T) {
	var glyphs []glyph
	glyphs = append(glyphs, typed(60, 740, 8, "Journal of Things")...)
	glyphs = append(glyphs, typed(500, 740, 8, "2023")...)
	glyphs = append(glyphs, column(60, "left", 10)...)
	glyphs = append(glyphs, column(320, "right", 10)...)
	lines := texts(layout(glyphs, letter))
	if len(lines) != 21 || lines[0] != "Journal of Things  2023" || !strings.HasPrefix(lines[11], "right line a") {
		t.Errorf("got %q", lines)
	}
}

func TestLeadersPartCells(t *testing.T) {
	lines := layout(typed(72, 700, 10, "1. Introduction . . . . . . . . . 7"), letter)
	if len(lines) != 1 || lines[0].Text != "1. Introduction  7" || lines[0].Cells != 2 {
		t.Errorf("got %+v", lines)
	}
	if lines := layout(typed(72, 700, 10, "________________"), letter); len(lines) != 0 {
		t.Errorf("a ruled line reads %+v", lines)
	}
}
