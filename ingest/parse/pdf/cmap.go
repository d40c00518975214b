package pdf

import (
	"sort"
	"unicode/utf16"
)

// maxCMapEntries bounds the single mappings of one character map.
const maxCMapEntries = 1 << 17

// cmap maps character codes to text (ToUnicode) or to glyph numbers (the
// encoding of a composite font).
type cmap struct {
	text   map[uint32]string
	ranges []textRange // ascending by lo, after finish
	spaces []codeSpace
	cids   []cidRange
}

type textRange struct {
	lo, hi uint32
	dst    []uint16 // for lo; the last unit counts up
}

type cidRange struct {
	lo, hi, cid uint32
	bytes       int
}

type codeSpace struct {
	lo, hi uint32
	bytes  int
}

// parseCMap reads a character map. What it cannot read, it leaves out.
func parseCMap(data []byte) *cmap {
	m := &cmap{text: map[uint32]string{}}
	l := lexer{data: data}
	var args []operand
	for {
		op := l.next()
		switch op.kind {
		case kindEOF:
			sort.SliceStable(m.ranges, func(i, j int) bool { return m.ranges[i].lo < m.ranges[j].lo })
			return m
		case kindOperator:
			m.section(string(op.text), args)
			args = args[:0]
		default:
			if len(args) < 3*maxCMapEntries {
				args = append(args, op)
			}
		}
	}
}

func (m *cmap) section(name string, args []operand) {
	switch name {
	case "endcodespacerange":
		for ; len(args) >= 2 && len(m.spaces) < 256; args = args[2:] {
			if n := len(args[0].text); n >= 1 && n <= 4 && n == len(args[1].text) {
				m.spaces = append(m.spaces, codeSpace{code(args[0].text), code(args[1].text), n})
			}
		}
	case "endbfchar":
		for ; len(args) >= 2 && len(m.text) < maxCMapEntries; args = args[2:] {
			m.text[code(args[0].text)] = utf16Text(units(args[1].text))
		}
	case "endbfrange":
		for ; len(args) >= 3 && len(m.ranges) < maxCMapEntries; args = args[3:] {
			m.bfrange(code(args[0].text), code(args[1].text), args[2])
		}
	case "endcidrange":
		for ; len(args) >= 3 && len(m.cids) < maxCMapEntries; args = args[3:] {
			m.cids = append(m.cids, cidRange{code(args[0].text), code(args[1].text), uint32(args[2].num), len(args[0].text)})
		}
	case "endcidchar":
		for ; len(args) >= 2 && len(m.cids) < maxCMapEntries; args = args[2:] {
			c := code(args[0].text)
			m.cids = append(m.cids, cidRange{c, c, uint32(args[1].num), len(args[0].text)})
		}
	}
}

func (m *cmap) bfrange(lo, hi uint32, dst operand) {
	switch {
	case hi < lo:
	case dst.kind == kindArray:
		for i, item := range dst.items {
			if uint32(i) > hi-lo || len(m.text) >= maxCMapEntries {
				break
			}
			m.text[lo+uint32(i)] = utf16Text(units(item.text))
		}
	case dst.kind == kindString && len(dst.text) > 0:
		m.ranges = append(m.ranges, textRange{lo, hi, units(dst.text)})
	}
}

// lookup returns the text of a code; ok is false for one that is not mapped.
func (m *cmap) lookup(c uint32) (text string, ok bool) {
	if text, ok = m.text[c]; ok {
		return text, true
	}
	i := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].lo > c })
	// Ranges may overlap in broken maps; the nearest ones are tried.
	for n := 0; i > 0 && n < 8; n++ {
		i--
		if r := m.ranges[i]; c <= r.hi {
			dst := append([]uint16(nil), r.dst...)
			dst[len(dst)-1] += uint16(c - r.lo)
			return utf16Text(dst), true
		}
	}
	return "", false
}

// cid returns the glyph number of a code.
func (m *cmap) cid(c uint32, bytes int) uint32 {
	for _, r := range m.cids {
		if r.bytes == bytes && c >= r.lo && c <= r.hi {
			return r.cid + c - r.lo
		}
	}
	return c
}

// split cuts the first code off raw, by the code space; two bytes where there
// is none.
func (m *cmap) split(raw []byte) (c uint32, n int) {
	for n := 1; n <= 4 && n <= len(raw); n++ {
		c := code(raw[:n])
		for _, s := range m.spaces {
			if s.bytes == n && c >= s.lo && c <= s.hi {
				return c, n
			}
		}
	}
	if len(m.spaces) > 0 {
		n = m.spaces[0].bytes
	} else {
		n = 2
	}
	n = min(n, len(raw))
	return code(raw[:n]), n
}

// code reads up to four bytes as a number.
func code(b []byte) uint32 {
	var c uint32
	for _, x := range b[:min(len(b), 4)] {
		c = c<<8 | uint32(x)
	}
	return c
}

// units reads big-endian UTF-16; a single byte is one unit.
func units(b []byte) []uint16 {
	if len(b) == 1 {
		return []uint16{uint16(b[0])}
	}
	out := make([]uint16, 0, min(len(b)/2, 64))
	for i := 0; i+1 < len(b) && len(out) < 64; i += 2 {
		out = append(out, uint16(b[i])<<8|uint16(b[i+1]))
	}
	return out
}

func utf16Text(u []uint16) string { return string(utf16.Decode(u)) }
