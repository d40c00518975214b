package analysis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// lexiconTokens is what a lexicon says of a text, as tokens without offsets.
func lexiconTokens(l *Lexicon, text string) []Token {
	var tokens []Token
	for _, o := range l.Append(nil, text) {
		w := l.Word(o.Word)
		tokens = append(tokens, Token{Term: l.Term(w.Term), Word: w.Word, Position: int(o.Position), CJK: w.CJK})
	}
	return tokens
}

func plainTokens(a *Analyzer, text string) []Token {
	tokens := a.Analyze(text)
	for i := range tokens {
		tokens[i].Start, tokens[i].End = 0, 0
	}
	return tokens
}

// A lexicon finds what the analyzer finds, and gives a word one number however
// it is written.
func TestLexiconEqualsAnalyzer(t *testing.T) {
	a := New()
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"Cat", "cats", "cat's", "CAT'S", "l'avion", "FY18", "2018", "fy'18", "2023Q2", "q2", "U.S.A.",
			"1,577", "3.14", "the", "naïve", "naive", "東京都", "東京", "ﬁsh", "fish", "full-width ｃａｔ", "ﷺ", "a_b", "'s", strings.Repeat("x", 80)}),
		rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		l := a.NewLexicon()
		numbers := make(map[string]uint32)
		for range rapid.IntRange(1, 5).Draw(t, "texts") {
			text := strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), " ")
			if diff := cmp.Diff(plainTokens(a, text), lexiconTokens(l, text)); diff != "" {
				t.Fatalf("%q: %s", text, diff)
			}
			for _, o := range l.Append(nil, text) {
				w := l.Word(o.Word)
				key := fmt.Sprint(w.CJK, w.Word)
				if known, ok := numbers[key]; ok && known != o.Word {
					t.Fatalf("%q has the numbers %d and %d", w.Word, known, o.Word)
				}
				numbers[key] = o.Word
			}
		}
		if len(numbers) > l.Len() || l.Terms() > l.Len() {
			t.Fatalf("%d words, %d numbers, %d terms", len(numbers), l.Len(), l.Terms())
		}
	})
}

// Lexicons grow past their first tables.
func TestLexiconOfManyWords(t *testing.T) {
	a := New()
	l := a.NewLexicon()
	for i := range 3000 {
		l.Append(nil, fmt.Sprintf("word%d", i))
	}
	if got := l.Append(nil, "WORD7 word2999"); len(got) != 2 || got[0].Word != 7 || got[1].Word != 2999 || l.Len() != 3000 {
		t.Error(got, l.Len())
	}
}
