package lexical

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"ragagent/retrieval/analysis"
)

// letters is a text in lower case, without diacritics and without the signs that
// analysis takes out of words. White space stays as it is. Every three bytes in
// a row are in a Bloom filter with one hash, which says no at once to most.
type letters struct {
	text     []byte
	trigrams [64]uint64
	unsure   bool // some of it may be written otherwise than it is analysed
}

// plain is what letters has of an ASCII character; 0 for nothing.
var plain = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		t[c] = byte(c)
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = byte(c + 'a' - 'A')
	}
	t['\''], t['.'], t[','] = 0, 0, 0
	return t
}()

// skim reads a text.
func (l *letters) skim(text string) {
	l.read(text)
	window := uint32(0)
	for _, c := range l.text {
		window = window<<8 | uint32(c)
		h := hashTrigram(window)
		l.trigrams[h>>6] |= 1 << (h & 63)
	}
}

func (l *letters) read(text string) {
	l.text = make([]byte, len(text))
	n := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			l.text = l.text[:n]
			l.readFrom(text, i)
			return
		}
		l.text[n] = plain[c]
		if plain[c] != 0 {
			n++
		}
	}
	l.text = l.text[:n]
}

// readFrom reads a text from its first character on that is not ASCII.
func (l *letters) readFrom(text string, i int) {
	for i < len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			i++
			if plain[c] != 0 {
				l.text = append(l.text, plain[c])
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		written := text[i : i+size]
		switch {
		case r >= 0xc0 && r <= 0x24f:
			written = analysis.Fold(written)
		case r == '’':
			written = ""
		case r >= 0x4e00 && r < 0xf900: // Han and Hangul
		case unicode.IsMark(r), (r < 0x2400 || r >= 0xf900) && r >= 0x2100 && isWord(r):
			l.unsure = true // a letter that compatibility forms make another of
		}
		l.text = append(l.text, written...)
		i += size
	}
}

// mayHold is false only if the text certainly lacks a term.
func (l *letters) mayHold(term string) bool {
	if l.unsure {
		return true
	}
	begin, ok := beginning(term)
	if !ok {
		return true
	}
	for i := 0; i+2 < len(begin); i++ {
		h := hashTrigram(uint32(begin[i])<<16 | uint32(begin[i+1])<<8 | uint32(begin[i+2]))
		if l.trigrams[h>>6]&(1<<(h&63)) == 0 {
			return false
		}
	}
	return bytes.Contains(l.text, []byte(begin))
}

// hashTrigram spreads the lower three bytes over 4096 bits.
func hashTrigram(window uint32) uint32 {
	return (window & 0xffffff) * 0x9e3779b1 >> 20
}

// beginning returns what every word of a term begins with as it is in letters;
// ok is false for terms whose words may be written in several ways.
func beginning(term string) (begin string, ok bool) {
	if r, _ := utf8.DecodeRuneInString(term); analysis.IsCJK(r) {
		return term, true
	}
	if isLetters(term) {
		// A stem and its words differ in the last two letters at most.
		return term[:max(len(term)-2, 0)], true
	}
	return "", false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func isLetters(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}
