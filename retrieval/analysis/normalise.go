package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// appendNormalised appends the words that a written word stands for. written
// is in lower case as far as ASCII goes.
func appendNormalised(out []word, written string) []word {
	if isPlain(written) {
		return appendDated(out, written)
	}
	for _, piece := range strings.FieldsFunc(Fold(written), isSeparator) {
		piece = stripApostrophes(strings.Trim(piece, "'.,"))
		if piece == "" {
			continue
		}
		for _, part := range splitWord(piece) {
			out = appendDated(out, part)
		}
	}
	return out
}

// isPlain says whether a word is ASCII letters and digits only.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if asciiClass[s[i]] == other {
			return false
		}
	}
	return s != ""
}

// isSeparator says whether r parts words that Unicode leaves together, as the
// underscore does.
func isSeparator(r rune) bool {
	return !isWordRune(r) && !unicode.IsMark(r) && r != '\'' && r != '.' && r != ','
}

// stripApostrophes removes the English genitive ('s), the French and Italian
// elision (l'avion), and every other apostrophe within a word.
func stripApostrophes(s string) string {
	first := strings.IndexByte(s, '\'')
	if first < 0 {
		return s
	}
	s = strings.TrimSuffix(s, "'s")
	switch {
	case first == 1 && len(s) > 4 && strings.IndexByte("ldjmtnsc", s[0]) >= 0,
		first == 2 && len(s) > 5 && s[:2] == "qu":
		s = s[first+1:]
	}
	return strings.ReplaceAll(s, "'", "")
}

// splitWord cuts a folded word at everything that is neither letter nor digit,
// but leaves "3.14" whole, makes "1577" of "1,577" and "us" of "u.s".
func splitWord(s string) []string {
	plain := true
	for i := 0; i < len(s); i++ {
		if s[i] < utf8.RuneSelf && asciiClass[s[i]] == other {
			plain = false
		}
	}
	if plain {
		return []string{s}
	}
	if isAcronym(s) {
		return []string{strings.ReplaceAll(s, ".", "")}
	}
	if isGrouped(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	return strings.FieldsFunc(betweenDigits(s), func(r rune) bool { return isSeparator(r) || r == ',' })
}

// betweenDigits replaces every full stop that does not stand between two
// digits by a space.
func betweenDigits(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c == '.' && (i == 0 || i == len(b)-1 || asciiClass[b[i-1]] != digit || asciiClass[b[i+1]] != digit) {
			b[i] = ' '
		}
	}
	return string(b)
}

// isAcronym says whether s is single letters with full stops between: "u.s.a".
func isAcronym(s string) bool {
	if len(s) < 3 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if i%2 == 1 && s[i] != '.' || i%2 == 0 && asciiClass[s[i]] != letter {
			return false
		}
	}
	return true
}

// isGrouped says whether all commas of s group its digits by thousands.
func isGrouped(s string) bool {
	comma := strings.IndexByte(s, ',')
	if comma < 1 || comma > 3 {
		return false
	}
	for comma >= 0 {
		s = s[comma+1:]
		n := 0
		for n < len(s) && asciiClass[s[n]] == digit {
			n++
		}
		if n != 3 {
			return false
		}
		comma = strings.IndexByte(s, ',')
		if comma >= 0 && comma != 3 {
			return false
		}
	}
	return true
}

// appendDated appends the word s; fiscal years become years and "2023q2" the
// year and the quarter.
func appendDated(out []word, s string) []word {
	switch {
	case len(s) == 4 && s[:2] == "fy" && allDigits(s[2:]):
		return append(out, newWord("20"+s[2:]))
	case len(s) == 6 && s[:2] == "fy" && allDigits(s[2:]):
		return append(out, newWord(s[2:]))
	case len(s) == 6 && s[4] == 'q' && allDigits(s[:4]) && '1' <= s[5] && s[5] <= '4':
		return append(out, newWord(s[:4]), newWord(s[4:]))
	}
	return append(out, newWord(s))
}

func newWord(s string) word {
	if stopWords[s] {
		return word{word: s, stem: s, stop: true}
	}
	return word{word: s, stem: stem(s)}
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if asciiClass[s[i]] != digit {
			return false
		}
	}
	return s != ""
}
