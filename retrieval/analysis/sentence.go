package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a half-open range of bytes in a text.
type Span struct{ Start, End int }

// Sentences cuts text into sentences, without the white space around them.
// They come in order, do not overlap and together hold every character that is
// not white space. A sentence ends at . ! ? or … before white space (closing
// quotes and brackets stay with it), at 。！？ anywhere, at an empty line, and
// at a line that ends like a heading or an item of a list. A full stop ends
// none after an abbreviation, an initial, within a number, or before a word in
// lower case.
func Sentences(text string) []Span {
	var spans []Span
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		next := i + size
		switch {
		case isWideTerminator(r):
			next = afterClosers(text, next)
			spans, start = appendSpan(spans, text, start, next), next
		case r == '.' || r == '!' || r == '?' || r == '…':
			next = afterClosers(text, next)
			if endsSentence(text, start, i, next, r) {
				spans, start = appendSpan(spans, text, start, next), next
			}
		case r == '\n':
			if endsParagraph(text, next) {
				spans, start = appendSpan(spans, text, start, i), next
			}
		}
		i = next
	}
	return appendSpan(spans, text, start, len(text))
}

// appendSpan adds text[start:end] without the white space around it, if
// anything is left.
func appendSpan(spans []Span, text string, start, end int) []Span {
	part := text[start:end]
	trimmed := strings.TrimLeftFunc(part, unicode.IsSpace)
	start += len(part) - len(trimmed)
	trimmed = strings.TrimRightFunc(trimmed, unicode.IsSpace)
	if trimmed == "" {
		return spans
	}
	return append(spans, Span{start, start + len(trimmed)})
}

func isWideTerminator(r rune) bool {
	switch r {
	case '。', '！', '？', '｡', '؟', '۔', '।':
		return true
	}
	return false
}

// afterClosers returns the end of the terminators, quotes and brackets that
// follow a terminator directly.
func afterClosers(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isWideTerminator(r) && !strings.ContainsRune(".!?…\"')]”’»」』）】", r) {
			break
		}
		i += size
	}
	return i
}

// endsSentence says whether the terminator r at i, after which the text goes
// on at next, ends the sentence that began at start.
func endsSentence(text string, start, i, next int, r rune) bool {
	if next == len(text) {
		return true
	}
	after, size := utf8.DecodeRuneInString(text[next:])
	if !unicode.IsSpace(after) {
		return false // 3.14, example.com, "?)," and the like
	}
	if r != '.' {
		return !startsLower(text, next+size)
	}
	word := lastWord(text[start:i])
	if isInitial(word) {
		return false
	}
	word = strings.ToLower(word)
	if abbreviations[word] || numbered[word] && startsDigit(text, next) {
		return false
	}
	return !startsLower(text, next+size)
}

// startsLower says whether the next word begins in lower case.
func startsLower(text string, i int) bool {
	rest := strings.TrimLeftFunc(text[i:], func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'([“‘«", r)
	})
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLower(r) && !isAllLower(text, i)
}

// startsDigit says whether the next word begins with a digit.
func startsDigit(text string, i int) bool {
	rest := strings.TrimLeftFunc(text[i:], unicode.IsSpace)
	return rest != "" && asciiClass[rest[0]] == digit
}

// isAllLower says whether the text around i is written without capitals
// altogether, where lower case says nothing about sentences.
func isAllLower(text string, i int) bool {
	window := text[max(0, i-200):min(len(text), i+200)]
	return strings.IndexFunc(window, unicode.IsUpper) < 0
}

// lastWord returns what stands before a full stop, back to white space or an
// opening bracket.
func lastWord(s string) string {
	i := strings.LastIndexAny(s, " \t\n\r([\"“‘/") + 1
	r, size := utf8.DecodeRuneInString(s[i:])
	if r == '“' || r == '‘' {
		i += size
	}
	return strings.ToValidUTF8(s[i:], "")
}

// isInitial says whether a word is one capital letter, or letters with full
// stops between ("U.S", "e.g"), which the full stop belongs to.
func isInitial(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	if size == len(word) {
		return unicode.IsUpper(r) && r != 'I'
	}
	return isAcronym(strings.ToLower(word))
}

// endsParagraph says whether a line feed, after which the text goes on at i,
// ends what stands before it: an empty line, or an item of a list follows.
func endsParagraph(text string, i int) bool {
	line := strings.TrimLeft(text[i:], " \t\r")
	if line == "" || line[0] == '\n' {
		return true
	}
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "# ", "## ", "### ", "|"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	n := 0
	for n < len(line) && n < 3 && asciiClass[line[n]] == digit {
		n++
	}
	return n > 0 && (strings.HasPrefix(line[n:], ". ") || strings.HasPrefix(line[n:], ") "))
}

// abbreviations that are followed by a capital letter within a sentence.
var abbreviations = func() map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(`
mr mrs ms dr prof rev fr hon st sr jr gen col capt lt cmdr sgt maj gov sen rep pres
vs etc al cf ca approx eds est dept univ inc ltd co corp bros
jan feb mar apr jun jul aug sep sept oct nov dec
e.g i.e viz resp op bzw usw hr fa str abs ggf vgl z.b d.h u.a
sra dra avda av mme mlle
`) {
		m[w] = true
	}
	return m
}()

// numbered are abbreviations only before a number: "No. 5", "p. 3".
var numbered = map[string]bool{
	"no": true, "nos": true, "nr": true, "vol": true, "vols": true, "p": true, "pp": true, "fig": true, "figs": true,
	"eq": true, "eqs": true, "sec": true, "ch": true, "art": true, "núm": true, "pág": true, "par": true, "v": true,
}
