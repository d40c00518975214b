package cite

import (
	"strings"
	"unicode"

	"ragagent/retrieval/analysis"
)

// Units cuts a text into what can be quoted by itself: sentences, and within
// what looks like a table its rows, a row being a line with its label. They
// come in order, without the white space around them.
func Units(text string) []analysis.Span {
	var units []analysis.Span
	for _, s := range analysis.Sentences(text) {
		units = appendRows(units, text, s)
	}
	return units
}

// appendRows appends the sentence s, cut at the rows of a table in it.
func appendRows(units []analysis.Span, text string, s analysis.Span) []analysis.Span {
	if !strings.Contains(text[s.Start:s.End], "\n") {
		return append(units, s)
	}
	prose := analysis.Span{Start: -1}
	flush := func() {
		if prose.Start >= 0 {
			units = append(units, prose)
			prose.Start = -1
		}
	}
	at := s.Start
	for line := range strings.SplitAfterSeq(text[s.Start:s.End], "\n") {
		span := trim(text, at, at+len(line))
		at += len(line)
		switch {
		case span.Start == span.End:
		case IsRow(text[span.Start:span.End]):
			flush()
			units = append(units, span)
		case prose.Start < 0:
			prose = span
		default:
			prose.End = span.End
		}
	}
	flush()
	return units
}

// IsRow says whether a line is a row of a table: cells in bars or parted by
// tabs, a label and a figure with a gap between them, or two figures and more
// at its end.
func IsRow(line string) bool {
	if strings.HasPrefix(line, "|") || strings.Contains(line, " | ") || strings.Count(line, "\t") >= 2 {
		return true
	}
	fields := strings.Fields(line)
	figures := 0
	for figures < len(fields) && isFigure(fields[len(fields)-1-figures]) {
		figures++
	}
	return figures >= 2 || figures == 1 && len(fields) > 1 && strings.Contains(line, "  ")
}

// isFigure recognises a cell of a table of figures: 2,852, $(1.5), 12%, — or $.
func isFigure(field string) bool {
	digits := 0
	for _, r := range field {
		switch {
		case unicode.IsDigit(r):
			digits++
		case !strings.ContainsRune("$€£¥()%.,-–—+*/", r):
			return false
		}
	}
	return digits > 0 || field == "—" || field == "$" || field == "-" || field == "–"
}

// trim returns the span without the white space at its ends.
func trim(text string, start, end int) analysis.Span {
	part := text[start:end]
	left := strings.TrimLeftFunc(part, unicode.IsSpace)
	start += len(part) - len(left)
	return analysis.Span{Start: start, End: start + len(strings.TrimRightFunc(left, unicode.IsSpace))}
}
