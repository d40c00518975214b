package bm25

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/retrieval/analysis"
)

// respelling replaces words of a text, from left to right.
type respelling struct {
	text string
	b    strings.Builder
	done int // bytes of text that b has
}

// replace puts word, in lower case, in the place of a token; a capital stays
// one.
func (r *respelling) replace(t analysis.Token, word string) {
	if t.Start < r.done {
		return
	}
	first, size := utf8.DecodeRuneInString(word)
	if written, _ := utf8.DecodeRuneInString(r.text[t.Start:]); unicode.IsUpper(written) {
		first = unicode.ToUpper(first)
	}
	r.b.WriteString(r.text[r.done:t.Start])
	r.b.WriteRune(first)
	r.b.WriteString(word[size:])
	r.done = t.End
}

func (r *respelling) String() string {
	if r.done == 0 {
		return r.text
	}
	return r.b.String() + r.text[r.done:]
}

// nearWords yields every word that differs from w by one letter added, left
// out, changed, or swapped with the next; some of them more than once.
func nearWords(w string) iter.Seq[string] {
	letters := []rune(w)
	alphabet := alphabetOf(letters[0])
	return func(yield func(string) bool) {
		buf := make([]rune, 0, len(letters)+1)
		for i := range len(letters) + 1 {
			for _, r := range alphabet {
				buf = append(append(append(buf[:0], letters[:i]...), r), letters[i:]...)
				if !yield(string(buf)) {
					return
				}
			}
		}
		for i := range letters {
			buf = append(append(buf[:0], letters[:i]...), letters[i+1:]...)
			if !yield(string(buf)) {
				return
			}
			buf = append(buf[:0], letters...)
			for _, r := range alphabet {
				if buf[i] = r; r != letters[i] && !yield(string(buf)) {
					return
				}
			}
			if i+1 < len(letters) && letters[i] != letters[i+1] {
				buf = append(buf[:0], letters...)
				buf[i], buf[i+1] = buf[i+1], buf[i]
				if !yield(string(buf)) {
					return
				}
			}
		}
	}
}

// alphabetOf returns the letters of normalised words in the script of r.
func alphabetOf(r rune) []rune {
	switch {
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Greek, r):
		return greek
	case unicode.Is(unicode.Arabic, r):
		return arabic
	case unicode.Is(unicode.Hebrew, r):
		return hebrew
	}
	return latin
}

var (
	latin    = []rune("abcdefghijklmnopqrstuvwxyz")
	cyrillic = []rune("абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ")
	greek    = []rune("αβγδεζηθικλμνξοπρστυφχψω")
	arabic   = []rune("ءابتثجحخدذرزسشصضطظعغفقكلمنهوي")
	hebrew   = []rune("אבגדהוזחטיכלמנסעפצקרשתךםןףץ")
)
