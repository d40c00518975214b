package main

import (
	"math/rand/v2"
	"strings"
)

// madeCorpus makes documents and questions whose words are as unevenly frequent
// as those of a language. The same number is always the same document.
type madeCorpus struct {
	vocabulary []string // by frequency
	exponent   float64  // of Zipf's law, above 1
	offset     float64  // ranks by which the law is shifted (Mandelbrot)
}

// frequentStopWords are the most frequent words of English that analysis leaves
// out.
const frequentStopWords = `the of and a to in is that it for as was with on by be at are this from have an or had not
but which were his you their has they we her she will there been its can if who all do when so what would no them
these him into`

// newMadeCorpus makes a vocabulary of n words, led by stop words if those are
// wanted: made-up words of two to five syllables, the rare ones longer.
func newMadeCorpus(n int, exponent, offset float64, stopWords bool) *madeCorpus {
	c := &madeCorpus{exponent: exponent, offset: offset}
	seen := make(map[string]bool)
	if stopWords {
		c.vocabulary = strings.Fields(frequentStopWords)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for len(c.vocabulary) < n {
		syllables := 2 + r.IntN(2)
		if len(c.vocabulary) > 5000 {
			syllables += r.IntN(3)
		}
		word := madeWord(r, syllables)
		if !seen[word] {
			seen[word] = true
			c.vocabulary = append(c.vocabulary, word)
		}
	}
	return c
}

func madeWord(r *rand.Rand, syllables int) string {
	const consonants, vowels, ends = "bcdfghklmnprstvwz", "aeiou", "lmnrst"
	var w []byte
	for range syllables {
		w = append(w, consonants[r.IntN(len(consonants))], vowels[r.IntN(len(vowels))])
		if r.IntN(4) == 0 {
			w = append(w, ends[r.IntN(len(ends))])
		}
	}
	return string(w)
}

// document returns the words of a document, so many bytes with spaces between.
func (c *madeCorpus) document(n, size int) string {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	words := rand.NewZipf(r, c.exponent, c.offset, uint64(len(c.vocabulary)-1))
	var text strings.Builder
	for text.Len() < size {
		text.WriteString(c.vocabulary[words.Uint64()])
		text.WriteByte(' ')
	}
	return text.String()[:size]
}

// question asks for 5 to 15 words of a text: every other one for words that
// follow one another, stop words among them, the others for words from anywhere
// in it. One in four has a typing error.
func question(r *rand.Rand, text string) string {
	words := strings.Fields(text)
	words = words[1 : len(words)-1] // not those that were cut
	n := min(5+r.IntN(11), len(words))
	asked := make([]string, n)
	if r.IntN(2) == 0 {
		from := r.IntN(len(words) - n + 1)
		copy(asked, words[from:])
	} else {
		for i, at := range r.Perm(len(words))[:n] {
			asked[i] = words[at]
		}
	}
	if at := r.IntN(n); r.IntN(4) == 0 && len(asked[at]) >= 5 {
		asked[at] = mistyped(r, asked[at])
	}
	return strings.Join(asked, " ") + "?"
}

// mistyped leaves out a letter of a word, doubles it or swaps it with the next.
func mistyped(r *rand.Rand, word string) string {
	at := 1 + r.IntN(len(word)-2)
	switch r.IntN(3) {
	case 0:
		return word[:at] + word[at+1:]
	case 1:
		return word[:at] + word[at:at+1] + word[at:]
	}
	return word[:at] + word[at+1:at+2] + word[at:at+1] + word[at+2:]
}
