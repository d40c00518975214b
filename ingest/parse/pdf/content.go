package pdf

import (
	"math"

	"github.com/ledongthuc/pdf"
)

// glyph is one drawn character code, in points, y growing upwards.
type glyph struct {
	x, y   float64 // origin on the baseline
	dx, dy float64 // direction of writing, length 1
	w      float64 // advance along it without word spacing
	size   float64
	text   string
	bold   bool
	mono   bool
	blank  bool // it draws a blank
}

// Bounds of the work for one page.
const (
	maxPageBytes  = 64 << 20
	maxGlyphs     = 400_000
	maxOperators  = 8_000_000
	maxFormDepth  = 10
	maxFormUses   = 5_000
	maxStateDepth = 512
	maxOperands   = 64
)

// matrix is a transformation [a b c d e f] as in PDF.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// mul returns m applied before n.
func (m matrix) mul(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is the part of the graphics state that text needs.
type state struct {
	ctm       matrix
	font      *font
	size      float64
	charSpace float64
	wordSpace float64
	scale     float64 // horizontal, 1 is normal
	leading   float64
	rise      float64
	mode      int
}

// machine runs content streams and collects the glyphs they draw.
type machine struct {
	doc       *Document
	glyphs    []glyph
	images    int
	unmapped  int
	operators int
	forms     int
	cut       bool // a bound was reached
	broken    bool // a stream could not be unpacked completely
}

// run is one content stream at work.
type run struct {
	m         *machine
	resources pdf.Value
	fonts     map[string]*font
	state     state
	stack     []state
	tm, line  matrix
	depth     int
	args      []operand
	lexer     lexer
}

// draw runs the stream data in the given state.
func (m *machine) draw(data []byte, resources pdf.Value, s state, depth int) {
	r := run{m: m, resources: resources, fonts: map[string]*font{}, state: s, tm: identity, line: identity, depth: depth, lexer: lexer{data: data}}
	for {
		op := r.lexer.next()
		switch op.kind {
		case kindEOF:
			return
		case kindOperator:
			m.operators++
			if m.operators > maxOperators || len(m.glyphs) >= maxGlyphs {
				m.cut = true
				return
			}
			r.operator(op.text)
			r.args = r.args[:0]
		case kindClose:
		default:
			if len(r.args) < maxOperands {
				r.args = append(r.args, op)
			}
		}
	}
}

// arg returns the i-th number from the end of the operands, counted from 1.
func (r *run) arg(i int) float64 {
	if i > len(r.args) {
		return 0
	}
	return r.args[len(r.args)-i].num
}

func (r *run) argMatrix() matrix {
	return matrix{r.arg(6), r.arg(5), r.arg(4), r.arg(3), r.arg(2), r.arg(1)}
}

func (r *run) last(k kind) (operand, bool) {
	if n := len(r.args); n > 0 && r.args[n-1].kind == k {
		return r.args[n-1], true
	}
	return operand{}, false
}

func (r *run) operator(op []byte) {
	switch string(op) {
	case "q":
		if len(r.stack) < maxStateDepth {
			r.stack = append(r.stack, r.state)
		}
	case "Q":
		if n := len(r.stack); n > 0 {
			r.state, r.stack = r.stack[n-1], r.stack[:n-1]
		}
	case "cm":
		r.state.ctm = r.argMatrix().mul(r.state.ctm)
	case "Do":
		r.xobject()
	case "BI":
		r.m.images++
	case "ID":
		r.lexer.skipInlineImage()
	case "gs":
		r.graphicsState()
	default:
		r.textOperator(op)
	}
}

func (r *run) textOperator(op []byte) {
	switch string(op) {
	case "BT":
		r.tm, r.line = identity, identity
	case "Tc":
		r.state.charSpace = r.arg(1)
	case "Tw":
		r.state.wordSpace = r.arg(1)
	case "Tz":
		r.state.scale = r.arg(1) / 100
	case "TL":
		r.state.leading = r.arg(1)
	case "Ts":
		r.state.rise = r.arg(1)
	case "Tr":
		r.state.mode = int(r.arg(1))
	case "Tf":
		r.state.size = r.arg(1)
		if len(r.args) >= 2 {
			r.state.font = r.font(string(r.args[len(r.args)-2].text))
		}
	case "Tm":
		r.line = r.argMatrix()
		r.tm = r.line
	case "Td":
		r.move(r.arg(2), r.arg(1))
	case "TD":
		r.state.leading = -r.arg(1)
		r.move(r.arg(2), r.arg(1))
	case "T*":
		r.move(0, -r.state.leading)
	case "Tj":
		r.showLast()
	case "'":
		r.move(0, -r.state.leading)
		r.showLast()
	case `"`:
		r.state.wordSpace, r.state.charSpace = r.arg(3), r.arg(2)
		r.move(0, -r.state.leading)
		r.showLast()
	case "TJ":
		r.showArray()
	}
}

func (r *run) move(tx, ty float64) {
	r.line = matrix{1, 0, 0, 1, tx, ty}.mul(r.line)
	r.tm = r.line
}

func (r *run) showLast() {
	if s, ok := r.last(kindString); ok {
		r.show(s.text)
	}
}

func (r *run) showArray() {
	a, ok := r.last(kindArray)
	if !ok {
		return
	}
	for _, item := range a.items {
		switch item.kind {
		case kindString:
			r.show(item.text)
		case kindNumber:
			t := -item.num / 1000 * r.state.size
			if r.state.font != nil && r.state.font.vertical {
				r.advance(0, t)
			} else {
				r.advance(t*r.state.scale, 0)
			}
		}
	}
}

func (r *run) advance(tx, ty float64) {
	r.tm[4] += tx*r.tm[0] + ty*r.tm[2]
	r.tm[5] += tx*r.tm[1] + ty*r.tm[3]
}

// show draws a string.
func (r *run) show(raw []byte) {
	f := r.state.font
	if f == nil { // it could not be read
		r.m.broken = true
		return
	}
	s := &r.state
	f.each(raw, func(sh shape, space bool) {
		extra := s.charSpace
		if space {
			extra += s.wordSpace
		}
		if f.vertical {
			r.place(sh, s.size+s.charSpace, true)
			r.advance(0, -(s.size + extra))
			return
		}
		r.place(sh, (sh.width*s.size+s.charSpace)*s.scale, false)
		r.advance((sh.width*s.size+extra)*s.scale, 0)
	})
}

// place records a glyph at the current place; advance is in text space.
func (r *run) place(sh shape, advance float64, vertical bool) {
	if len(r.m.glyphs) >= maxGlyphs {
		r.m.cut = true
		return
	}
	if !sh.mapped {
		r.m.unmapped++
		return
	}
	s := &r.state
	trm := matrix{s.scale, 0, 0, 1, 0, s.rise}.mul(r.tm).mul(s.ctm)
	ux, uy := trm[0], trm[1]
	if vertical {
		ux, uy = -trm[2], -trm[3]
	}
	unit := math.Hypot(ux, uy)
	size := math.Abs(s.size) * math.Hypot(trm[2], trm[3])
	if !(unit > 0) || !(size > 0.1) || size > 10_000 || math.IsInf(unit, 0) {
		return
	}
	if !vertical && s.scale != 0 {
		advance /= s.scale
	}
	if s.size < 0 { // mirrored twice: drawn upright, advancing backwards
		ux, uy, advance = -ux, -uy, -advance
	}
	r.m.glyphs = append(r.m.glyphs, glyph{
		x: trm[4], y: trm[5], dx: ux / unit, dy: uy / unit, w: advance * unit, size: size,
		text: sh.text, bold: s.font.bold || s.mode == 2, mono: s.font.mono, blank: isBlank(sh.text),
	})
}

func isBlank(text string) bool {
	switch text {
	case " ", "\u00a0", "\t", "\n", "\r", "\u2002", "\u2003", "\u2009", "\u3000":
		return true
	}
	return false
}

// font returns a font of the resources by name; nil if it cannot be read.
func (r *run) font(name string) *font {
	if f, ok := r.fonts[name]; ok {
		return f
	}
	var f *font
	tolerate(func() { f = r.m.doc.font(r.resources.Key("Font").Key(name)) })
	r.fonts[name] = f
	return f
}

// font returns the font that a dictionary describes. Dictionaries that read
// the same are the same font.
func (d *Document) font(v pdf.Value) (f *font) {
	// A font that is missing reads as null, and is then a plain Latin one.
	key := v.String()
	if f, ok := d.fonts[key]; ok {
		return f
	}
	tolerate(func() { f = newFont(v) })
	d.fonts[key] = f
	return f
}

// graphicsState takes the font that an ExtGState may set.
func (r *run) graphicsState() {
	name, ok := r.last(kindName)
	if !ok {
		return
	}
	set := r.resources.Key("ExtGState").Key(string(name.text)).Key("Font")
	if set.Len() == 2 {
		r.state.font, r.state.size = r.m.doc.font(set.Index(0)), set.Index(1).Float64()
	}
}

// xobject draws a form; of an image it only takes note.
func (r *run) xobject() {
	name, ok := r.last(kindName)
	if !ok {
		return
	}
	x := r.resources.Key("XObject").Key(string(name.text))
	switch x.Key("Subtype").Name() {
	case "Image":
		r.m.images++
	case "Form":
		r.m.forms++
		if r.depth >= maxFormDepth || r.m.forms > maxFormUses {
			r.m.cut = true
			return
		}
		s := r.state
		if m := x.Key("Matrix"); m.Len() == 6 {
			var fm matrix
			for i := range fm {
				fm[i] = m.Index(i).Float64()
			}
			s.ctm = fm.mul(s.ctm)
		}
		resources := x.Key("Resources")
		if resources.Kind() != pdf.Dict {
			resources = r.resources
		}
		data, whole := streamData(x, maxPageBytes)
		r.m.broken = r.m.broken || !whole
		r.m.draw(data, resources, s, r.depth+1)
	}
}
