package parse

import "strings"

// Thresholds above which Markdown is read in a child process: goldmark's time
// is quadratic in the depth of nested containers and, within one paragraph, in
// the number of open brackets and marks of emphasis. What people write stays
// far below.
const (
	maxNesting = 32
	maxIndent  = 128
	maxMarks   = 4000
)

// suspicious says that reading text as Markdown may take long.
func suspicious(text string) bool {
	marks := 0
	for line := range strings.SplitSeq(text, "\n") {
		rest := strings.TrimLeft(line, " \t")
		if rest == "" {
			marks = 0
			continue
		}
		if len(line)-len(rest) > maxIndent || nesting(rest) > maxNesting {
			return true
		}
		for i := range len(line) {
			switch line[i] {
			case '[', '*', '_', '`', '~', '<':
				marks++
			}
		}
		if marks > maxMarks {
			return true
		}
	}
	return false
}

// nesting counts the container marks a line begins with, such as "> - 1. ".
func nesting(line string) int {
	n := 0
	for len(line) >= 2 && n <= maxNesting {
		switch c := line[0]; {
		case c == '>':
			n++
		case (c == '-' || c == '+' || c == '*' || c == '.' || c == ')') && line[1] == ' ':
			n++
		case c == ' ' || c == '\t' || c >= '0' && c <= '9':
		default:
			return n
		}
		line = line[1:]
	}
	return n
}
