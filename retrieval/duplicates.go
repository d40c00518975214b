package retrieval

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"ragagent/store"
)

// Place is where else the text of a hit stands.
type Place struct {
	ChunkID           string
	DocumentID        string
	DocumentName      string
	KnowledgeBaseID   string
	KnowledgeBaseName string
	Metadata          store.Metadata // of the document
	PageStart         int
	PageEnd           int
	Span              store.Span
	Score             float64
}

// Two passages say the same if they have the same numbers in the same order,
// and share at least sameShare of their groups of sameWords words.
const (
	sameWords = 3
	sameShare = .9
	// maxSameWords bounds what is read of a text: chunks are shorter.
	maxSameWords = 4096
)

// duplicates finds among the hits that are shown one that says the same. It
// reads each text once, and compares the groups of words of texts with equal
// numbers and nearly equal length only.
type duplicates struct {
	shown []wording // per hit
}

// wording is a text as it is compared: letters and digits, case and everything
// between words aside. In a script without spaces each character is a word.
type wording struct {
	whole   uint64   // of all words in order
	numbers uint64   // of the words with a digit, in order
	groups  []uint64 // of adjacent words; distinct, ascending
	words   int
}

// of returns the shown hit that says what hit says, -1 if none does. It is shown
// next then.
func (d *duplicates) of(hit *Hit) int {
	w := read(hit.Text)
	if len(w.groups) == 0 {
		d.shown = append(d.shown, w)
		return -1 // nothing to compare
	}
	for i := range d.shown {
		if w.same(&d.shown[i]) {
			return i
		}
	}
	d.shown = append(d.shown, w)
	return -1
}

func (w *wording) same(other *wording) bool {
	if w.whole == other.whole {
		return true
	}
	if w.numbers != other.numbers || !nearly(w.words, other.words) || !nearly(len(w.groups), len(other.groups)) {
		return false
	}
	common := 0
	for i, j := 0, 0; i < len(w.groups) && j < len(other.groups); {
		switch a, b := w.groups[i], other.groups[j]; {
		case a == b:
			common++
			i++
			j++
		case a < b:
			i++
		default:
			j++
		}
	}
	return float64(common) >= sameShare*float64(len(w.groups)+len(other.groups)-common)
}

// nearly says whether two counts may be those of texts that say the same.
func nearly(a, b int) bool { return float64(min(a, b)) >= sameShare*float64(max(a, b)) }

// read cuts a text into words.
func read(text string) wording {
	var w wording
	var group [sameWords]uint64
	n := 0
	for word := range wordsOf(text) {
		if n == maxSameWords {
			break
		}
		h := hashWord(word)
		w.whole = mix(w.whole, h)
		if hasDigit(word) {
			w.numbers = mix(w.numbers, h)
		}
		copy(group[:], group[1:])
		group[sameWords-1] = h
		if n++; n >= sameWords {
			g := uint64(0)
			for _, h := range group {
				g = mix(g, h)
			}
			w.groups = append(w.groups, g)
		}
	}
	if n > 0 && n < sameWords {
		w.groups = append(w.groups, w.whole)
	}
	w.words = n
	slices.Sort(w.groups)
	w.groups = slices.Compact(w.groups)
	return w
}

func hashWord(word string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a, of lower case
	h := uint64(offset)
	for _, r := range word {
		h = (h ^ uint64(unicode.ToLower(r))) * prime
	}
	return h
}

func mix(a, b uint64) uint64 {
	a = (a ^ b) * 0x9e3779b97f4a7c15
	return a ^ a>>29
}

// wordsOf yields the runs of letters and digits of a text.
func wordsOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range text {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				if start >= 0 && alone(r) && !yield(text[start:i]) {
					return
				}
				if start < 0 || alone(r) {
					start = i
				}
				if alone(r) {
					if !yield(text[i : i+utf8.RuneLen(r)]) {
						return
					}
					start = -1
				}
				continue
			}
			if start >= 0 && !yield(text[start:i]) {
				return
			}
			start = -1
		}
		if start >= 0 {
			yield(text[start:])
		}
	}
}

// alone says whether a character is a word by itself.
func alone(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func hasDigit(word string) bool {
	for i := 0; i < len(word); i++ {
		if '0' <= word[i] && word[i] <= '9' {
			return true
		}
	}
	return false
}

func placeOf(h *Hit) Place {
	return Place{
		ChunkID: h.ID, DocumentID: h.DocumentID, DocumentName: h.DocumentName,
		KnowledgeBaseID: h.KnowledgeBaseID, KnowledgeBaseName: h.KnowledgeBaseName, Metadata: h.Metadata,
		PageStart: h.PageStart, PageEnd: h.PageEnd, Span: h.Span, Score: h.Score,
	}
}

// Unfold puts the places of AlsoIn back among the hits, without their texts, by
// score: the ranking as it was before anything was folded.
func Unfold(hits []Hit) []Hit {
	out := make([]Hit, 0, len(hits))
	for i := range hits {
		out = append(out, hits[i])
		for _, p := range hits[i].AlsoIn {
			out = append(out, p.hit())
		}
	}
	slices.SortStableFunc(out, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

func (p Place) hit() Hit {
	return Hit{
		Chunk: store.Chunk{
			ID: p.ChunkID, DocumentID: p.DocumentID, KnowledgeBaseID: p.KnowledgeBaseID,
			PageStart: p.PageStart, PageEnd: p.PageEnd, Span: p.Span,
		},
		DocumentName: p.DocumentName, KnowledgeBaseName: p.KnowledgeBaseName, Metadata: p.Metadata, Score: p.Score,
	}
}
