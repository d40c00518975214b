package pdf

import (
	"strings"

	"github.com/ledongthuc/pdf"
)

// font tells the text and the width of character codes.
type font struct {
	bold      bool
	mono      bool
	composite bool // codes of several bytes
	vertical  bool
	toUnicode *cmap              // nil if the file has none
	encoding  *cmap              // of a composite font; nil means two bytes a code
	wide      *wideEncoding      // of a composite font with a known multi-byte charset
	table     *[256]string       // of a simple font: the text of each byte
	widths    map[uint32]float64 // in em
	missing   float64            // width of codes that widths lacks
	seen      map[uint32]shape   // by code, as decoded before
}

// shape is what drawing one code means.
type shape struct {
	text   string // "" for a code without a known character
	width  float64
	mapped bool
}

// maxWidths bounds what is read of a font's table of widths.
const maxWidths = 1 << 17

// newFont reads a font dictionary.
func newFont(v pdf.Value) *font {
	f := &font{seen: map[uint32]shape{}, widths: map[uint32]float64{}}
	f.composite = v.Key("Subtype").Name() == "Type0"
	tolerate(func() {
		if data, _ := streamData(v.Key("ToUnicode"), maxCMapBytes); len(data) > 0 {
			f.toUnicode = parseCMap(data)
		}
	})
	if f.composite {
		f.missing = 1
		tolerate(func() { f.compositeEncoding(v.Key("Encoding")) })
		tolerate(func() {
			descendant := v.Key("DescendantFonts").Index(0)
			f.compositeWidths(descendant)
			f.style(v.Key("BaseFont").Name(), descendant.Key("FontDescriptor"))
		})
		return f
	}
	f.table = baseEncoding("", "")
	tolerate(func() { f.table = simpleEncoding(v) })
	tolerate(func() { f.simpleWidths(v) })
	tolerate(func() { f.style(v.Key("BaseFont").Name(), v.Key("FontDescriptor")) })
	return f
}

// tolerate does a part of the work that the rest can do without: the library
// panics where an object is damaged.
func tolerate(part func()) {
	defer func() { _ = recover() }()
	part()
}

// maxCMapBytes bounds a character map's stream.
const maxCMapBytes = 4 << 20

// style tells how the font looks, from its name and its descriptor's flags.
func (f *font) style(name string, descriptor pdf.Value) {
	const fixedPitch, forceBold = 1 << 0, 1 << 18
	flags := descriptor.Key("Flags").Int64()
	f.bold = containsAny(name, "bold", "black", "heavy", "demi") || descriptor.Key("FontWeight").Float64() >= 600 || flags&forceBold != 0
	f.mono = containsAny(name, "courier", "mono", "cmtt", "consol", "menlo") || flags&fixedPitch != 0
}

