package parse

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unsafe"

	"ragagent/ingest/parse/pdf"
)

// wirePage is a page whose lines are packed in the frame's raw.
type wirePage struct {
	pdf.Page
	Count int `json:"count"` // of lines
}

// minPackedLine is what a line takes at least when packed, in bytes.
const minPackedLine = 3 + 4*8

// packPage makes a frame of a page: first the numbers of all lines, then their
// texts.
func packPage(page pdf.Page) frame {
	lines := page.Lines
	page.Lines = nil
	size := 0
	for _, l := range lines {
		size += 2*minPackedLine + len(l.Text)
	}
	raw := make([]byte, 0, size)
	for _, l := range lines {
		raw = binary.AppendUvarint(raw, uint64(len(l.Text)))
		raw = binary.AppendUvarint(raw, uint64(l.Cells)<<2|bit(l.Mono)<<1|bit(l.Bold))
		raw = binary.AppendUvarint(raw, uint64(l.Column))
		for _, x := range []float64{l.X0, l.X1, l.Y, l.Size} {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
		}
	}
	for _, l := range lines {
		raw = append(raw, l.Text...)
	}
	return frame{Page: &wirePage{Page: page, Count: len(lines)}, raw: string(raw)}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// page unpacks what packPage packed; errBadFrame for anything else.
func (f frame) page() (pdf.Page, error) {
	page, n := f.Page.Page, f.Page.Count
	if n < 0 || n > len(f.raw)/minPackedLine || page.Lines != nil {
		return page, errBadFrame
	}
	u := unpacker{raw: f.raw}
	page.Lines = make([]pdf.Line, n)
	sizes := make([]int, n)
	total := 0
	for i := range page.Lines {
		l := &page.Lines[i]
		sizes[i] = u.number()
		total += sizes[i]
		cells := u.number()
		l.Cells, l.Mono, l.Bold = cells>>2, cells&2 != 0, cells&1 != 0
		l.Column = u.number()
		l.X0, l.X1, l.Y, l.Size = u.float(), u.float(), u.float(), u.float()
	}
	if u.bad || total != len(u.raw) {
		return page, errBadFrame
	}
	texts := strings.Clone(u.raw) // without the numbers before it
	for i, size := range sizes {
		page.Lines[i].Text, texts = texts[:size], texts[size:]
	}
	return page, nil
}

// unpacker reads numbers off the front of raw.
type unpacker struct {
	raw string
	bad bool
}

// number reads a number of at most 31 bits.
func (u *unpacker) number() int {
	n := 0
	for shift := 0; shift < 35 && len(u.raw) > 0; shift += 7 {
		c := u.raw[0]
		u.raw = u.raw[1:]
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			u.bad = u.bad || n > math.MaxInt32
			return n
		}
	}
	u.bad = true
	return 0
}

func (u *unpacker) float() float64 {
	if len(u.raw) < 8 {
		u.bad = true
		return 0
	}
	var b [8]byte
	copy(b[:], u.raw)
	u.raw = u.raw[8:]
	return math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
}

// Bounds of one frame of blocks.
const (
	batchBlocks = 4096
	batchBytes  = 256 << 10 // a longer block has a frame of its own
)

// kinds are those that a child may name, by their numbers on the wire.
var kinds = [...]Kind{Heading, Paragraph, List, Table, Code, Quote}

// blockHead is the room that is made for the numbers of a block.
const blockHead = 12

// send hands the blocks of a body over, in frames of bounded size: of each its
// kind, level, page and length, and its text.
func (b *body) send(do func(frame) error) error {
	text, blocks := b.out.String(), b.blocks
	for len(blocks) > 0 {
		n, size := 0, 0
		for n < len(blocks) && n < batchBlocks && (n == 0 || size+blocks[n].Span.Len() <= batchBytes) {
			size += blocks[n].Span.Len()
			n++
		}
		raw := make([]byte, 0, size+n*blockHead)
		for _, b := range blocks[:n] {
			raw = binary.AppendUvarint(raw, uint64(slices.Index(kinds[:], b.Kind)))
			raw = binary.AppendUvarint(raw, uint64(b.Level))
			raw = binary.AppendUvarint(raw, uint64(b.Page))
			raw = binary.AppendUvarint(raw, uint64(b.Span.Len()))
			raw = append(raw, text[b.Span.Start:b.Span.End]...)
		}
		if err := do(frame{Blocks: n, raw: unsafe.String(unsafe.SliceData(raw), len(raw))}); err != nil {
			return err
		}
		blocks = blocks[n:]
	}
	return nil
}

// block unpacks the next block of send; bad is set for anything else.
func (u *unpacker) block() (kind Kind, level, page int, text string) {
	k := u.number()
	level, page = u.number(), u.number()
	n := u.number()
	if u.bad || k >= len(kinds) || n > len(u.raw) || (kinds[k] == Heading) != (level >= 1 && level <= 6) || page > maxPage {
		u.bad = true
		return "", 0, 0, ""
	}
	text, u.raw = u.raw[:n], u.raw[n:]
	return kinds[k], level, page, text
}

// maxPage bounds the numbers of pages, slides and sheets.
const maxPage = 1_000_000

// take takes a frame of a child that reads a text. Of its blocks is made what
// would be made of blocks read here: a child's word is not trusted.
func (r *reading) take(f frame) error {
	switch {
	case f.Format != "":
		if !f.Format.readable() {
			return errBadFrame
		}
		r.format = f.Format
		r.expected = int(min(max(f.Expect, 0), int64(r.body.maxBytes)))
		r.body.expect(r.expected)
		return nil
	case f.Reading != nil:
		r.describe(f.Reading)
		return nil
	case f.Blocks <= 0:
		return errBadFrame
	}
	u := unpacker{raw: f.raw}
	for range f.Blocks {
		kind, level, page, text := u.block()
		if u.bad {
			return errBadFrame
		}
		r.body.add(kind, level, page, text)
	}
	if len(u.raw) > 0 {
		return errBadFrame
	}
	return r.body.err
}

// describe takes what is known of a text besides its blocks.
func (r *reading) describe(w *wireReading) {
	r.title = w.Title
	for _, text := range w.Warnings {
		r.warn(text)
	}
	r.meta = w.Meta // bounded in the end
}
