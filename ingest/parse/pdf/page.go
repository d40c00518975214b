package pdf

import (
	"fmt"
	"math"

	"github.com/ledongthuc/pdf"
)

// Page reads the page with number n, from 1. What cannot be read of it is told
// in Problem.
func (d *Document) Page(n int) (page Page) {
	node := d.pages[n-1]
	page = Page{Number: n, Width: node.box[2] - node.box[0], Height: node.box[3] - node.box[1]}
	m := &machine{doc: d, glyphs: d.glyphs[:0]}
	problem := m.drawPage(node)
	page.Images, page.Unmapped, page.Glyphs = m.images, m.unmapped, len(m.glyphs)
	switch {
	case problem != "":
		page.Problem = problem
	case m.cut:
		page.Problem = "the page is too large"
	case m.broken:
		page.Problem = "its content is damaged"
	}
	d.glyphs = m.glyphs[:0]
	page.Lines = layout(onPage(m.glyphs, node.box), node.box)
	return page
}

// drawPage runs the page's content; it returns what went wrong.
func (m *machine) drawPage(node pageNode) (problem string) {
	defer func() {
		if r := recover(); r != nil {
			problem = fmt.Sprint(r)
		}
	}()
	if node.page.Kind() != pdf.Dict {
		return "the page is damaged"
	}
	data := m.pageContent(node.page.Key("Contents"))
	m.draw(data, node.resources, state{ctm: identity, scale: 1}, 0)
	return ""
}

// pageContent joins the content streams of a page.
func (m *machine) pageContent(v pdf.Value) []byte {
	if v.Kind() != pdf.Array {
		data, whole := streamData(v, maxPageBytes)
		m.broken = !whole
		return data
	}
	var data []byte
	for i := 0; i < v.Len() && i < 10_000 && len(data) < maxPageBytes; i++ {
		part, whole := streamData(v.Index(i), maxPageBytes-int64(len(data)))
		m.broken = m.broken || !whole
		data = append(data, part...)
		data = append(data, '\n')
	}
	return data
}

// onPage drops glyphs outside the visible part of the page.
func onPage(glyphs []glyph, box [4]float64) []glyph {
	const margin = 2
	kept := glyphs[:0]
	for _, g := range glyphs {
		if g.x >= box[0]-margin && g.x <= box[2]+margin && g.y >= box[1]-margin && g.y <= box[3]+margin && !math.IsNaN(g.w) && math.Abs(g.w) < 1e5 {
			kept = append(kept, g)
		}
	}
	return kept
}

// layout turns glyphs into lines in reading order. Text in other directions
// than that of most of the page comes after it.
func layout(glyphs []glyph, box [4]float64) []Line {
	var turned [4][]glyph
	for _, g := range glyphs {
		turned[direction(g)] = append(turned[direction(g)], g)
	}
	var lines []Line
	column := 0
	for _, d := range byCount(turned) {
		words := joinWords(upright(turned[d], d, box))
		for _, region := range regions(joinRows(words)) {
			for _, row := range region {
				if line, ok := row.line(column); ok {
					lines = append(lines, line)
				}
			}
			column++
		}
	}
	return lines
}

// direction returns 0 for text that runs right, 1 up, 2 left, 3 down.
func direction(g glyph) int {
	switch {
	case g.dx >= math.Abs(g.dy):
		return 0
	case -g.dx >= math.Abs(g.dy):
		return 2
	case g.dy > 0:
		return 1
	}
	return 3
}

// byCount orders the directions by how many glyphs they have.
func byCount(turned [4][]glyph) []int {
	order := []int{0, 1, 2, 3}
	for i := 1; i < len(order); i++ {
		for j := i; j > 0 && len(turned[order[j]]) > len(turned[order[j-1]]); j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	return order
}

// upright turns glyphs of one direction so that they run right, y growing
// downwards from the top of the page as the reader holds it.
func upright(glyphs []glyph, d int, box [4]float64) []glyph {
	for i := range glyphs {
		g := &glyphs[i]
		x, y := g.x-box[0], g.y-box[1]
		w, h := box[2]-box[0], box[3]-box[1]
		switch d {
		case 0:
			g.x, g.y = x, h-y
		case 1:
			g.x, g.y = y, x
		case 2:
			g.x, g.y = w-x, y
		case 3:
			g.x, g.y = h-y, w-x
		}
	}
	return glyphs
}
