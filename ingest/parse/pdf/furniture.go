package pdf

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Running headers and footers are looked for among the first and last lines of
// a page, in documents of at least this many pages.
const (
	edgeLines      = 3
	furniturePages = 4
)

// withoutFurniture drops what is not text of the document: page numbers, and
// the lines that most pages have at the same height.
func withoutFurniture(pages []Page) []Page {
	return withoutRunning(withoutNumbers(pages))
}

// withoutRunning drops running headers and footers.
func withoutRunning(pages []Page) []Page {
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

// pageNumber is a line that holds a page number and nothing else.
var pageNumber = regexp.MustCompile(`^(?i:page\s+)?[-–—|\s]*(?:[A-Z]-)?(\d{1,4})[-–—|\s]*(?:(?i:of|/)\s*\d{1,4})?$`)

// withoutNumbers drops page numbers, wherever a page ends: the number in its
// highest or lowest line, if it counts up with the pages.
func withoutNumbers(pages []Page) []Page {
	offsets := map[int]int{}
	for _, p := range pages {
		for _, l := range ends(p) {
			if n, ok := numberOf(l); ok {
				offsets[n-p.Number]++
			}
		}
	}
	out := make([]Page, len(pages))
	for i, p := range pages {
		drop := map[Line]bool{}
		for _, l := range ends(p) {
			// Documents in parts begin counting anew, so several may be right.
			if n, ok := numberOf(l); ok && offsets[n-p.Number] >= max(3, len(pages)/10) {
				drop[l] = true
			}
		}
		out[i] = p
		if len(drop) > 0 {
			out[i].Lines = without(p.Lines, drop)
		}
	}
	return out
}

// ends returns the highest and the lowest line of a page.
func ends(p Page) []Line {
	if len(p.Lines) == 0 {
		return nil
	}
	high, low := p.Lines[0], p.Lines[0]
	for _, l := range p.Lines {
		if l.Y < high.Y {
			high = l
		}
		if l.Y >= low.Y {
			low = l
		}
	}
	if high == low {
		return []Line{high}
	}
	return []Line{high, low}
}

func numberOf(l Line) (int, bool) {
	m := pageNumber.FindStringSubmatch(l.Text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}
