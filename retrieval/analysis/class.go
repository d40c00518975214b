package analysis

import (
	"unicode"
	"unicode/utf8"
)

// class of an ASCII character within words.
type class uint8

const (
	other class = iota
	letter
	digit
)

var asciiClass = func() (t [256]class) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = letter, letter
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = digit
	}
	return t
}()

func isASCIISpace(c byte) bool {
	return c == ' ' || c-'\t' < 5
}

// hasWordRune says whether s holds a letter or a digit of any script.
func hasWordRune(s string) bool {
	for _, r := range s {
		if isWordRune(r) {
			return true
		}
	}
	return false
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiClass[r] != other
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}
