package pdf

import (
	"math"
	"strings"
)

// isCode says that a line is set in a typewriter face, in a document that is
// not.
func (s *style) isCode(l Line) bool { return l.Mono && !s.mono }

// codeLength returns how many lines from the first one are one piece of code.
func (s *style) codeLength(lines []Line) int {
	n := 0
	for n < len(lines) && s.isCode(lines[n]) {
		if n > 0 && (lines[n].Column != lines[n-1].Column || lines[n].Y-lines[n-1].Y > 3*s.leading*lines[n].Size) {
			break
		}
		n++
	}
	return n
}

// codeText writes lines of code with their indentation, a blank for every
// character they stand off the leftmost.
func codeText(lines []Line) string {
	left := math.Inf(1)
	for _, l := range lines {
		left = math.Min(left, l.X0)
	}
	const width = 0.6 // of a character, in em, in most typewriter faces
	var out strings.Builder
	for i, l := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		indent := math.Round((l.X0 - left) / (width * math.Max(l.Size, 1)))
		out.WriteString(strings.Repeat(" ", int(math.Min(indent, 80))))
		out.WriteString(l.Text)
	}
	return out.String()
}
