package analysis

import (
	"strings"
	"sync/atomic"
)

// wordCache remembers what written words stand for: folding and stemming cost
// a hundred times more than finding a word here. It is a fixed table in which
// a newer word replaces an older one in its slot, so it needs neither a lock
// nor a bound to enforce.
type wordCache struct {
	slots [1 << cacheBits]atomic.Pointer[cachedWord]
}

const cacheBits = 15

type cachedWord struct {
	key   string // as written, in lower-case ASCII
	words []word
	one   [1]word // what words is, most of the time
}

// word is one normalised word.
type word struct {
	word string
	stem string
	stop bool
}

// skipped says whether a word is not indexed: a stop word, or marks alone,
// folded away.
func (w *word) skipped() bool { return w.stop || w.stem == "" }

// lookup returns the words that written stands for; none for one that has
// nothing to index. Only the first maxWord bytes count: longer "words" are
// encoded data.
func (c *wordCache) lookup(written string) []word {
	var buf [maxWord]byte
	written = cutRunes(written, maxWord)
	n := lowerASCII(buf[:], written)
	slot := &c.slots[hashBytes(buf[:n])&(1<<cacheBits-1)]
	if hit := slot.Load(); hit != nil && hit.key == string(buf[:n]) {
		return hit.words
	}
	key := strings.Clone(string(buf[:n]))
	entry := &cachedWord{key: key}
	entry.words = appendNormalised(entry.one[:0], key)
	slot.Store(entry)
	return entry.words
}

// maxWord is the number of bytes of a written word that are looked at.
const maxWord = 64

func lowerASCII(dst []byte, s string) int {
	n := copy(dst, s)
	for i, c := range dst[:n] {
		if 'A' <= c && c <= 'Z' {
			dst[i] = c + 'a' - 'A'
		}
	}
	return n
}

// hashBytes is FNV-1a with a final mix, since only low bits are used.
func hashBytes(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h ^ h>>29
}

// cutRunes returns the longest prefix of s of at most max bytes that ends
// between two characters.
func cutRunes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && s[limit]&0xc0 == 0x80 {
		limit--
	}
	return s[:limit]
}
