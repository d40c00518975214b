package pdf

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf16enc "golang.org/x/text/encoding/unicode"
)

// simpleEncoding returns the text of each byte of a simple font.
func simpleEncoding(v pdf.Value) *[256]string {
	enc := v.Key("Encoding")
	base := enc.Name()
	if enc.Kind() == pdf.Dict {
		base = enc.Key("BaseEncoding").Name()
	}
	table := baseEncoding(base, v.Key("BaseFont").Name())
	if enc.Kind() == pdf.Dict {
		differences(table, v)
	}
	return table
}

func baseEncoding(name, font string) *[256]string {
	var cm *charmap.Charmap
	switch name {
	case "MacRomanEncoding":
		cm = charmap.Macintosh
	case "WinAnsiEncoding":
		cm = charmap.Windows1252
	}
	table := &[256]string{}
	for c := range 256 {
		switch {
		case cm != nil:
			table[c] = printable(cm.DecodeByte(byte(c)))
		case c < 0x7f:
			table[c] = printable(rune(c))
		default:
			// Standard and built-in encodings agree with Windows-1252 on most
			// of what matters, and with themselves on the rest.
			table[c] = printable(charmap.Windows1252.DecodeByte(byte(c)))
		}
	}
	if cm == nil {
		for c, text := range standardHigh {
			table[c] = text
		}
	}
	if name == "WinAnsiEncoding" {
		table[0xad] = "-"
	}
	if strings.Contains(strings.ToLower(font), "symbol") || strings.Contains(strings.ToLower(font), "wingdings") {
		table[0xb7], table[0xa7] = "•", "•"
	}
	return table
}

// standardHigh is where StandardEncoding differs from Windows-1252 (ISO
// 32000-1, annex D.2).
var standardHigh = map[byte]string{
	'\'': "’", '`': "‘", 0xa4: "/", 0xa6: "ƒ", 0xa9: "'", 0xaa: "“", 0xac: "‹", 0xad: "›", 0xae: "fi", 0xaf: "fl",
	0xb1: "–", 0xb2: "†", 0xb3: "‡", 0xb4: "·", 0xb7: "•", 0xb8: "‚", 0xb9: "„", 0xba: "”", 0xbc: "…", 0xbd: "‰",
	0xd0: "—", 0xe1: "Æ", 0xe8: "Ł", 0xe9: "Ø", 0xea: "Œ", 0xf1: "æ", 0xf5: "ı", 0xf8: "ł", 0xf9: "ø", 0xfa: "œ", 0xfb: "ß",
}

func printable(r rune) string {
	if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError {
		return ""
	}
	return tidy(string(r))
}

// differences applies the Differences of a font's encoding. The library knows
// the glyph names of the Adobe list; those made by rule are resolved here.
func differences(table *[256]string, v pdf.Value) {
	list := v.Key("Encoding").Key("Differences")
	font := pdf.Font{V: v}
	decoder := font.Encoder()
	next := 0
	for i := 0; i < list.Len() && i < 1024; i++ {
		item := list.Index(i)
		if item.Kind() == pdf.Integer {
			next = int(item.Int64())
			continue
		}
		if next >= 0 && next < 256 {
			if text, ok := glyphByRule(item.Name()); ok {
				table[next] = text
			} else if r, _ := utf8.DecodeRuneInString(decoder.Decode(string([]byte{byte(next)}))); r != utf8.RuneError {
				table[next] = printable(r)
			}
		}
		next++
	}
}

// glyphByRule resolves glyph names that stand for characters by their form
// (Adobe Glyph List Specification): "uni20AC", "u1F600", "A.sc", "f_i".
func glyphByRule(name string) (string, bool) {
	name, _, _ = strings.Cut(name, ".")
	switch {
	case strings.Contains(name, "_"):
		var out strings.Builder
		for part := range strings.SplitSeq(name, "_") {
			text, ok := glyphByRule(part)
			if !ok && len(part) != 1 {
				return "", false
			} else if !ok {
				text = part
			}
			out.WriteString(text)
		}
		return out.String(), true
	case strings.HasPrefix(name, "uni") && len(name) >= 7:
		return hexRune(name[3:7])
	case strings.HasPrefix(name, "u") && len(name) >= 5 && len(name) <= 7:
		return hexRune(name[1:])
	}
	return "", false
}

func hexRune(digits string) (string, bool) {
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || n > unicode.MaxRune {
		return "", false
	}
	return printable(rune(n)), true
}

// wideEncoding is a predefined multi-byte encoding of composite fonts.
type wideEncoding struct {
	charset encoding.Encoding
	single  bool // bytes below 0x80 stand alone; else every code has two bytes
}

func (e *wideEncoding) split(raw []byte) int {
	if e.single && raw[0] < 0x80 {
		return 1
	}
	return min(2, len(raw))
}

func (e *wideEncoding) decode(raw []byte) string {
	text, err := e.charset.NewDecoder().Bytes(raw)
	if err != nil || strings.ContainsRune(string(text), utf8.RuneError) {
		return ""
	}
	return tidy(string(text))
}

// wideEncodings are the predefined encodings (ISO 32000-1, table 118) whose
// codes are text in a charset.
var wideEncodings = func() map[string]*wideEncoding {
	utf16 := utf16enc.UTF16(utf16enc.BigEndian, utf16enc.IgnoreBOM)
	out := map[string]*wideEncoding{}
	add := func(charset encoding.Encoding, single bool, names ...string) {
		for _, name := range names {
			e := &wideEncoding{charset, single}
			out[name+"-H"], out[name+"-V"] = e, e
		}
	}
	add(utf16, false, "UniGB-UCS2", "UniGB-UTF16", "UniCNS-UCS2", "UniCNS-UTF16", "UniJIS-UCS2", "UniJIS-UTF16", "UniKS-UCS2", "UniKS-UTF16")
	add(simplifiedchinese.GBK, true, "GBK-EUC", "GBKp-EUC", "GBK2K", "GB-EUC")
	add(traditionalchinese.Big5, true, "B5pc", "ETen-B5", "ETenms-B5", "HKscs-B5")
	add(japanese.ShiftJIS, true, "90ms-RKSJ", "90msp-RKSJ", "90pv-RKSJ", "83pv-RKSJ")
	add(japanese.EUCJP, true, "EUC")
	add(korean.EUCKR, true, "KSC-EUC", "KSCms-UHC", "KSCms-UHC-HW", "KSCpc-EUC")
	return out
}()
