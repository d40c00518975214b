package analysis

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// IsCJK says whether r is a character of a script that is written without
// spaces between words and therefore indexed by bigrams: Han, Kana, Hangul,
// and the scripts of mainland South-East Asia.
func IsCJK(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r >= 0x4e00 && r <= 0x9fff: // the common Han characters
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// HasCJK says whether text has any such character.
func HasCJK(text string) bool {
	for i := 0; i < len(text); {
		if text[i] < 0x80 {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if IsCJK(r) {
			return true
		}
		i += size
	}
	return false
}

// AppendSingles appends the single CJK characters of text, in order.
func AppendSingles(dst []string, text string) []string {
	for i := 0; i < len(text); {
		if text[i] < 0x80 {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if IsCJK(r) && !unicode.IsMark(r) {
			dst = append(dst, text[i:i+size])
		}
		i += size
	}
	return dst
}

// isCJKWord says whether a word, as cut by UAX #29, belongs to a CJK run.
func isCJKWord(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return IsCJK(r)
}

// cjkCharacters yields the byte offset and length of every character of a run;
// combining marks belong to the character before.
func cjkCharacters(run string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i := 0; i < len(run); {
			_, size := utf8.DecodeRuneInString(run[i:])
			for i+size < len(run) {
				r, n := utf8.DecodeRuneInString(run[i+size:])
				if !unicode.IsMark(r) {
					break
				}
				size += n
			}
			if !yield(i, size) {
				return
			}
			i += size
		}
	}
}
