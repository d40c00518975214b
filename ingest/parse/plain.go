package parse

import (
	"iter"
	"regexp"
	"strings"
)

// readPlain cuts plain text into paragraphs at blank lines. A line underlined
// with === or --- is a heading, a group of bullet lines a list.
func readPlain(b *body, text string) {
	text = clean(text)
	for start, end := range groups(text) {
		group := text[start:end]
		first, rest, _ := strings.Cut(group, "\n")
		below, after, _ := strings.Cut(rest, "\n")
		if level := underline(first, below); level > 0 {
			b.add(Heading, level, 0, first)
			group = after
		}
		kind := Paragraph
		if isBulletList(group) {
			kind = List
		}
		b.add(kind, 0, 0, group)
		if b.err != nil {
			return
		}
	}
}

// groups yields the start and the end of every run of lines that are not
// blank, without the line break at its end.
func groups(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		start, at := 0, 0 // of the run, of the line
		for at <= len(text) {
			end := len(text)
			if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
				end = at + i
			}
			if strings.TrimSpace(text[at:end]) == "" {
				if start < at && !yield(start, at-1) {
					return
				}
				start = end + 1
			}
			at = end + 1
		}
		if start < len(text) {
			yield(start, len(text))
		}
	}
}

// underline returns the level of the heading that the line below makes of
// title: 1 for ===, 2 for ---, 0 for none.
func underline(title, below string) int {
	below = strings.TrimSpace(below)
	title = strings.TrimSpace(title)
	if len(below) < 3 || len(title) > 200 || 2*len(below) < len([]rune(title)) || title == "" {
		return 0
	}
	switch {
	case strings.Trim(title, "=-+| ") == "": // a border, not a title
		return 0
	case strings.Trim(below, "=") == "":
		return 1
	case strings.Trim(below, "-") == "":
		return 2
	}
	return 0
}

var bullet = regexp.MustCompile(`^\s*([-*+•‣◦–]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S`)

// isBulletList says that a group begins with a bullet and has another.
func isBulletList(group string) bool {
	first, rest, _ := strings.Cut(group, "\n")
	if !bullet.MatchString(first) {
		return false
	}
	for line := range strings.SplitSeq(rest, "\n") {
		if bullet.MatchString(line) {
			return true
		}
	}
	return false
}
