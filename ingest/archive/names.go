package archive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// decodeZip reads a name in a zip: UTF-8 if it says so or happens to be, else
// what programs on Japanese and Chinese systems write, if it reads as such, or
// the code page that the format was born with.
func decodeZip(name string, flagged bool) string {
	if flagged || utf8.ValidString(name) {
		return name
	}
	for _, from := range []encoding.Encoding{japanese.ShiftJIS, simplifiedchinese.GBK} {
		if out, err := from.NewDecoder().String(name); err == nil && readsAsEastAsian(out) {
			return out
		}
	}
	return decode(name, charmap.CodePage437)
}

// readsAsEastAsian says that what is not ASCII in a name is kana and ideographs
// that stand at least two together. One alone between Latin letters is what an
// umlaut of cp437 looks like in Shift JIS, half-width kana are what Chinese in
// GBK does.
func readsAsEastAsian(name string) bool {
	run, seen := 0, false
	for _, r := range name {
		switch {
		case r < utf8.RuneSelf:
			if run == 1 {
				return false
			}
			run = 0
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) && !halfWidth(r), isEastAsianMark(r):
			run++
			seen = true
		default:
			return false
		}
	}
	return seen && run != 1
}

func halfWidth(r rune) bool { return r >= 0xff61 && r <= 0xff9f }

// isEastAsianMark says that a character is of the CJK punctuation, such as the
// long vowel of kana, or a full-width letter or digit.
func isEastAsianMark(r rune) bool {
	return r >= 0x3000 && r <= 0x303f || r == 0x30fc || r == 0x30fb || r >= 0xff01 && r <= 0xff5e
}

// decodeTar reads a name in a tar: the format knows bytes, and those that are
// not UTF-8 were mostly Latin-1 and its Windows extension.
func decodeTar(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return decode(name, charmap.Windows1252)
}

func decode(name string, from encoding.Encoding) string {
	out, err := from.NewDecoder().String(name)
	if err != nil {
		return strings.ToValidUTF8(name, "\uFFFD")
	}
	return out
}
