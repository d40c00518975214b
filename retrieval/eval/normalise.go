package eval

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Normalise cuts text into the words answers are compared by, as SQuAD's
// evaluation does (Rajpurkar et al. 2016): lower case, punctuation and symbols
// deleted, the articles a, an and the left out, split at white space. Beyond
// it, text is brought to Unicode form NFKC first and every character of
// Chinese, Japanese and Korean script is a word, as in CMRC's evaluation.
func Normalise(text string) []string { return words(text, false) }

// words is Normalise; with split, punctuation separates words, otherwise it
// vanishes between them.
func words(text string, split bool) []string {
	var b strings.Builder
	for _, r := range strings.ToLower(norm.NFKC.String(text)) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		case unicode.IsPunct(r) || unicode.IsSymbol(r):
			if split {
				b.WriteByte(' ')
			}
		default:
			b.WriteRune(r)
		}
	}
	return slices.DeleteFunc(strings.Fields(b.String()), func(w string) bool {
		return w == "a" || w == "an" || w == "the"
	})
}

// Contains says whether text holds any of the answers as a sequence of whole
// words, after Normalise. So that "10-year" holds both "10" and "10year", it is
// enough if they match with punctuation taken as white space. An answer without
// a word is in no text.
func Contains(text string, answers []string) bool {
	for _, split := range []bool{false, true} {
		in := words(text, split)
		for _, answer := range answers {
			if holds(in, words(answer, split)) {
				return true
			}
		}
	}
	return false
}

// holds says whether part, not empty, stands in whole without gaps.
func holds(whole, part []string) bool {
	if len(part) == 0 {
		return false
	}
	for i := 0; i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// literal says whether any of the answers can stand in a text: yes, no and
// maybe are judgements about it.
func literal(answers []string) bool {
	return slices.ContainsFunc(answers, func(answer string) bool {
		w := strings.Join(Normalise(answer), " ")
		return w != "" && w != "yes" && w != "no" && w != "maybe"
	})
}
