package chromem

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"ragagent/store"
)

// A row's place is its slot: the number of its segment and its row in there.
type slot uint32

const (
	slotBits    = 10
	maxRows     = 1 << slotBits // rows of a segment at most
	minRows     = 16            // a small knowledge base takes little memory
	maxSegments = 1 << (32 - slotBits)
)

func slotOf(segment, row int) slot { return slot(segment<<slotBits | row) }

func (at slot) segment() int { return int(at >> slotBits) }
func (at slot) row() int     { return int(at & (maxRows - 1)) }

// segment is a block of rows that never moves, so chromem-go's documents and
// running searches may hold on to it. A row is written once, before the first
// snapshot that shows it.
type segment struct {
	dim, stride int
	ids         []string
	vectors     []float32 // dim a row, L2 norm 1 within unitTolerance
	codes       []int8    // stride a row, zero after dim
	scales      []float32 // vector ≈ scale · code
	errors      []float32 // at least |vector - scale · code|
}

// newSegment makes an empty segment, rows of 1..maxRows.
func newSegment(rows, dim int) *segment {
	stride := strideOf(dim)
	s := &segment{
		dim: dim, stride: stride,
		ids:     make([]string, rows),
		vectors: make([]float32, rows*dim),
		codes:   make([]int8, rows*stride),
		scales:  make([]float32, rows),
		errors:  make([]float32, rows),
	}
	if rows == maxRows {
		largePages(s.vectors)
		largePages(s.codes)
	}
	return s
}

// documentBytes is what a row takes outside of its segment, as measured: a
// document of chromem-go's, its place in a map, and that in the table of ids.
const documentBytes = 150

// segmentBytes is the memory of a segment and of what belongs to its rows,
// without the bytes of the ids, and with the sketch that it may get.
func segmentBytes(rows, dim int) int64 {
	const perRow = int(unsafe.Sizeof("")) + 4 + 4 + documentBytes
	n := int64(rows) * int64(4*dim+strideOf(dim)+perRow)
	if rows == maxRows && dim >= minSketchDim {
		n += sketchBytes(dim)
	}
	return n
}

func (s *segment) rows() int { return len(s.ids) }

// vector returns a row's exact vector. Its capacity ends with it: an append to
// an alias cannot reach the next row.
func (s *segment) vector(row int) []float32 {
	return s.vectors[row*s.dim : (row+1)*s.dim : (row+1)*s.dim]
}

// set writes a row.
func (s *segment) set(row int, id string, vector []float32) {
	s.put(row, id, vector)
	s.encode(row)
}

// put writes a row without its codes.
func (s *segment) put(row int, id string, vector []float32) {
	s.ids[row] = id
	copy(s.vector(row), vector)
}

// encode writes the codes of a row.
func (s *segment) encode(row int) {
	s.scales[row], s.errors[row] = quantise(s.codes[row*s.stride:][:s.dim], s.vector(row))
}

// budget counts the memory of all segments of an Index.
type budget struct {
	max  int64
	used atomic.Int64
}

// take reserves n bytes, or returns store.ErrTooLarge.
func (b *budget) take(n int64) error {
	if used := b.used.Add(n); used > b.max {
		b.used.Add(-n)
		return fmt.Errorf("%d bytes for vectors, the limit is %d: %w", used, b.max, store.ErrTooLarge)
	}
	return nil
}

func (b *budget) give(n int64) { b.used.Add(-n) }
