package mail

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// encodedWord matches those of RFC 2047; some programs leave blanks in them.
var encodedWord = regexp.MustCompile(`=\?([^?\s]+)\?([bBqQ])\?([^?]*)\?=`)

// decodeWords reads the encoded words of a header field. Neighbours in one
// charset are decoded together: programs cut within characters.
func decodeWords(s string) string {
	if !strings.Contains(s, "=?") {
		return decodeText([]byte(s), "")
	}
	var out strings.Builder
	var pending []byte
	charset := ""
	flush := func() {
		out.WriteString(decodeText(pending, charset))
		pending, charset = nil, ""
	}
	at := 0
	for _, m := range encodedWord.FindAllStringSubmatchIndex(s, -1) {
		between := s[at:m[0]]
		name := strings.ToLower(s[m[2]:m[3]])
		name, _, _ = strings.Cut(name, "*") // a language, RFC 2231
		if at == 0 || strings.TrimSpace(between) != "" {
			flush()
			out.WriteString(decodeText([]byte(between), ""))
		} else if name != charset {
			flush()
		}
		charset = name
		pending = append(pending, decodeWord(s[m[4]:m[5]], s[m[6]:m[7]])...)
		at = m[1]
	}
	flush()
	out.WriteString(decodeText([]byte(s[at:]), ""))
	return out.String()
}

func decodeWord(how, text string) []byte {
	if how == "b" || how == "B" {
		return fromBase64([]byte(text))
	}
	return fromQuotedPrintable([]byte(strings.ReplaceAll(text, "_", " ")))
}

// decodeText reads bytes in the charset of that name. Where it is not told, not
// known or wrong, UTF-8 is tried, then Windows-1252.
func decodeText(data []byte, charset string) string {
	charset = strings.ToLower(strings.Trim(charset, ` "'`))
	switch charset {
	case "", "us-ascii", "ascii", "utf-8", "utf8", "unknown-8bit", "x-unknown", "default", "binary":
	case "cp932", "ms932":
		charset = "shift_jis"
	case "cp936", "ms936":
		charset = "gbk"
	case "cp949", "ms949":
		charset = "euc-kr"
	case "cp950":
		charset = "big5"
	}
	if enc, err := htmlindex.Get(charset); err == nil && charset != "utf-8" && charset != "utf8" {
		if text, err := enc.NewDecoder().Bytes(data); err == nil {
			return string(text)
		}
	}
	if utf8.Valid(data) || mostlyUTF8(data) {
		return strings.ToValidUTF8(string(data), "\uFFFD")
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(data)
	if err != nil {
		return strings.ToValidUTF8(string(data), "\uFFFD")
	}
	return string(text)
}

// mostlyUTF8 says that of the bytes beyond ASCII nine in ten belong to
// characters of UTF-8.
func mostlyUTF8(data []byte) bool {
	good, bad := 0, 0
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			bad++
		} else if n > 1 {
			good += n
		}
		data = data[n:]
	}
	return good >= 9*bad
}

// fromBase64 decodes what of data is base64, whatever stands between.
func fromBase64(data []byte) []byte {
	clean := make([]byte, 0, len(data))
	var out []byte
	flush := func() {
		n := len(clean)
		if n%4 == 1 {
			n--
		}
		part := make([]byte, base64.RawStdEncoding.DecodedLen(n))
		n, _ = base64.RawStdEncoding.Decode(part, clean[:n])
		out = append(out, part[:n]...)
		clean = clean[:0]
	}
	for _, c := range data {
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			clean = append(clean, c)
		case c == '=': // padding ends a run; some join several
			flush()
		}
	}
	flush()
	return out
}

// fromQuotedPrintable decodes data; what is no code stays as it is.
func fromQuotedPrintable(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		c := data[i]
		if c != '=' {
			out = append(out, c)
			continue
		}
		if end := softBreak(data[i+1:]); end > 0 {
			i += end
			continue
		}
		if i+2 < len(data) {
			hi, lo := hexDigit(data[i+1]), hexDigit(data[i+2])
			if hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		if i+1 < len(data) { // at the very end it was a soft break
			out = append(out, c)
		}
	}
	return out
}

// softBreak returns the length of the line end that data begins with, blanks
// before it included; 0 for none.
func softBreak(data []byte) int {
	for i, c := range data {
		switch {
		case c == '\n':
			return i + 1
		case c != ' ' && c != '\t' && c != '\r':
			return 0
		}
	}
	return 0
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
