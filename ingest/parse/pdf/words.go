package pdf

import (
	"math"
	"regexp"
	"sort"
	"strings"
)

// word is a run of glyphs without a gap, upright, y growing downwards.
type word struct {
	x0, x1, y float64
	size      float64
	text      string
	bold      bool
	mono      bool
	n         int  // glyphs
	blank     bool // it is a drawn blank
	order     int  // place in the content stream
}

// Distances in em.
const (
	wordGap  = 0.13 // between two glyphs of different words, at least
	overlap  = 0.5  // glyphs of one word may go back by this much
	sameLine = 0.15 // baselines of one word differ by less
	cellGap  = 1.4  // between cells of a table row, at least
)

// joinWords joins glyphs, in the order they were drawn, into words.
func joinWords(glyphs []glyph) []word {
	var words []word
	var text strings.Builder
	var cur word
	flush := func() {
		if cur.n > 0 {
			cur.text = text.String()
			cur.order = len(words)
			words = append(words, cur)
			text.Reset()
			cur = word{}
		}
	}
	for _, g := range glyphs {
		if g.blank {
			flush()
			words = append(words, word{x0: g.x, x1: g.x + g.w, y: g.y, size: g.size, blank: true, order: len(words)})
			continue
		}
		if cur.n > 0 && !continues(cur, g) {
			flush()
		}
		if cur.n == 0 {
			cur = word{x0: g.x, y: g.y, size: g.size, bold: g.bold, mono: g.mono}
		}
		text.WriteString(g.text)
		cur.n++
		cur.x1 = math.Max(cur.x1, g.x+g.w)
		if cur.n == 1 {
			cur.x1 = g.x + g.w
		}
	}
	flush()
	return words
}

// continues says that g is the next glyph of w.
func continues(w word, g glyph) bool {
	em := math.Max(w.size, g.size)
	gap := g.x - w.x1
	return math.Abs(g.y-w.y) < sameLine*em && math.Abs(g.size-w.size) < 0.25*em &&
		gap < wordGap*em && gap > -overlap*em
}

// row is the words of one line, from left to right.
type row struct {
	words []word
	y     float64
	size  float64 // the largest
}

// joinRows sorts words into rows, from top to bottom.
func joinRows(words []word) []row {
	sort.SliceStable(words, func(i, j int) bool { return words[i].y < words[j].y })
	var rows []row
	for _, w := range words {
		if n := len(rows); n > 0 && math.Abs(w.y-rows[n-1].y) <= 0.3*math.Min(w.size, rows[n-1].size) {
			rows[n-1].words = append(rows[n-1].words, w)
			rows[n-1].size = math.Max(rows[n-1].size, w.size)
			continue
		}
		rows = append(rows, row{words: []word{w}, y: w.y, size: w.size})
	}
	rows = attachRaised(rows)
	for i := range rows {
		rows[i].sort()
	}
	return rows
}

func (r *row) sort() {
	sort.SliceStable(r.words, func(i, j int) bool {
		if r.words[i].x0 != r.words[j].x0 {
			return r.words[i].x0 < r.words[j].x0
		}
		return r.words[i].order < r.words[j].order
	})
	r.words = dropDoubles(r.words)
}

// attachRaised moves raised and lowered small text, such as marks of
// footnotes, to the line it belongs to.
func attachRaised(rows []row) []row {
	out := rows[:0]
	for i := 0; i < len(rows); i++ {
		r := rows[i]
		switch {
		case i+1 < len(rows) && r.isRaised(rows[i+1]):
			rows[i+1].words = append(rows[i+1].words, r.words...)
			continue
		case len(out) > 0 && r.isRaised(out[len(out)-1]):
			out[len(out)-1].words = append(out[len(out)-1].words, r.words...)
			continue
		}
		out = append(out, r)
	}
	return out
}

// isRaised says that r is small text beside the words of base.
func (r row) isRaised(base row) bool {
	if r.size > 0.85*base.size || math.Abs(r.y-base.y) > 0.6*base.size {
		return false
	}
	if len(r.words)*len(base.words) > maxRaised {
		return false
	}
	for _, w := range r.words {
		if !w.touchesOne(base.words) {
			return false
		}
	}
	return true
}

// maxRaised bounds the pairs of words that isRaised compares.
const maxRaised = 100_000

// touchesOne says that w stands right beside one of words, and over none.
func (w word) touchesOne(words []word) bool {
	touches := false
	for _, b := range words {
		if b.blank || w.blank {
			touches = touches || w.blank
			continue
		}
		if w.x0 < b.x1-0.3*w.size && w.x1 > b.x0+0.3*w.size {
			return false
		}
		touches = touches || w.x0 < b.x1+0.6*b.size && w.x1 > b.x0-0.6*b.size
	}
	return touches
}

