package parse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	stdunicode "unicode"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	htmlcharset "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
)

// guessBytes is how much of a text the guess of its charset looks at.
const guessBytes = 64 << 10

// charset is how the bytes of a text file are to be read.
type charset struct {
	name    string            // as in the IANA registry, lower case
	decoder encoding.Encoding // nil for UTF-8
	guessed bool              // nothing in the file says so
}

var utf8Charset = charset{name: "utf-8"}

func utf16Charset(order unicode.Endianness, guessed bool) charset {
	name := "utf-16be"
	if order == unicode.LittleEndian {
		name = "utf-16le"
	}
	return charset{name: name, decoder: unicode.UTF16(order, unicode.UseBOM), guessed: guessed}
}

// charsetOf finds out how a text is encoded: by its marks, by what an HTML file
// says of itself, else by a guess.
func charsetOf(data string) charset {
	head := []byte(data[:min(len(data), headBytes)])
	if cs, ok := markedCharset(head); ok {
		return cs
	}
	if declaresHTML(string(head)) {
		return htmlCharset(data)
	}
	return guessCharset(data)
}

// markedCharset tells a Unicode charset by its byte order mark or, for UTF-16,
// by the place of its zero bytes; ok is false where neither is there.
func markedCharset(head []byte) (c charset, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		return utf8Charset, true
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return utf16Charset(unicode.LittleEndian, false), true
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return utf16Charset(unicode.BigEndian, false), true
	}
	return unmarkedUTF16(head)
}

// unmarkedUTF16 recognises UTF-16 without a byte order mark: in text that uses
// ASCII blanks and punctuation at all, the zero bytes stand on one side only. In
// what reads as text byte by byte, that must be nearly every pair: else it is
// one into which a zero has strayed.
func unmarkedUTF16(head []byte) (charset, bool) {
	if len(head) > 4096 {
		head = head[:4096]
	}
	head = head[:len(head)&^1]
	var zeros, plain [2]int // by position in the pair; plain: zero beside Latin text
	for i := 0; i+1 < len(head); i += 2 {
		hi, lo := head[i], head[i+1]
		if hi == 0 {
			zeros[0]++
			plain[0] += latinText(lo)
		}
		if lo == 0 {
			zeros[1]++
			plain[1] += latinText(hi)
		}
	}
	pairs := len(head) / 2
	least := (pairs + 19) / 20
	if readsByByte(head) {
		least = (4*pairs + 4) / 5
	}
	for side, order := range []unicode.Endianness{unicode.BigEndian, unicode.LittleEndian} {
		if pairs >= 2 && zeros[1-side] == 0 && plain[side] == zeros[side] && zeros[side] >= least {
			return utf16Charset(order, true), true
		}
	}
	// Where letters fill both bytes, a zero byte beside a line end is left.
	if pairs < 8 || utf8.Valid(head) {
		return charset{}, false
	}
	big, little := isWritten(head, unicode.BigEndian), isWritten(head, unicode.LittleEndian)
	switch {
	case big && !little && plain[0] > 0:
		return utf16Charset(unicode.BigEndian, true), true
	case little && !big && plain[1] > 0:
		return utf16Charset(unicode.LittleEndian, true), true
	}
	return charset{}, false
}

// readsByByte says that data, but for its zeros, is UTF-8 with few control
// characters. Letters of some scripts are such bytes in UTF-16 too, by turns with
// a control character.
func readsByByte(data []byte) bool {
	controls, all := 0, 0
	for _, c := range data {
		if c == 0 {
			continue
		}
		all++
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			controls++
		}
	}
	return 4*controls <= all && utf8.Valid(wholeRunes(data))
}