func containsAny(name string, words ...string) bool {
	name = strings.ToLower(name)
	for _, word := range words {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func (f *font) compositeEncoding(v pdf.Value) {
	name := v.Name()
	if v.Kind() == pdf.Stream {
		data, _ := streamData(v, maxCMapBytes)
		f.encoding = parseCMap(data)
		name = v.Key("CMapName").Name()
		f.vertical = v.Key("WMode").Int64() == 1
	} else {
		f.wide = wideEncodings[name]
	}
	f.vertical = f.vertical || strings.HasSuffix(name, "-V") || name == "V"
}

// compositeWidths reads DW and W: "c [w1 w2 ...]" and "first last w".
func (f *font) compositeWidths(descendant pdf.Value) {
	if dw := descendant.Key("DW"); dw.Kind() != pdf.Null {
		f.missing = dw.Float64() / 1000
	}
	w := descendant.Key("W")
	for i := 0; i+1 < w.Len() && len(f.widths) < maxWidths; {
		first := uint32(w.Index(i).Int64())
		second := w.Index(i + 1)
		if second.Kind() == pdf.Array {
			for j := 0; j < second.Len() && len(f.widths) < maxWidths; j++ {
				f.widths[first+uint32(j)] = second.Index(j).Float64() / 1000
			}
			i += 2
			continue
		}
		last := uint32(second.Int64())
		width := w.Index(i+2).Float64() / 1000
		for c := first; c <= last && c >= first && len(f.widths) < maxWidths; c++ {
			f.widths[c] = width
		}
		i += 3
	}
}

func (f *font) simpleWidths(v pdf.Value) {
	scale := 1.0 / 1000
	if v.Key("Subtype").Name() == "Type3" {
		scale = v.Key("FontMatrix").Index(0).Float64()
	}
	f.missing = 0.5
	tolerate(func() { f.missing = v.Key("FontDescriptor").Key("MissingWidth").Float64() * scale })
	widths := v.Key("Widths")
	first := uint32(v.Key("FirstChar").Int64())
	for i := 0; i < widths.Len() && i < 256; i++ {
		f.widths[first+uint32(i)] = widths.Index(i).Float64() * scale
	}
	if widths.Len() == 0 {
		f.standardWidths(v.Key("BaseFont").Name())
	}
}

// each cuts raw into codes and calls do with the shape of each; space says
// that the code is the single byte 32, which word spacing applies to.
func (f *font) each(raw []byte, do func(s shape, space bool)) {
	if !f.composite {
		for _, c := range raw {
			do(f.shape(uint32(c), raw[:1], 1), c == ' ')
		}
		return
	}
	for len(raw) > 0 {
		c, n := f.split(raw)
		do(f.shape(c, raw[:n], n), n == 1 && c == ' ')
		raw = raw[n:]
	}
}

func (f *font) split(raw []byte) (uint32, int) {
	switch {
	case f.encoding != nil:
		return f.encoding.split(raw)
	case f.wide != nil:
		n := f.wide.split(raw)
		return code(raw[:n]), n
	}
	n := min(2, len(raw))
	return code(raw[:n]), n
}

// shape returns what a code of n bytes draws; raw holds its bytes if the font
// is composite.
func (f *font) shape(c uint32, raw []byte, n int) shape {
	if s, ok := f.seen[c]; ok {
		return s
	}
	s := shape{width: f.width(c, n)}
	s.text, s.mapped = f.text(c, raw)
	if len(f.seen) < maxWidths {
		f.seen[c] = s
	}
	return s
}

func (f *font) width(c uint32, n int) float64 {
	if f.composite && f.encoding != nil {
		c = f.encoding.cid(c, n)
	}
	if w, ok := f.widths[c]; ok {
		return w
	}
	return f.missing
}

func (f *font) text(c uint32, raw []byte) (string, bool) {
	if f.toUnicode != nil {
		if text, ok := f.toUnicode.lookup(c); ok {
			return tidy(text), true
		}
	}
	switch {
	case f.table != nil:
		text := f.table[byte(c)]
		return text, text != ""
	case f.wide != nil:
		text := f.wide.decode(raw)
		return text, text != ""
	}
	return "", false
}

// tidy replaces what fonts call characters but readers do not: ligatures by
// their letters, private bullets by bullets; zero characters go.
func tidy(text string) string {
	if len(text) == 1 && text[0] >= ' ' {
		return text
	}
	return ligatures.Replace(text)
}

var ligatures = strings.NewReplacer(
	"\ufb00", "ff", "\ufb01", "fi", "\ufb02", "fl", "\ufb03", "ffi", "\ufb04", "ffl", "\ufb05", "st", "\ufb06", "st",
	"\uf0b7", "•", "\uf0a7", "•", "\uf0d8", "•", "\uf0fc", "✓", "\uf0a8", "•", "\uf06e", "•", "\uf0e0", "→",
	"\x00", "", "\ufffd", "", "\ufeff", "", "\u2010", "-", "\u2011", "-",
)
