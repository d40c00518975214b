package bm25

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// A saved collection is the magic, the versions of format and analysis, the
// number of segments, and each segment as a sequence of sections in the order
// of encoder.segment. A section is the number of its bytes, 8 bytes, and as
// many bytes. All numbers are little-endian. What can be derived cheaply from
// the rest is not saved: hash tables, document frequencies, inversions.
const (
	magic         = "RAGBM25\n"
	formatVersion = 3
)

// Save implements retrieval.LexicalIndex.
func (x *Index) Save(ctx context.Context, collection string, w io.Writer) error {
	c := x.collection(collection)
	if c == nil {
		return fmt.Errorf("save words of %s: %w", collection, store.ErrNotFound)
	}
	s := c.snapshot.Load()
	e := encoder{w: w}
	e.raw([]byte(magic))
	e.uint32(formatVersion)
	e.uint32(analysis.Version)
	e.uint32(uint32(len(s.views)))
	for _, v := range s.views {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.view(v)
	}
	e.flush()
	if e.err != nil {
		return fmt.Errorf("save words of %s: %w", collection, e.err)
	}
	return nil
}

// encoder writes sections; after an error it writes nothing more.
type encoder struct {
	w   io.Writer
	buf []byte
	err error
}

// encoderBuffer is how many bytes are written at once.
const encoderBuffer = 64 << 10

func (e *encoder) view(v *view) {
	s := v.segment
	if v.dead != nil { // what was deleted is not written
		s = mergeSegments([]*view{v})
	}
	e.names(&s.ids)
	e.documents(s.documents)
	e.uint32s(s.length)
	e.uint32s(s.singleLength)
	e.field(&s.stems)
	e.field(&s.surface)
	e.uint32s(s.stemOf)
	e.field(&s.singles)
	t := &s.titles
	e.uint64s(t.hash)
	e.uint32s(t.length)
	e.uint32s(t.of)
	e.field(&t.stems)
	e.field(&t.words)
	e.uint32s(t.stemOf)
}

func (e *encoder) documents(documents []document) {
	var ids namesBuilder
	revisions := make([]uint64, len(documents))
	counts := make([]uint32, len(documents))
	offsets := make([]uint32, len(documents))
	for i := range documents {
		ids.add(documents[i].id)
		revisions[i] = uint64(documents[i].revision)
		counts[i] = documents[i].count
		offsets[i] = documents[i].offset
	}
	n := ids.build()
	e.names(&n)
	e.uint64s(revisions)
	e.uint32s(counts)
	e.uint32s(offsets)
}

func (e *encoder) field(f *field) {
	e.names(&f.names)
	e.uint32s(f.ends)
	e.section(len(f.data))
	e.raw(f.data)
	e.uint32s(f.posEnds)
	e.section(len(f.positions))
	e.raw(f.positions)
}

func (e *encoder) names(n *names) {
	e.section(len(n.blob))
	e.raw([]byte(n.blob))
	e.uint32s(n.ends)
}

func (e *encoder) uint32s(values []uint32) {
	e.section(4 * len(values))
	for _, v := range values {
		e.uint32(v)
	}
}

func (e *encoder) uint64s(values []uint64) {
	e.section(8 * len(values))
	for _, v := range values {
		e.uint64(v)
	}
}

// section begins a section of n bytes.
func (e *encoder) section(n int) { e.uint64(uint64(n)) }

func (e *encoder) uint32(v uint32) {
	e.buf = binary.LittleEndian.AppendUint32(e.buf, v)
	if len(e.buf) >= encoderBuffer {
		e.flush()
	}
}

func (e *encoder) uint64(v uint64) {
	e.uint32(uint32(v))
	e.uint32(uint32(v >> 32))
}

func (e *encoder) raw(b []byte) {
	e.flush()
	if e.err == nil {
		_, e.err = e.w.Write(b)
	}
}

func (e *encoder) flush() {
	if e.err == nil && len(e.buf) > 0 {
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
}
