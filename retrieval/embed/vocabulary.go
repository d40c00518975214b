package embed

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// vocabulary finds pieces by their bytes. It is an open-addressing hash table
// over the vocabulary's text: building it takes a millisecond and
// half a megabyte, and a look-up allocates nothing.
type vocabulary struct {
	text   string
	starts []uint32 // where piece id begins in text, without its "##"
	ends   []uint32
	slots  []uint32 // tag<<16 | id+1; 0 is empty
	mask   uint64
	// longest piece in bytes, of those that start and those that continue a word
	longest [2]int
}

// position tells the pieces that start a word from those that continue one.
type position uint8

const (
	starting position = iota
	continuing
)

// newVocabulary reads a piece a line; the line's number from 0 is its id.
func newVocabulary(text string) (*vocabulary, error) {
	n := strings.Count(text, "\n")
	if n == 0 || n >= math.MaxUint16 || text[len(text)-1] != '\n' {
		return nil, fmt.Errorf("vocabulary of %d lines, want 1..%d, each ended", n, math.MaxUint16-1)
	}
	size := 1 << bits.Len(uint(2*n))
	v := &vocabulary{
		text:   text,
		starts: make([]uint32, n), ends: make([]uint32, n),
		slots: make([]uint32, size), mask: uint64(size - 1),
	}
	var w word
	at := 0
	for id := range n {
		end := at + strings.IndexByte(text[at:], '\n')
		start, pos := at, starting
		if strings.HasPrefix(text[at:end], "##") {
			start, pos = at+2, continuing
		}
		if start == end || end-start > maxWord {
			return nil, fmt.Errorf("vocabulary line %d: piece of %d bytes, want 1..%d", id+1, end-start, maxWord)
		}
		v.starts[id], v.ends[id] = uint32(start), uint32(end)
		v.longest[pos] = max(v.longest[pos], end-start)
		copy(w.bytes[:], text[start:end])
		if !v.insert(&w, end-start, pos, id) {
			return nil, fmt.Errorf("vocabulary line %d: %w", id+1, errDuplicate)
		}
		at = end + 1
	}
	return v, nil
}

var errDuplicate = errors.New("the piece is there already")

func (v *vocabulary) len() int { return len(v.starts) }

// insert adds a piece; false if it is there already.
func (v *vocabulary) insert(w *word, n int, pos position, id int) bool {
	if _, ok := v.find(w, 0, n, pos); ok {
		return false
	}
	h := w.hash(0, n, pos)
	i := h & v.mask
	for v.slots[i] != 0 {
		i = (i + 1) & v.mask
	}
	v.slots[i] = uint32(h>>48)<<16 | uint32(id+1)
	return true
}

// find returns the id of the piece w[from:to] at that position.
func (v *vocabulary) find(w *word, from, to int, pos position) (id uint16, ok bool) {
	h := w.hash(from, to, pos)
	tag := uint32(h >> 48)
	for i := h & v.mask; ; i = (i + 1) & v.mask {
		slot := v.slots[i]
		if slot == 0 {
			return 0, false
		}
		if slot>>16 != tag {
			continue
		}
		id := slot&0xffff - 1
		// "##" stands in front of the start of a continuing piece.
		start := v.starts[id]
		if v.text[start:v.ends[id]] == string(w.bytes[from:to]) && v.position(start) == pos {
			return uint16(id), true
		}
	}
}

// position tells which kind the piece starting there is. A piece that starts
// a word has no '#' in it, so the byte before decides.
func (v *vocabulary) position(start uint32) position {
	if start > 0 && v.text[start-1] == '#' {
		return continuing
	}
	return starting
}
