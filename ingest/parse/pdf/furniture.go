package pdf

import (
	"math"
	"regexp"
	"strings"
)

// Running headers and footers are looked for among the first and last lines of
// a page, in documents of at least this many pages.
const (
	edgeLines      = 3
	furniturePages = 4
)

// withoutFurniture drops the lines that most pages have at the same height:
// running headers, footers, page numbers.
func withoutFurniture(pages []Page) []Page {
	written := 0
	count := map[furniture]int{}
	for _, p := range pages {
		if len(p.Lines) > 0 {
			written++
		}
		seen := map[furniture]bool{}
		eachEdge(p, func(l Line) {
			for _, f := range marks(l) {
				if !seen[f] {
					seen[f] = true
					count[f]++
				}
			}
		})
	}
	if written < furniturePages {
		return pages
	}
	out := make([]Page, len(pages))
	for i, p := range pages {
		drop := map[Line]bool{}
		eachEdge(p, func(l Line) {
			for _, f := range marks(l) {
				if 2*count[f] > written {
					drop[l] = true
				}
			}
		})
		out[i] = p
		if len(drop) > 0 {
			out[i].Lines = without(p.Lines, drop)
		}
	}
	return out
}

func without(lines []Line, drop map[Line]bool) []Line {
	kept := make([]Line, 0, len(lines))
	for _, l := range lines {
		if !drop[l] {
			kept = append(kept, l)
		}
	}
	return kept
}

// furniture identifies a running line: what it says, numbers aside, and about
// where.
type furniture struct {
	text string
	band int // of its height; both neighbours are counted
}

var digits = regexp.MustCompile(`\d+`)

func marks(l Line) [2]furniture {
	text := digits.ReplaceAllString(strings.ToLower(l.Text), "#")
	band := l.Y / 8
	low := int(math.Floor(band))
	return [2]furniture{{text, low}, {text, low + 1}}
}

// eachEdge calls do for the highest and lowest lines of a page.
func eachEdge(p Page, do func(Line)) {
	n := len(p.Lines)
	for i, l := range p.Lines {
		above, below := 0, 0
		if i >= edgeLines && i < n-edgeLines {
			continue
		}
		for _, o := range p.Lines {
			switch {
			case o.Y < l.Y-1:
				above++
			case o.Y > l.Y+1:
				below++
			}
		}
		if above < edgeLines || below < edgeLines {
			do(l)
		}
	}
}
