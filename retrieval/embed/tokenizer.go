package embed

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxWord is how many bytes of a word count; the rest is cut off.
const maxWord = 32

// tokenizer turns text into ids of pieces, as static/FORMAT.md says. It keeps
// no state: that of a text is in its word.
type tokenizer struct {
	pieces *vocabulary
	// lower maps the ASCII letters and digits to what a word holds of them,
	// everything else to 0.
	lower [256]byte
	folds [foldTo - foldFrom]string // Latin letters with marks, in ASCII
}

// The ranges of code points that are more than separators.
const (
	foldFrom, foldTo = 0x00C0, 0x0180 // Latin letters with marks; × and ÷ fold to nothing
	markFrom, markTo = 0x0300, 0x0370 // combining marks
	greekCaps        = 0x0391         // Α..Ω
	greekCapsTo      = 0x03AA
	greekSmall       = 0x03B1 // α..ω
	greekSmallTo     = 0x03CA
)

func newTokenizer(vocab, folds string) (*tokenizer, error) {
	pieces, err := newVocabulary(vocab)
	if err != nil {
		return nil, err
	}
	t := &tokenizer{pieces: pieces}
	for c := '0'; c <= '9'; c++ {
		t.lower[c] = byte(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		t.lower[c], t.lower[c-'a'+'A'] = byte(c), byte(c)
	}
	return t, t.readFolds(folds)
}

// readFolds reads lines of "U+00C0", the letter, and its fold, tab-separated.
func (t *tokenizer) readFolds(table string) error {
	line := 0
	for l := range strings.Lines(table) {
		line++
		fields := strings.Split(strings.TrimSuffix(l, "\n"), "\t")
		if len(fields) != 3 {
			return fmt.Errorf("fold line %d: %d fields, want 3", line, len(fields))
		}
		r, err := strconv.ParseUint(strings.TrimPrefix(fields[0], "U+"), 16, 32)
		if err != nil || r < foldFrom || r >= foldTo {
			return fmt.Errorf("fold line %d: %q is no code point of the folded range", line, fields[0])
		}
		for _, c := range []byte(fields[2]) {
			if t.lower[c] != c {
				return fmt.Errorf("fold line %d: %q is not lower-case ASCII", line, fields[2])
			}
		}
		t.folds[r-foldFrom] = fields[2]
	}
	return nil
}

// encode appends the ids of the words that end in s. A word still open at the
// end of s stays in w for the next call, or for end.
func (t *tokenizer) encode(ids []uint16, w *word, s string) []uint16 {
	for i := 0; i < len(s); {
		c := s[i]
		if l := t.lower[c]; l != 0 {
			w.add(l)
			i++
			continue
		}
		if c < utf8.RuneSelf {
			ids = t.end(ids, w)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r >= foldFrom && r < foldTo && t.folds[r-foldFrom] != "":
			for _, l := range []byte(t.folds[r-foldFrom]) {
				w.add(l)
			}
		case r >= markFrom && r < markTo:
			// The accent of a decomposed letter: the word goes on.
		case r >= greekCaps && r < greekCapsTo:
			ids = t.letter(ids, w, r+greekSmall-greekCaps)
		case r >= greekSmall && r < greekSmallTo:
			ids = t.letter(ids, w, r)
		default:
			ids = t.end(ids, w)
		}
	}
	return ids
}

// letter ends the word and appends the ids of r as a word of its own.
func (t *tokenizer) letter(ids []uint16, w *word, r rune) []uint16 {
	ids = t.end(ids, w)
	w.n = utf8.EncodeRune(w.bytes[:], r)
	return t.end(ids, w)
}

// end appends the ids of the collected word, if there is one, and empties it.
func (t *tokenizer) end(ids []uint16, w *word) []uint16 {
	if w.n == 0 {
		return ids
	}
	n := w.n
	w.n = 0
	if id, ok := t.pieces.find(w, 0, n, starting); ok {
		return append(ids, id)
	}
	return t.split(ids, w, n)
}

// split appends the longest piece at each place of a word that is no piece
// itself. A byte that starts none is skipped.
func (t *tokenizer) split(ids []uint16, w *word, n int) []uint16 {
	for at := 0; at < n; {
		pos, to := continuing, n
		if at == 0 {
			pos, to = starting, n-1
		}
		id, to := t.longest(w, at, min(to, at+t.pieces.longest[pos]), pos)
		if to == at {
			at++
			continue
		}
		ids = append(ids, id)
		at = to
	}
	return ids
}

// longest finds the longest piece that starts at from and ends at to or
// before; an end of from says that there is none.
func (t *tokenizer) longest(w *word, from, to int, pos position) (id uint16, end int) {
	for ; to > from; to-- {
		if id, ok := t.pieces.find(w, from, to, pos); ok {
			return id, to
		}
	}
	return 0, from
}

// word collects the bytes of a word.
type word struct {
	n     int
	bytes [maxWord + 8]byte // hash reads 8 bytes at a time
}

func (w *word) add(b byte) {
	if w.n < maxWord {
		w.bytes[w.n] = b
		w.n++
	}
}

// hash returns a hash of w[from:to] as a piece at that position.
func (w *word) hash(from, to int, pos position) uint64 {
	const k = 0x9e3779b97f4a7c15
	h := uint64(to-from)<<1 | uint64(pos)
	for ; to-from >= 8; from += 8 {
		h = (h ^ binary.LittleEndian.Uint64(w.bytes[from:])) * k
		h ^= h >> 29
	}
	if rest := to - from; rest > 0 {
		last := binary.LittleEndian.Uint64(w.bytes[from:]) & (1<<(8*rest) - 1)
		h = (h ^ last) * k
		h ^= h >> 29
	}
	return h * k
}
