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
		end, weight, _ := nextRun(text, i)
		hundredths += weight
		i = end
	}
	return hundredths
}

// prefix returns how many bytes of text weigh at most limit: up to the last
// blank if one stands in the last quarter, else up to a rune boundary. It is
// at least the first rune.
func prefix(text string, limit int) int {
	weight, lastBlank := 0, 0
	for i := 0; i < len(text); {
		end, w, class := nextRun(text, i)
		if weight+w > limit {
			if lastBlank > i/4*3 {
				return lastBlank
			}
			return within(text, i, end, limit-weight, w)
		}
		if class == blank {
			lastBlank = i
		}
		weight += w
		i = end
	}
	return len(text)
}

// within cuts a run that weighs too much, in proportion.
func within(text string, start, end, room, weight int) int {
	at := runeStart(text, start+(end-start)*room/weight)
	if at > start || start > 0 {
		return max(at, start)
	}
	_, n := utf8.DecodeRuneInString(text)
	return n
}

// nextRun returns the end of the run of characters at i that count together,
// its weight in hundredths and its class.
func nextRun(text string, i int) (end, weight int, c class) {
	r, n := utf8.DecodeRuneInString(text[i:])
	c = classOf(r)
	end, runes := runEnd(text, i+n, r, c)
	switch c {
	case cjk:
		weight = perCJK * runes
	case blank:
		weight = one * (runes - 1) / perBlanks
	case latin:
		weight = one * ceil(runes, perLetters)
	case other:
		weight = one * ceil(runes, perOther)
	case digit:
		weight = one * ceil(runes, perDigits)
	default:
		weight = one * ceil(runes, perMarks)
	}
	return end, weight, c
}

// maxRun bounds one run, in bytes, so that looking for a place to cut does not
// read megabytes of the same letter again and again.
const maxRun = 1 << 12

// runEnd returns where the run of characters that count together ends, the
// first of which is r, and how many they are.
func runEnd(text string, at int, r rune, class class) (end, runes int) {
	runes = 1
	for limit := at + maxRun; at < len(text) && at < limit; {
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
	case r >= 0x4e00 && r < 0xa000 || r >= 0xac00 && r < 0xd7a4: // most of them
		return cjk
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
