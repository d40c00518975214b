package embed

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// reference tokenizes as slowly as static/FORMAT.md reads.
type reference struct {
	ids   map[string]uint16
	folds map[rune]string
}

func newReference(t testing.TB) reference {
	t.Helper()
	r := reference{ids: map[string]uint16{}, folds: map[rune]string{}}
	for i, piece := range strings.Split(strings.TrimSuffix(vocabFile, "\n"), "\n") {
		r.ids[piece] = uint16(i)
	}
	for line := range strings.Lines(foldFile) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) == 3 {
			r.folds[[]rune(f[1])[0]] = f[2]
		}
	}
	return r
}

func (r reference) words(text string) []string {
	var words []string
	word := ""
	end := func() {
		if word != "" {
			words = append(words, word)
		}
		word = ""
	}
	for _, c := range text {
		fold, folded := r.folds[c]
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			word += string(unicode.ToLower(c))
		case folded:
			word += fold
		case c >= 0x300 && c <= 0x36F:
		case c >= 0x391 && c <= 0x3A9:
			end()
			words = append(words, string(c+0x20))
		case c >= 0x3B1 && c <= 0x3C9:
			end()
			words = append(words, string(c))
		default:
			end()
		}
	}
	end()
	return words
}

func (r reference) tokens(text string) []uint16 {
	var ids []uint16
	for _, word := range r.words(text) {
		word = word[:min(len(word), 32)]
		if id, ok := r.ids[word]; ok {
			ids = append(ids, id)
			continue
		}
		for at := 0; at < len(word); {
			prefix, to := "##", len(word)
			if at == 0 {
				prefix, to = "", len(word)-1
			}
			for ; to > at; to-- {
				if id, ok := r.ids[prefix+word[at:to]]; ok {
					ids = append(ids, id)
					break
				}
			}
			at = max(to, at+1)
		}
	}
	return ids
}

func FuzzTokens(f *testing.F) {
	for _, seed := range []string{
		"", "a", "The unrotatable API-key's rotation", "Σ over αβ, ΆΩ", "e\u0301te\u0301 ŒUVRE ŉ ſ",
		"Supercalifragilisticexpialidociousandevenlongerthanthatandlonger", "3×4÷2 ﬁn ½ ª",
		"\xff\xc3\x28a\xe2\x82", "中文a текст9", "zzzzqqqqxxxxjjjjwwwwvvvvkkkkppppq", "a\x00b#c ##d",
		strings.Repeat("é", 40),
	} {
		f.Add(seed)
	}
	s, r := static(f), newReference(f)
	f.Fuzz(func(t *testing.T, text string) {
		got := s.tokens(text)
		if diff := cmp.Diff(r.tokens(text), got); diff != "" {
			t.Fatalf("%q: ids (-reference +got):\n%s", text, diff)
		}
		if len(got) > len(text) {
			t.Fatalf("%q: %d ids for %d bytes", text, len(got), len(text))
		}
	})
}

func TestEveryPieceIsFound(t *testing.T) {
	v, err := newVocabulary(vocabFile)
	if err != nil {
		t.Fatal(err)
	}
	ids := newReference(t).ids
	for piece, want := range ids {
		text, continues := strings.CutPrefix(piece, "##")
		pos, other := starting, "##"+text
		if continues {
			pos, other = continuing, text
		}
		var w word
		at := min(5, maxWord-len(text)) // a piece is looked up anywhere in a word
		copy(w.bytes[at:], text)
		if id, ok := v.find(&w, at, at+len(text), pos); !ok || id != want {
			t.Fatalf("%q: id %d, %v; want %d", piece, id, ok, want)
		}
		_, there := ids[other]
		if _, ok := v.find(&w, at, at+len(text), 1-pos); ok != there {
			t.Fatalf("%q: found at the other position %v, want %v", piece, ok, there)
		}
	}
}
