package pdf

import (
	"math"
	"slices"
)

// Bounds of what counts as columns of running text.
const (
	minColumnRows  = 6
	minColumnWords = 3.5  // in a row, on average
	minColumnWidth = 0.25 // of the width of the text
	minGutter      = 6.0  // points
	binWidth       = 2.0  // points; places for a gutter are tried this far apart
	maxColumns     = 4
	gutterGap      = 0.8 // em; a gutter is wider
	proseGap       = 2.0 // em; blanks in justified lines are narrower
)

// regions cuts the rows of a page into parts to be read one after the other:
// columns of running text stand beside each other on the page, but follow each
// other in the reading. Tables are not cut; they are read row by row.
func regions(rows []row) [][]row { return split(rows, maxColumns) }

func split(rows []row, columns int) [][]row {
	if len(rows) == 0 {
		return nil
	}
	at, ok := gutter(rows)
	if !ok || columns < 2 {
		return [][]row{rows}
	}
	var out [][]row
	var plain []row // rows outside of columns, above or below them
	for start := 0; start < len(rows); {
		end := start
		for end < len(rows) && !rows[end].crosses(at) {
			end++
		}
		head, band, foot := trimEdges(rows[start:end])
		left, right := cut(band, at)
		if isColumn(left) && isColumn(right) {
			plain = append(plain, head...)
			if len(plain) > 0 {
				out = append(out, plain)
			}
			out = append(out, split(left, columns-1)...)
			out = append(out, split(right, columns-1)...)
			plain = slices.Clone(foot)
		} else {
			plain = append(plain, rows[start:end]...)
		}
		if end < len(rows) {
			plain = append(plain, rows[end])
			end++
		}
		start = end
	}
	if len(plain) > 0 {
		out = append(out, plain)
	}
	return out
}

// trimEdges takes off the rows that stand apart at the head and the foot of
// columns, such as the parts of a running header.
func trimEdges(rows []row) (head, band, foot []row) {
	const most, apart = 3, 1.7 // rows; em
	from, to := 0, len(rows)
	for i := 0; i < most && i+1 < to; i++ {
		if rows[i+1].y-rows[i].y > apart*rows[i].size {
			from = i + 1
		}
	}
	for i := len(rows) - 1; i >= len(rows)-most && i > from; i-- {
		if rows[i].y-rows[i-1].y > apart*rows[i].size {
			to = i
		}
	}
	return rows[:from], rows[from:to], rows[to:]
}

// gutter finds the place that the fewest rows write across, in the middle part
// of the text; ok is false if too many do, or too little room is there.
func gutter(rows []row) (at float64, ok bool) {
	left, right := extent(rows)
	if right-left < 100 || right-left > 1e5 || len(rows) < minColumnRows {
		return 0, false
	}
	crossing := make([]int, int((right-left)/binWidth)+2)
	for _, r := range rows {
		r.eachPiece(gutterGap, func(x0, x1 float64) {
			for i := int((x0 - left) / binWidth); i <= int((x1-left)/binWidth); i++ {
				crossing[i]++
			}
		})
	}
	first := int(minColumnWidth * float64(len(crossing)))
	last := len(crossing) - 1 - first
	fewest := len(rows)
	for i := first; i <= last; i++ {
		fewest = min(fewest, crossing[i])
	}
	if 2*fewest > len(rows) {
		return 0, false
	}
	// The widest stretch of places that are about as good as the best.
	good := fewest + len(rows)/20
	bestStart, bestLen := 0, 0
	for i := first; i <= last; {
		n := 0
		for i+n <= last && crossing[i+n] <= good {
			n++
		}
		if n > bestLen {
			bestStart, bestLen = i, n
		}
		i += n + 1
	}
	return left + (float64(bestStart)+float64(bestLen)/2)*binWidth, float64(bestLen)*binWidth >= minGutter
}

func extent(rows []row) (left, right float64) {
	left, right = math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		for _, w := range r.words {
			if w.blank {
				continue
			}
			left, right = math.Min(left, w.x0), math.Max(right, w.x1)
		}
	}
	return left, right
}

// eachPiece calls do for every part of a row without a gap of so many em.
func (r row) eachPiece(gap float64, do func(x0, x1 float64)) {
	open := false
	var x0, x1 float64
	for _, w := range r.words {
		switch {
		case w.blank:
			continue
		case open && w.x0-x1 < gap*w.size:
			x1 = math.Max(x1, w.x1)
			continue
		case open:
			do(x0, x1)
		}
		open, x0, x1 = true, w.x0, w.x1
	}
	if open {
		do(x0, x1)
	}
}

func (r row) crosses(at float64) bool {
	crosses := false
	r.eachPiece(gutterGap, func(x0, x1 float64) { crosses = crosses || x0 < at && x1 > at })
	return crosses
}

// cut parts rows at a gutter.
func cut(rows []row, at float64) (left, right []row) {
	for _, r := range rows {
		n := 0
		for n < len(r.words) && r.words[n].x1 <= at {
			n++
		}
		if n > 0 {
			left = append(left, row{words: r.words[:n], y: r.y, size: r.size})
		}
		if n < len(r.words) {
			right = append(right, row{words: r.words[n:], y: r.y, size: r.size})
		}
	}
	return left, right
}

// isColumn says that rows are running text: several words in a row, mostly
// letters, most rows filled, few with gaps.
func isColumn(rows []row) bool {
	if len(rows) < minColumnRows {
		return false
	}
	left, right := extent(rows)
	words, letter, characters, full, gaps := 0, 0, 0, 0, 0
	for _, r := range rows {
		for _, w := range r.words {
			if !w.blank {
				words++
			}
			letter += letters(w.text)
			characters += len([]rune(w.text))
		}
		pieces := 0
		r.eachPiece(proseGap, func(float64, float64) { pieces++ })
		if pieces > 1 {
			gaps++
		}
		if r.words[len(r.words)-1].x1-r.words[0].x0 > 0.7*(right-left) {
			full++
		}
	}
	n := len(rows)
	if 10*jumps(rows) > 3*n {
		return false // labels beside what they name, not lines of one text
	}
	return float64(words) >= minColumnWords*float64(n) && 10*letter >= 7*characters && 2*full >= n && 5*gaps <= n
}

// jumps counts the rows that follow the one before at more than the usual
// distance.
func jumps(rows []row) int {
	steps := make([]float64, 0, len(rows))
	for i := 1; i < len(rows); i++ {
		steps = append(steps, rows[i].y-rows[i-1].y)
	}
	sorted := slices.Sorted(slices.Values(steps))
	usual := sorted[len(sorted)/2]
	n := 0
	for _, step := range steps {
		if step > 1.6*usual {
			n++
		}
	}
	return n
}