// wholeRunes is data without the beginning of a character that it cuts off.
func wholeRunes(data []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if last := data[len(data)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}

// isWritten says that data in UTF-16 is of the scripts that people write in,
// nearly all of it: of bytes at random, half would be.
func isWritten(data []byte, order unicode.Endianness) bool {
	text, err := unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder().Bytes(data)
	if err != nil {
		return false
	}
	good, all := 0, 0
	for _, r := range string(text) {
		all++
		if r < 0x80 || stdunicode.In(r, writtenScripts...) || r >= 0x2010 && r <= 0x2027 || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xffef {
			good++
		}
	}
	return 10*good >= 9*all
}

var writtenScripts = []*stdunicode.RangeTable{
	stdunicode.Han, stdunicode.Hiragana, stdunicode.Katakana, stdunicode.Hangul, stdunicode.Latin, stdunicode.Cyrillic, stdunicode.Greek,
	stdunicode.Arabic, stdunicode.Hebrew, stdunicode.Thai, stdunicode.Devanagari,
}

func latinText(c byte) int {
	if c >= ' ' && c < 0x7f || c >= 0xa0 || c == '\n' || c == '\r' || c == '\t' {
		return 1
	}
	return 0
}

// charsetOfFile is charsetOf for a file of any length that is no HTML.
func charsetOfFile(file *io.SectionReader) (charset, error) {
	buf := make([]byte, pieceBytes)
	n, err := file.ReadAt(buf[:headBytes], 0)
	if err != nil {
		return charset{}, err
	}
	if cs, ok := markedCharset(buf[:n]); ok {
		return cs, nil
	}
	odd := int64(-1) // where the first byte beyond ASCII stands
	for at := int64(0); at < file.Size(); {
		n, err := file.ReadAt(buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return charset{}, err
		}
		part := buf[:n]
		if at+int64(n) < file.Size() {
			for i := 1; i < utf8.UTFMax && !utf8.RuneStart(part[n-i]); i++ {
				part = part[:n-i]
			}
			part = part[:len(part)-1] // so that no character is cut
		}
		if odd < 0 {
			if i := bytes.IndexFunc(part, func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
				odd = at + int64(i)
			}
		}
		if !utf8.Valid(part) {
			sample, err := readFile(io.NewSectionReader(file, max(0, odd-1024), guessBytes))
			return guessCharset(sample), err
		}
		at += int64(len(part))
	}
	return utf8Charset, nil
}

// guessCharset guesses the charset of a text without marks: UTF-8 if it is
// valid, else what its byte statistics say, else Windows-1252, which reads
// every Latin-1 text rightly.
func guessCharset(data string) charset {
	if isISO2022JP(data) {
		return charset{name: "iso-2022-jp", decoder: japanese.ISO2022JP}
	}
	if utf8.ValidString(data) {
		return utf8Charset
	}
	sample := []byte(firstOddities(data))
	if mostlyUTF8(sample) {
		return utf8Charset // damaged here and there; bad bytes become U+FFFD
	}
	if found, ok := latinCharset(sample); ok {
		return found
	}
	if found, ok := arabicCharset(sample); ok {
		return found
	}
	western := charset{name: "windows-1252", decoder: charmap.Windows1252, guessed: true}
	found := chardet.Detect(sample)
	if found.Confidence < 0.5 {
		return western
	}
	name := strings.ToLower(found.Encoding)
	switch name {
	case "gb2312":
		name = "gb18030" // its superset, and what such files mostly are
	case "maccyrillic":
		name = "windows-1251" // alike in small letters, and a thousand times more common
	}
	enc, err := htmlindex.Get(name)
	if err != nil || !decodes(enc, sample) {
		return western
	}
	if canonical, err := htmlindex.Name(enc); err == nil {
		name = canonical
	}
	return charset{name: name, decoder: enc, guessed: true}
}

// isISO2022JP recognises Japanese in seven bits by how it changes to two bytes a
// character and back.
func isISO2022JP(data string) bool {
	head := data[:min(len(data), guessBytes)]
	return (strings.Contains(head, "\x1b$B") || strings.Contains(head, "\x1b$@")) &&
		(strings.Contains(head, "\x1b(B") || strings.Contains(head, "\x1b(J"))
}

// firstOddities returns the part of data that starts a little before its first
// byte beyond ASCII: a long English file may hold its only accents far down.
func firstOddities(data string) string {
	at := strings.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
	at = max(0, at-1024)
	return data[at:min(len(data), at+guessBytes)]
}

// mostlyUTF8 says that of the bytes beyond ASCII at least nine in ten belong
// to valid sequences.
func mostlyUTF8(data []byte) bool {
	good, bad := 0, 0
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good += n
		}
		data = data[n:]
	}
	return good >= 9*bad
}

// decodes says that nothing in data is undefined in enc; the sample may end
// within a character.
func decodes(enc encoding.Encoding, data []byte) bool {
	text, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return false
	}
	return bytes.Count(text, []byte("\uFFFD")) <= 1
}

// decode turns data into UTF-8.
func (c charset) decode(data string) (string, error) {
	if c.decoder == nil {
		return strings.ToValidUTF8(data, "\uFFFD"), nil
	}
	text, err := c.decoder.NewDecoder().String(data)
	if err != nil {
		return "", fmt.Errorf("%w: not readable as %s", ErrDamaged, c.name)
	}
	return text, nil
}

// warnings says what is uncertain or lost in a text read with c.
func (c charset) warnings(text string) []string {
	var out []string
	if c.guessed {
		out = append(out, fmt.Sprintf("the file does not say its character encoding; it was read as %s", c.name))
	}
	if n := strings.Count(text, "\uFFFD"); n > 0 {
		out = append(out, fmt.Sprintf("%d characters could not be read as %s", n, c.name))
	}
	return out
}

// htmlCharset finds the charset of an HTML file that has no byte order mark:
// what a meta element says, else a guess.
func htmlCharset(data string) charset {
	if m := xmlEncoding.FindStringSubmatch(data[:min(len(data), 200)]); m != nil {
		if enc, err := htmlindex.Get(m[1]); err == nil && !strings.HasPrefix(strings.ToLower(m[1]), "utf") {
			return charset{name: strings.ToLower(m[1]), decoder: enc}
		}
	}
	enc, name, certain := htmlcharset.DetermineEncoding([]byte(data[:min(len(data), 1024)]), "")
	if !certain {
		return guessCharset(data)
	}
	if name == "utf-8" || enc == encoding.Nop {
		return utf8Charset
	}
	return charset{name: name, decoder: enc}
}

// xmlEncoding matches the declaration that XHTML begins with.
var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*\sencoding=["']([A-Za-z0-9._-]+)["']`)

// controlHeavy says that decoded text is full of control characters or of
// bytes that could not be read: it was no text. Escape sequences of terminals
// may be there.
func controlHeavy(text string) bool {
	bad, n := 0, 0
	for _, r := range text[:min(len(text), guessBytes)] {
		n++
		if r == utf8.RuneError || r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != 0x1b {
			bad++
		}
	}
	return bad > max(n/10, strayed(n))
}

// strayed is how many odd characters a short text of n may have: a share of so
// few would be less than one.
func strayed(n int) int { return min(4, n/5) }
