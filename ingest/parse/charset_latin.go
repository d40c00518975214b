package parse

import (
	"strings"
	"unicode"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// alphabet is the letters beyond ASCII of languages that one charset is for.
// The charsets of Latin script differ in few places: which of them a text is in
// shows in whether its words are spelled with the letters of one language.
type alphabet struct {
	charset string
	encoding.Encoding
	languages []string
}

var alphabets = []alphabet{
	{"windows-1252", charmap.Windows1252, []string{
		"äöüß", "àâçèéêëîïôœùûüÿ", "áéíñóúü", "ªºáàâãçéêíóôõúü", "àèéìíîòóùú", "ëïéèöüáó", "åäöæøéü", "àèéíïòóúüç", "äöõüšž",
	}},
	{"windows-1254", charmap.Windows1254, []string{"çğıöşüâîû"}},
	{"windows-1250", charmap.Windows1250, central},
	{"iso-8859-2", charmap.ISO8859_2, central},
	{"windows-1257", charmap.Windows1257, []string{"ąčęėįšųūž", "āčēģīķļņšūž"}},
	{"windows-1252", charmap.Windows1252, []string{"áðéíóúýþæö"}}, // Icelandic uses the places of Turkish
}

// Polish, Czech, Slovak, Hungarian, Romanian, and the languages south of them.
var central = []string{"ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž"}

// Shares of words with letters beyond ASCII that have to be spelled right.
const (
	wellSpelled   = .9
	betterSpelled = .05 // than in western Europe's
)

// latinCharset finds out which charset a text of Latin script is in; not ok for
// other texts.
func latinCharset(sample []byte) (c charset, ok bool) {
	plain, other := 0, 0
	for _, b := range sample {
		switch {
		case b >= 0x80:
			other++
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			plain++
		}
	}
	if plain < 2*other {
		return charset{}, false
	}
	western, best := 0.0, 0.0
	for _, a := range alphabets {
		share := a.spelled(sample)
		if a.charset == "windows-1252" {
			western = max(western, share)
		}
		if share >= wellSpelled && share > best && (a.charset == "windows-1252" || share > western+betterSpelled) {
			c, best = charset{name: a.charset, decoder: a.Encoding, guessed: true}, share
		}
	}
	return c, best > 0
}

// spelled is the share of words with characters beyond ASCII that one of the
// languages can have. Signs beyond ASCII that stand in words are none of any.
func (a alphabet) spelled(sample []byte) float64 {
	text, err := a.NewDecoder().Bytes(sample)
	if err != nil {
		return 0
	}
	words := strings.FieldsFunc(string(text), func(r rune) bool {
		return r < 0x80 && !unicode.IsLetter(r) || strings.ContainsRune(commonSigns, r)
	})
	odd, best := 0, 0
	for _, word := range words {
		if !isPlain(word) {
			odd++
		}
	}
	if odd == 0 {
		return 1 // no letters beyond ASCII, but signs that every charset has
	}
	for _, letters := range a.languages {
		good := 0
		for _, word := range words {
			if !isPlain(word) && spelledWith(word, letters) {
				good++
			}
		}
		best = max(best, good)
	}
	return float64(best) / float64(odd)
}

// commonSigns are at one place in all these charsets, most of them.
const commonSigns = "“”‘’„‚–—…•€£§°«»©®™¿¡²³½·\u00a0"

func isPlain(word string) bool {
	for i := range len(word) {
		if word[i] >= 0x80 {
			return false
		}
	}
	return true
}

// spelledWith says that a word has no letters but those, and no capital behind
// a small one.
func spelledWith(word, letters string) bool {
	small := false
	for _, r := range word {
		if r >= 0x80 && !strings.ContainsRune(letters, unicode.ToLower(r)) || small && unicode.IsUpper(r) {
			return false
		}
		small = unicode.IsLower(r)
	}
	return true
}

// arabicCharset recognises Windows-1256: its words are of Arabic letters alone.
func arabicCharset(sample []byte) (charset, bool) {
	text, err := charmap.Windows1256.NewDecoder().Bytes(sample)
	if err != nil {
		return charset{}, false
	}
	arabic, other := 0, 0
	for _, r := range string(text) {
		switch {
		case r < 0x80 || strings.ContainsRune(commonSigns, r) || r == '،' || r == '؛' || r == '؟' || r == 'ـ':
		case unicode.Is(unicode.Arabic, r) && r >= 0x621 && r <= 0x652:
			arabic++
		default:
			other++
		}
	}
	const few = 20 // letters are too few to tell
	return charset{name: "windows-1256", decoder: charmap.Windows1256, guessed: true}, arabic >= few && 50*other < arabic
}
