package attributes

import (
	"slices"
	"unsafe"
)

// values are the values of one type that documents have in one field.
type values[T comparable] struct {
	codes    map[T]uint32
	distinct []T      // by code
	counts   []uint32 // by code: pairs that have it
	// A pair for each value of each document, by document.
	docs   []uint32
	code   []uint32 // of the value
	unused int      // distinct values whose count is 0
	held   int64    // bytes that the distinct values point to, about
}

// add gives a document one more value, which points to so many bytes.
func (v *values[T]) add(doc uint32, value T, bytes int) {
	code, known := v.codes[value]
	switch {
	case !known:
		if v.codes == nil {
			v.codes = make(map[T]uint32)
		}
		code = uint32(len(v.distinct))
		v.codes[value] = code
		v.distinct = append(v.distinct, value)
		v.counts = append(v.counts, 0)
		v.held += int64(bytes)
	case v.counts[code] == 0:
		v.unused--
	}
	v.counts[code]++
	if n := len(v.docs); n == 0 || v.docs[n-1] <= doc {
		v.docs, v.code = append(v.docs, doc), append(v.code, code)
		return
	}
	_, to := v.span(doc)
	v.docs, v.code = slices.Insert(v.docs, to, doc), slices.Insert(v.code, to, code)
}

// span returns where the pairs of a document are.
func (v *values[T]) span(doc uint32) (from, to int) {
	from, _ = slices.BinarySearch(v.docs, doc)
	for to = from; to < len(v.docs) && v.docs[to] == doc; to++ {
	}
	return from, to
}

// remove takes all values from a document.
func (v *values[T]) remove(doc uint32) {
	from, to := v.span(doc)
	if from == to {
		return
	}
	for _, code := range v.code[from:to] {
		if v.counts[code]--; v.counts[code] == 0 {
			v.unused++
		}
	}
	v.docs, v.code = slices.Delete(v.docs, from, to), slices.Delete(v.code, from, to)
	if v.unused > len(v.distinct)/2+minUnused {
		v.tidy()
	}
}

// minUnused is how many values that no document has are not worth tidying.
const minUnused = 64

// tidy forgets the values that no document has.
func (v *values[T]) tidy() {
	fresh := make([]uint32, len(v.distinct))
	codes := make(map[T]uint32, len(v.distinct)-v.unused)
	var distinct []T
	var counts []uint32
	for code, value := range v.distinct {
		if v.counts[code] > 0 {
			fresh[code] = uint32(len(distinct))
			codes[value] = fresh[code]
			distinct, counts = append(distinct, value), append(counts, v.counts[code])
		}
	}
	for i, code := range v.code {
		v.code[i] = fresh[code]
	}
	v.held = v.held * int64(len(distinct)) / int64(len(v.distinct))
	v.codes, v.distinct, v.counts, v.unused = codes, distinct, counts, 0
}

// renumber gives documents other numbers, which ascend as the old ones do.
func (v *values[T]) renumber(number []uint32) {
	for i, doc := range v.docs {
		v.docs[i] = number[doc]
	}
}

// markAll marks the documents that have a value.
func (v *values[T]) markAll(set Bits) {
	for _, doc := range v.docs {
		set.set(doc)
	}
}

// mark marks the documents that have a value that is accepted.
func (v *values[T]) mark(set Bits, accept func(T) bool) {
	accepted, any := newBits(len(v.distinct)), false
	for code, value := range v.distinct {
		if v.counts[code] > 0 && accept(value) {
			accepted.set(uint32(code))
			any = true
		}
	}
	if any {
		v.markCodes(set, accepted)
	}
}

// markEqual marks the documents that have one of some values.
func (v *values[T]) markEqual(set Bits, wanted []T) {
	accepted, any := newBits(len(v.distinct)), false
	for _, value := range wanted {
		if code, ok := v.codes[value]; ok && v.counts[code] > 0 {
			accepted.set(code)
			any = true
		}
	}
	if any {
		v.markCodes(set, accepted)
	}
}

func (v *values[T]) markCodes(set, accepted Bits) {
	for i, code := range v.code {
		doc := v.docs[i]
		set[doc>>6] |= accepted[code>>6] >> (code & 63) & 1 << (doc & 63)
	}
}

// bytes is about the memory that the values take.
func (v *values[T]) bytes() int64 {
	var value T
	size := int64(unsafe.Sizeof(value))
	// An entry of a map takes its key, its value and a control byte, at 7/8 load
	// at most and about 5/8 on average.
	return v.held + 8*int64(cap(v.docs)) + (size+4)*int64(cap(v.distinct)) + (size+5)*int64(len(v.codes))*8/5
}