// maxOverlaid bounds the words that are compared with those right before them.
const maxOverlaid = 32

// dropDoubles removes words that are drawn twice at the same place, as shadows
// and poor man's bold are.
func dropDoubles(words []word) []word {
	out := words[:0]
	for _, w := range words {
		double := false
		for i := len(out) - 1; !w.blank && i >= max(0, len(out)-maxOverlaid) && out[i].x0 > w.x0-0.3*w.size; i-- {
			if out[i].text == w.text && math.Abs(out[i].y-w.y) < 0.2*w.size && math.Abs(out[i].x1-w.x1) < 0.3*w.size {
				double = true
				break
			}
		}
		if !double {
			out = append(out, w)
		}
	}
	return out
}

// line writes a row: words parted by one blank, cells by two. Words that
// touch are one; ok is false for a row without text.
func (r row) line(column int) (Line, bool) {
	var text strings.Builder
	l := Line{X0: math.Inf(1), Y: r.y, Cells: 1, Column: column}
	sizes := map[float64]int{}
	bold, mono, n := 0, 0, 0
	var before word
	spaced := false // a blank was drawn behind the word before
	for _, w := range r.words {
		if w.blank {
			spaced = spaced || w.x0 > before.x1-0.25*w.size
			continue
		}
		if n > 0 {
			text.WriteString(l.gap(before, w, spaced))
		}
		text.WriteString(w.text)
		before, spaced = w, false
		l.X0 = math.Min(l.X0, w.x0)
		l.X1 = math.Max(l.X1, w.x1)
		sizes[math.Round(w.size*4)/4] += w.n
		n += w.n
		if w.bold {
			bold += w.n
		}
		if w.mono {
			mono += w.n
		}
	}
	if n == 0 {
		return Line{}, false
	}
	l.Text = l.withoutLeaders(text.String())
	l.Bold = 10*bold >= 9*n
	l.Mono = 10*mono >= 9*n
	l.Size = most(sizes)
	l.X0, l.X1, l.Y = tenth(l.X0), tenth(l.X1), tenth(l.Y)
	return l, strings.TrimSpace(l.Text) != ""
}

// leaders are the dots between an entry of a table of contents and its page,
// and lines to be filled in.
var leaders = regexp.MustCompile(`\s*(?:[.·…:_]\s?){5,}\s*`)

// withoutLeaders makes cells of what leaders part.
func (l *Line) withoutLeaders(text string) string {
	if !strings.Contains(text, "...") && !strings.Contains(text, ". . .") && !strings.Contains(text, ": : :") &&
		!strings.Contains(text, "___") && !strings.Contains(text, "···") && !strings.Contains(text, "……") {
		return text
	}
	parts := leaders.Split(text, -1)
	kept := parts[:0]
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	l.Cells += max(0, len(kept)-1)
	return strings.Join(kept, "  ")
}

// gap returns what stands between two neighbours, and counts cells.
func (l *Line) gap(a, b word, spaced bool) string {
	em := math.Max(math.Max(a.size, b.size), 1)
	gap := (b.x0 - a.x1) / em
	switch {
	case sticks(a.text, b.text) && gap < 4*cellGap:
		return ""
	case gap > cellGap || gap > wordGap && isCurrency(b.text) && endsNumber(a.text):
		l.Cells++
		return "  "
	case gap > wordGap || spaced && gap > -overlap:
		return " "
	}
	return ""
}

// sticks says that two words of a table are one figure that the layout pulls
// apart: "$" and "1,058", "(32" and ")", "15.5" and "%".
func sticks(a, b string) bool {
	first := b[0]
	switch {
	case isCurrency(a):
		return first >= '0' && first <= '9' || first == '(' || first == '.' || strings.HasPrefix(b, "—")
	case b == ")" || b == "%" || b == ")%":
		return endsNumber(a)
	}
	return false
}

func isCurrency(text string) bool {
	switch text {
	case "$", "€", "£", "¥", "US$", "($", "(€", "(£", "(¥":
		return true
	}
	return false
}

// endsNumber says that text ends with a digit, or as a figure in a table does.
func endsNumber(text string) bool {
	last := text[len(text)-1]
	return last >= '0' && last <= '9' || last == ')' && len(text) > 1 || last == '%' || strings.HasSuffix(text, "—")
}

// most returns the key with the largest count, the larger key of equals.
func most(counts map[float64]int) float64 {
	best, n := 0.0, -1
	for k, c := range counts {
		if c > n || c == n && k > best {
			best, n = k, c
		}
	}
	return best
}

func tenth(x float64) float64 { return math.Round(x*10) / 10 }
