package calibrate

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A drafted question is that many adjacent words of a chunk, or as many pairs
// of characters where no spaces are written.
const (
	draftWords = 10
	leastWords = 3
)

// drafts are questions taken from a chunk's own text, each a short passage from
// anywhere in it. The same chunk gives the same ones.
func drafts(id, text string, n int) []string {
	words := cut(text)
	if len(words) < leastWords {
		return nil
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash takes everything
	random := rand.New(rand.NewPCG(h.Sum64(), 0))
	out := make([]string, 0, n)
	for range n {
		start := random.IntN(max(len(words)-draftWords, 0) + 1)
		out = append(out, joined(words[start:min(start+draftWords, len(words))]))
	}
	return out
}

// cut cuts a text at white space, and words of scripts without spaces into
// pairs of characters.
func cut(text string) []string {
	var out []string
	for word := range strings.FieldsSeq(text) {
		if !spaceless(word) {
			out = append(out, word)
			continue
		}
		runes := []rune(word)
		for i := 0; i < len(runes); i += 2 {
			out = append(out, string(runes[i:min(i+2, len(runes))]))
		}
	}
	return out
}

func joined(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && !spaceless(w) {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

// spaceless says whether a word begins in a script that puts no spaces.
func spaceless(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
