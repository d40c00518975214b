// Package analysis turns text into the words that search compares: Unicode
// words in lower case, diacritics folded, numbers and fiscal years in one
// spelling, stop words removed, stems taken; Chinese, Japanese and Korean as
// character bigrams. The same analysis serves documents, queries, sentences of
// an answer and the check of a citation.
package analysis

import (
	"github.com/clipperhouse/uax29/v2/words"
)

// Version is raised with every change after which a text gives other tokens:
// what was built of the tokens before must be built anew.
const Version = 1

// Token is one indexed word of a text.
type Token struct {
	// Term is what is compared: a stem, a number, or a CJK bigram.
	Term string
	// Word is the normalised word before stemming; Term itself for CJK.
	Word string
	// Start and End are the bytes of the text the token stands for. Words that
	// come from one written word ("2023Q2") share them.
	Start, End int
	// Position counts the tokens of the text from 0. Stop words have none, so
	// tokens on both sides of a stop word are adjacent.
	Position int
	// CJK says that the token is a character bigram, or a lone character.
	CJK bool
}

// Analyzer analyses text. The zero value is not usable; see New. All methods
// may be called concurrently. Strings in tokens may share memory with the text.
type Analyzer struct {
	cache wordCache
}

// New returns an Analyzer for every language at once: the stemmer follows from
// a word's script (Latin: English, Cyrillic: Russian, Arabic: light stemming).
// It holds a cache of about 32,000 words (some 5 MB when full).
func New() *Analyzer {
	return &Analyzer{}
}

// Analyze returns the tokens of text in order; nil if it has none.
func (a *Analyzer) Analyze(text string) []Token {
	return a.Append(nil, text)
}

// Append appends the tokens of text to dst, which may be reused between calls
// to save allocations. Positions count from 0 for every call.
func (a *Analyzer) Append(dst []Token, text string) []Token {
	s := scanner{analyzer: a, text: text, tokens: dst, base: len(dst)}
	s.scan()
	return s.tokens
}

// Terms returns the terms of text in order, repeated as in the text.
func (a *Analyzer) Terms(text string) []string {
	tokens := a.Analyze(text)
	if len(tokens) == 0 {
		return nil
	}
	terms := make([]string, len(tokens))
	for i, t := range tokens {
		terms[i] = t.Term
	}
	return terms
}

// scanner walks through one text.
type scanner struct {
	analyzer *Analyzer
	text     string
	tokens   []Token
	base     int // tokens that were in the slice before

	// Where tokens go if their words are numbered.
	lexicon     *Lexicon
	occurrences []Occurrence

	// The CJK run that is being collected, as bytes of text; empty if equal.
	runStart, runEnd int
}

// scan goes from one white-space delimited piece to the next. A piece of pure
// ASCII, which in most texts is all of them, is cut by hand with the same
// outcome; anything else goes through Unicode's word boundaries (UAX #29).
func (s *scanner) scan() {
	for i := 0; i < len(s.text); {
		if isASCIISpace(s.text[i]) {
			i++
			continue
		}
		end, ascii := pieceEnd(s.text, i)
		if ascii {
			s.asciiPiece(i, end)
		} else {
			s.unicodePiece(i, end)
		}
		i = end
	}
}

// pieceEnd returns where the piece that starts at i ends, and whether it is
// ASCII throughout: it ends at the next ASCII space, or with the text. Most of
// a text is ASCII, and words there are found without Unicode's rules.
func pieceEnd(text string, i int) (end int, ascii bool) {
	ascii = true
	for end = i; end < len(text); end++ {
		c := text[end]
		if c >= 0x80 {
			ascii = false
		} else if isASCIISpace(c) {
			break
		}
	}
	return end, ascii
}

// asciiPiece finds the words in text[i:end], which is ASCII without spaces. A
// word is letters and digits; an apostrophe or full stop between letters, and
// a full stop or comma between digits, do not end it.
func (s *scanner) asciiPiece(i, end int) {
	text := s.text
	for i < end {
		if asciiClass[text[i]] == other {
			i++
			continue
		}
		j := i + 1
		for j < end {
			class := asciiClass[text[j]]
			if class != other {
				j++
				continue
			}
			if j+1 >= end || !joins(text[j], asciiClass[text[j-1]], asciiClass[text[j+1]]) {
				break
			}
			j += 2
		}
		s.word(i, j)
		i = j
	}
}

// joins says whether the character c between two others leaves them one word.
func joins(c byte, before, after class) bool {
	switch c {
	case '\'', '.':
		return before == after && before != other
	case ',':
		return before == digit && after == digit
	}
	return false
}

func (s *scanner) unicodePiece(i, end int) {
	piece := words.FromString(s.text[i:end])
	for piece.Next() {
		start, stop := i+piece.Start(), i+piece.End()
		if isCJKWord(piece.Value()) {
			if s.runEnd != start || s.runStart == s.runEnd {
				s.flushRun()
				s.runStart = start
			}
			s.runEnd = stop
			continue
		}
		s.flushRun()
		if hasWordRune(piece.Value()) {
			s.word(start, stop)
		}
	}
	s.flushRun()
}

// word adds what the written word text[start:end] stands for.
func (s *scanner) word(start, end int) {
	if s.lexicon != nil {
		f := s.lexicon.lookup(s.text[start:end])
		if f.words == 1 {
			s.occur(f.number)
			return
		}
		for i := range uint32(f.words) {
			s.occur(s.lexicon.numbers[f.number+i])
		}
		return
	}
	for _, w := range s.analyzer.cache.lookup(s.text[start:end]) {
		if w.skipped() {
			continue
		}
		s.tokens = append(s.tokens, Token{
			Term: w.stem, Word: w.word, Start: start, End: end,
			Position: len(s.tokens) - s.base,
		})
	}
}

// occur adds a token whose word has a number.
func (s *scanner) occur(number uint32) {
	s.occurrences = append(s.occurrences, Occurrence{Word: number, Position: uint32(len(s.occurrences) - s.base)})
}

// flushRun adds the bigrams of the collected CJK run.
func (s *scanner) flushRun() {
	if s.runStart == s.runEnd {
		return
	}
	run := s.text[s.runStart:s.runEnd]
	previous := -1
	characters := 0
	for i, size := range cjkCharacters(run) {
		characters++
		if previous >= 0 {
			s.cjk(s.runStart+previous, s.runStart+i+size)
		}
		previous = i
	}
	if characters == 1 {
		s.cjk(s.runStart, s.runEnd)
	}
	s.runStart, s.runEnd = 0, 0
}

func (s *scanner) cjk(start, end int) {
	term := s.text[start:end]
	if s.lexicon != nil {
		s.occur(s.lexicon.cjk(term))
		return
	}
	s.tokens = append(s.tokens, Token{
		Term: term, Word: term, Start: start, End: end,
		Position: len(s.tokens) - s.base, CJK: true,
	})
}
