package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns s in lower case without diacritics, in compatibility form
// (full-width letters and ligatures become plain ones), and with the spellings
// of a letter that writers use for one another made one.
func Fold(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	base := rune(0)
	for _, r := range norm.NFKD.String(s) {
		if unicode.Is(unicode.Mn, r) {
			if keepsMark(base, r) {
				b.WriteRune(r)
			}
			continue
		}
		r = unicode.ToLower(r)
		base = r
		if to, ok := letterFold[r]; ok {
			b.WriteString(to)
			continue
		}
		b.WriteRune(r)
	}
	return norm.NFC.String(b.String())
}

// keepsMark says whether a mark makes another letter of the one it stands on,
// rather than an accented one: the Cyrillic short i, and the vowels of Indic
// and South-East Asian scripts.
func keepsMark(base, mark rune) bool {
	switch {
	case base == 'и' && mark == '\u0306':
		return true
	case mark >= 0x0300 && mark <= 0x036f, // Latin, Greek, Cyrillic
		mark >= 0x0591 && mark <= 0x05c7, // Hebrew points
		mark >= 0x0610 && mark <= 0x061a, // Arabic signs and vowels
		mark >= 0x064b && mark <= 0x065f,
		mark == 0x0670, mark >= 0x06d6 && mark <= 0x06ed:
		return false
	}
	return true
}

// letterFold are letters that decomposition leaves as they are.
var letterFold = map[rune]string{
	'ß': "ss", 'ø': "o", 'æ': "ae", 'œ': "oe", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ı': "i", 'ŋ': "n",
	'ς': "σ", // final sigma
	'’': "'", 'ʼ': "'", '＇': "'", '‘': "'",
	'ـ': "", // Arabic tatweel
	'ى': "ي", 'ی': "ي", 'ک': "ك", 'ة': "ه", 'ٱ': "ا",
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
