package rtf

import (
	"regexp"
	"strconv"
	"strings"
)

// stylesheet knows which paragraph styles are headings.
type stylesheet struct {
	levels map[int]int // 1..6 by style

	current int // style whose entry is being read
	outline int // level from 0 plus 1; 0 for none
	words   strings.Builder
}

// word takes a word of the style sheet.
func (s *stylesheet) word(t token) {
	switch t.word {
	case "s":
		s.current = t.number
	case "cs", "ts", "ds":
		s.current = -1
	case "outlinelevel":
		s.outline = t.number + 1
	}
}

// name takes a part of the name of a style; a semicolon ends it, and the entry.
func (s *stylesheet) name(text string) {
	for {
		part, rest, ended := strings.Cut(text, ";")
		if s.words.Len() < 200 {
			s.words.WriteString(part)
		}
		if !ended {
			return
		}
		s.end()
		text = rest
	}
}

// end ends the entry of a style.
func (s *stylesheet) end() {
	name := strings.TrimSpace(s.words.String())
	level := headingLevel(name)
	if level == 0 && s.outline >= 1 && s.outline <= 9 {
		level = s.outline
	}
	if name != "" && s.current >= 0 && level > 0 && len(s.levels) < maxFonts {
		s.levels[s.current] = min(level, 6)
	}
	s.current, s.outline = 0, 0
	s.words.Reset()
}

// headingStyle matches the names that word processors give the styles of
// headings, in the languages that they mostly are in.
var headingStyle = regexp.MustCompile(`(?i)^(?:heading|überschrift|titre|título|titolo|kop|nagłówek|заголовок|rubrik|otsikko|overskrift|標題|标题|見出し|제목) ?([1-9])\b`)

// headingLevel is the level of the headings a style is for; 0 for none.
func headingLevel(name string) int {
	if m := headingStyle.FindStringSubmatch(name); m != nil {
		level, _ := strconv.Atoi(m[1])
		return level
	}
	switch strings.ToLower(name) {
	case "title", "titel", "titre", "título":
		return 1
	}
	return 0
}

// level is that of a paragraph's heading; 0 for none.
func (s *stylesheet) level(f format) int {
	if f.outline >= 0 {
		if f.outline > 8 {
			return 0
		}
		return min(f.outline+1, 6)
	}
	return s.levels[f.style]
}
