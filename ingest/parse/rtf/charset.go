package rtf

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// encodingOf returns the encoding of a Windows code page; that of western
// Europe for those we do not know.
func encodingOf(codePage int) encoding.Encoding {
	switch codePage {
	case 437:
		return charmap.CodePage437
	case 850:
		return charmap.CodePage850
	case 852:
		return charmap.CodePage852
	case 866:
		return charmap.CodePage866
	case 874:
		return charmap.Windows874
	case 932:
		return japanese.ShiftJIS
	case 936:
		return simplifiedchinese.GBK
	case 949, 1361:
		return korean.EUCKR
	case 950:
		return traditionalchinese.Big5
	case 1250:
		return charmap.Windows1250
	case 1251:
		return charmap.Windows1251
	case 1253:
		return charmap.Windows1253
	case 1254:
		return charmap.Windows1254
	case 1255:
		return charmap.Windows1255
	case 1256:
		return charmap.Windows1256
	case 1257:
		return charmap.Windows1257
	case 1258:
		return charmap.Windows1258
	case 10000:
		return charmap.Macintosh
	case 10007:
		return charmap.MacintoshCyrillic
	case 20866:
		return charmap.KOI8R
	case 54936:
		return simplifiedchinese.GB18030
	case 65001:
		return encoding.Nop
	}
	return charmap.Windows1252
}

// codePageOf returns the code page of a font's \fcharset; 0 for those that use
// the document's.
func codePageOf(fontCharset int) int {
	switch fontCharset {
	case 77:
		return 10000
	case 128:
		return 932
	case 129, 130:
		return 949
	case 134:
		return 936
	case 136:
		return 950
	case 161:
		return 1253
	case 162:
		return 1254
	case 163:
		return 1258
	case 177:
		return 1255
	case 178, 179, 180:
		return 1256
	case 186:
		return 1257
	case 204:
		return 1251
	case 222:
		return 874
	case 238:
		return 1250
	case 254:
		return 437
	case 255:
		return 850
	}
	return 0
}

// decode turns bytes of a code page into text. literal says that they stand in
// the file as they are, where some programs write UTF-8.
func decode(raw []byte, codePage int, literal bool) string {
	if literal && utf8.Valid(raw) {
		return string(raw)
	}
	out, err := encodingOf(codePage).NewDecoder().Bytes(raw)
	if err != nil {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	return string(out)
}
