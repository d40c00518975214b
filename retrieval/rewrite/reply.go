package rewrite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordings reads at most n questions from a model's reply, one a line: without
// thoughts, numbering, bullets, labels and quotation marks. A line that is too
// long is no question.
func wordings(reply string, n int) []string {
	var out []string
	for line := range strings.Lines(withoutThoughts(reply)) {
		if len(out) == n {
			break
		}
		line = unquoted(unlabelled(unnumbered(clean(line, maxWording+1))))
		if line == "" || len(line) > maxWording || strings.HasPrefix(line, "```") || strings.HasSuffix(line, ":") ||
			!strings.ContainsFunc(line, unicode.IsLetter) {
			continue
		}
		out = append(out, line)
	}
	return out
}

// clean is a text on one line: valid UTF-8, n bytes at most, spaces folded, and
// nothing in it that cannot be seen.
func clean(text string, n int) string {
	text = withoutThoughts(text)
	if len(text) > 8*n { // most of it cannot stay
		text = text[:8*n]
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > n {
		text = text[:n]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
	}
	return strings.TrimSpace(text)
}

// withoutThoughts takes off what a model thought aloud before its reply.
func withoutThoughts(reply string) string {
	if at := strings.LastIndex(reply, "</think>"); at >= 0 {
		return reply[at+len("</think>"):]
	}
	return reply
}

// unnumbered takes "1.", "2)" and bullets off the beginning.
func unnumbered(line string) string {
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) < len(line) && rest != "" && strings.ContainsRune(".):", rune(rest[0])) {
		line = rest[1:]
	}
	return strings.TrimLeft(line, "-*• ")
}

// labels stand before what was asked for, in spite of what was asked for.
var labels = []string{"rewritten question:", "question:", "query:", "standalone question:", "search query:"}

func unlabelled(line string) string {
	for _, l := range labels {
		if len(line) > len(l) && strings.EqualFold(line[:len(l)], l) {
			return strings.TrimSpace(line[len(l):])
		}
	}
	return line
}

func unquoted(line string) string {
	for _, pair := range []string{`""`, "''", "“”", "«»", "「」", "**"} {
		runes := []rune(pair)
		open, end := string(runes[0]), string(runes[1])
		if len(line) > len(open)+len(end) && strings.HasPrefix(line, open) && strings.HasSuffix(line, end) {
			return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(line, open), end))
		}
	}
	return line
}
