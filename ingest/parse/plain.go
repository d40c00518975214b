package parse

import (
	"regexp"
	"strings"
)

// readPlain cuts plain text into paragraphs at blank lines. A line underlined
// with === or --- is a heading, a group of bullet lines a list.
func readPlain(b *body, text string) {
	eachGroup(clean(text), func(lines []string) {
		if len(lines) >= 2 {
			if level := underline(lines[0], lines[1]); level > 0 {
				b.add(Heading, level, 0, lines[0])
				lines = lines[2:]
			}
		}
		if len(lines) == 0 {
			return
		}
		kind := Paragraph
		if isBulletList(lines) {
			kind = List
		}
		b.add(kind, 0, 0, strings.Join(lines, "\n"))
	})
}

// readCode keeps source code as it is, cut at blank lines before lines that
// are not indented: there a function or section usually ends.
func readCode(b *body, text string) {
	var part []string
	flush := func() {
		b.add(Code, 0, 0, strings.Join(part, "\n"))
		part = part[:0]
	}
	eachGroup(clean(text), func(lines []string) {
		if first := lines[0][0]; len(part) > 0 {
			if first != ' ' && first != '\t' && first != '}' && first != ')' {
				flush()
			} else {
				part = append(part, "")
			}
		}
		part = append(part, lines...)
	})
	flush()
}

// eachGroup calls do for every run of lines that are not blank.
func eachGroup(text string, do func(lines []string)) {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
			continue
		}
		if len(lines) > 0 {
			do(lines)
			lines = lines[:0]
		}
	}
	if len(lines) > 0 {
		do(lines)
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
func isBulletList(lines []string) bool {
	if !bullet.MatchString(lines[0]) {
		return false
	}
	for _, line := range lines[1:] {
		if bullet.MatchString(line) {
			return true
		}
	}
	return false
}
