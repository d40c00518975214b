package chunk

import (
	"unicode"
	"unicode/utf8"
)

// bytesPerToken is the most bytes one token stands for, one token more for the
// text as a whole: len(s) <= (Tokens(s) + 1) * bytesPerToken for any s.
const bytesPerToken = 32

// Weights: hundredths of a token, or how many characters one token covers.
const (
	one        = 100
	perCJK     = 75 // hundredths for a Han, kana or Hangul character
	perLetters = 8  // Latin letters
	perOther   = 4  // letters of other alphabets
	perDigits  = 3
	perMarks   = 3 // equal punctuation marks in a row
	perBlanks  = 12
)

// Tokens estimates how many tokens a language model sees in text, in one pass
// and without tables: a word has one token for every eight letters begun (four
// where the alphabet is not Latin), a number one for every three digits, a
// mark of punctuation one, a CJK character three quarters, a blank between
// words none.
func Tokens(text string) int { return ceil(weigh(text), one) }

// weigh returns the tokens of text in hundredths, so that the weights of parts
// add up to that of the whole.
func weigh(text string) int {
	hundredths := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		class := classOf(r)
		end, runes := runEnd(text, i+n, r, class)
		switch class {
		case cjk:
			hundredths += perCJK * runes
		case blank:
			hundredths += one * (runes - 1) / perBlanks
		case latin:
			hundredths += one * ceil(runes, perLetters)
		case other:
			hundredths += one * ceil(runes, perOther)
		case digit:
			hundredths += one * ceil(runes, perDigits)
		default:
			hundredths += one * ceil(runes, perMarks)
		}
		i = end
	}
	return hundredths
}

// runEnd returns where the run of characters that count together ends, the
// first of which is r, and how many they are.
func runEnd(text string, at int, r rune, class class) (end, runes int) {
	runes = 1
	for at < len(text) {
		next, n := utf8.DecodeRuneInString(text[at:])
		c := classOf(next)
		joins := c == class && (class != mark || next == r) ||
			c == accent && (class == latin || class == other)
		if !joins {
			break
		}
		runes++
		at += n
	}
	return at, runes
}

func ceil(n, per int) int { return (n + per - 1) / per }

// class is how a character weighs.
type class byte

const (
	blank class = iota
	latin
	other
	digit
	accent
	cjk
	mark
)

func classOf(r rune) class {
	switch {
	case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		return latin
	case r >= '0' && r <= '9':
		return digit
	case r < 0x80:
		if r == ' ' || r == '\n' || r == '\t' {
			return blank
		}
		return mark
	case unicode.Is(unicode.M, r):
		return accent
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return cjk
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.IsLetter(r):
		return other
	case unicode.IsNumber(r):
		return digit
	case unicode.IsSpace(r):
		return blank
	}
	return mark
}
