package analysis

import (
	"encoding/binary"
	"strings"
)

// Lexicon numbers the words of many texts: what Analyze finds, with numbers in
// the place of strings. A word that was written before costs one look in a
// table. It is used by one goroutine at a time and grows with the number of
// different words; see Len.
type Lexicon struct {
	analyzer *Analyzer
	words    []Word
	terms    []string
	ofWord   map[string]uint32 // by Word.Word, of those that are not plain
	ofTerm   map[string]uint32
	ofCJK    map[string]uint32

	// Every written form, in lower-case ASCII.
	slots   []uint32 // open addressing: form + 1; a power of two of them
	forms   []form
	keys    []byte
	numbers []uint32 // of the forms that stand for several words
}

// Word is a distinct word of a Lexicon.
type Word struct {
	Word string // before stemming; the term itself for CJK
	Term uint32 // number of the term
	CJK  bool
}

// Occurrence is one token of a text: the number of its word, and its position
// as in Token.
type Occurrence struct {
	Word, Position uint32
}

// form is one way of writing a word, or several that are written together.
type form struct {
	head   uint64 // the first eight bytes of its key
	hash   uint32
	key    uint32 // where its key begins
	number uint32 // of its word; of more words, where their numbers begin
	length uint8  // of its key
	words  uint8
}

// NewLexicon returns an empty one for the analyzer's words.
func (a *Analyzer) NewLexicon() *Lexicon {
	return &Lexicon{
		analyzer: a,
		ofWord:   make(map[string]uint32),
		ofTerm:   make(map[string]uint32),
		ofCJK:    make(map[string]uint32),
		slots:    make([]uint32, 1<<8),
	}
}

// Len returns how many words have been numbered, from 0.
func (l *Lexicon) Len() int { return len(l.words) }

// Terms returns how many terms have been numbered, from 0.
func (l *Lexicon) Terms() int { return len(l.terms) }

// Word returns the word of a number.
func (l *Lexicon) Word(number uint32) Word { return l.words[number] }

// Term returns the term of a number.
func (l *Lexicon) Term(number uint32) string { return l.terms[number] }

// Append appends the tokens of text to dst.
func (l *Lexicon) Append(dst []Occurrence, text string) []Occurrence {
	s := scanner{analyzer: l.analyzer, text: text, lexicon: l, occurrences: dst, base: len(dst)}
	s.scan()
	return s.occurrences
}

// lookup returns the form of what is written.
func (l *Lexicon) lookup(written string) form {
	var buf [maxWord]byte
	written = cutRunes(written, maxWord)
	n := lowerASCII(buf[:], written)
	head := binary.LittleEndian.Uint64(buf[:])
	hash := uint32(hashBytes(buf[:n]))
	mask := uint32(len(l.slots) - 1)
	for slot := hash & mask; l.slots[slot] != 0; slot = (slot + 1) & mask {
		f := &l.forms[l.slots[slot]-1]
		if f.hash == hash && f.head == head && int(f.length) == n && (n <= 8 || string(l.keys[f.key+8:f.key+uint32(n)]) == string(buf[8:n])) {
			return *f
		}
	}
	f := form{head: head, hash: hash, key: uint32(len(l.keys)), length: uint8(n)}
	l.keys = append(l.keys, buf[:n]...)
	l.learn(&f, string(buf[:n]))
	l.forms = append(l.forms, f)
	if 2*len(l.forms) > len(l.slots) {
		l.slots = make([]uint32, 2*len(l.slots))
		for i := range l.forms {
			l.place(i)
		}
	} else {
		l.place(len(l.forms) - 1)
	}
	return f
}

// place puts a form into the first free slot.
func (l *Lexicon) place(i int) {
	mask := uint32(len(l.slots) - 1)
	slot := l.forms[i].hash & mask
	for l.slots[slot] != 0 {
		slot = (slot + 1) & mask
	}
	l.slots[slot] = uint32(i + 1)
}

// learn finds the words of a form, which may bring other forms in.
func (l *Lexicon) learn(f *form, key string) {
	var numbers []uint32
	for _, w := range l.analyzer.cache.lookup(key) {
		switch {
		case w.skipped():
		case w.word == key && isPlain(key): // the form is its only place
			numbers = append(numbers, l.add(w.word, w.stem, false))
		case isPlain(w.word) && len(w.word) <= maxWord: // it stands for itself
			numbers = append(numbers, l.lookup(w.word).number)
		default:
			numbers = append(numbers, l.number(l.ofWord, w.word, w.stem, false))
		}
	}
	f.words = uint8(len(numbers)) // no more than a key has bytes
	if len(numbers) == 1 {
		f.number = numbers[0]
	} else {
		f.number = uint32(len(l.numbers))
		l.numbers = append(l.numbers, numbers...)
	}
}

// cjk returns the number of a CJK term.
func (l *Lexicon) cjk(term string) uint32 {
	if number, ok := l.ofCJK[term]; ok {
		return number
	}
	term = strings.Clone(term) // the text it was cut from is not kept
	return l.number(l.ofCJK, term, term, true)
}

// number returns the number of a word, a new one if it has none.
func (l *Lexicon) number(numbers map[string]uint32, word, stem string, cjk bool) uint32 {
	number, ok := numbers[word]
	if !ok {
		number = l.add(word, stem, cjk)
		numbers[word] = number
	}
	return number
}

func (l *Lexicon) add(word, stem string, cjk bool) uint32 {
	l.words = append(l.words, Word{Word: word, Term: l.term(stem), CJK: cjk})
	return uint32(len(l.words) - 1)
}

func (l *Lexicon) term(stem string) uint32 {
	number, ok := l.ofTerm[stem]
	if !ok {
		number = uint32(len(l.terms))
		l.ofTerm[stem] = number
		l.terms = append(l.terms, stem)
	}
	return number
}
