package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
)

// stem returns the stem of a normalised word. The script decides the stemmer:
// it is the same for a document and for a question of three words, which no
// guess of the language would be.
func stem(w string) string {
	if utf8.RuneCountInString(w) < 3 || hasDigit(w) {
		return w
	}
	first, _ := utf8.DecodeRuneInString(w)
	switch {
	case first < utf8.RuneSelf && isASCII(w):
		return english.Stem(w, true)
	case unicode.Is(unicode.Cyrillic, first):
		return russian.Stem(w, true)
	case unicode.Is(unicode.Arabic, first):
		return stemArabic(w)
	}
	return w
}

func hasDigit(s string) bool {
	return strings.IndexFunc(s, unicode.IsNumber) >= 0
}

// stemArabic is the light stemmer "light10" (Larkey, Ballesteros and Connell,
// 2007) on text whose letters are normalised: conjunction, article and the
// commonest endings are taken off while enough letters stay.
func stemArabic(w string) string {
	if rest, ok := strings.CutPrefix(w, "و"); ok && utf8.RuneCountInString(rest) >= 3 {
		w = rest
	}
	for _, article := range []string{"وال", "بال", "كال", "فال", "ال", "لل"} {
		if rest, ok := strings.CutPrefix(w, article); ok && utf8.RuneCountInString(rest) >= 2 {
			w = rest
			break
		}
	}
	for _, ending := range []string{"ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي"} {
		if rest, ok := strings.CutSuffix(w, ending); ok && utf8.RuneCountInString(rest) >= 2 {
			w = rest
		}
	}
	return w
}
