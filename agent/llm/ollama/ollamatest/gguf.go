package ollamatest

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// gguf is a model file, format version 3: metadata and float32 tensors.
// See https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
type gguf struct {
	meta    []metadata
	tensors []tensor
}

// metadata values are uint32, float32, bool, string, []string or []int32.
type metadata struct {
	key   string
	value any
}

// tensor has columns as its fastest dimension; rows of 0 make a vector.
type tensor struct {
	name          string
	columns, rows int
	data          []float32
}

func (g *gguf) set(key string, value any) { g.meta = append(g.meta, metadata{key, value}) }

func (g *gguf) add(name string, columns, rows int, data []float32) {
	g.tensors = append(g.tensors, tensor{name, columns, rows, data})
}

// Type numbers of the format.
const (
	ggufUint32  uint32 = 4
	ggufInt32   uint32 = 5
	ggufFloat32 uint32 = 6
	ggufBool    uint32 = 7
	ggufString  uint32 = 8
	ggufArray   uint32 = 9
	tensorF32   uint32 = 0
	alignment          = 32
)

// encoder writes little-endian values to memory, which cannot fail.
type encoder struct{ bytes.Buffer }

func (e *encoder) put(values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			e.put(uint64(len(s)))
			e.WriteString(s)
			continue
		}
		if err := binary.Write(e, binary.LittleEndian, v); err != nil {
			panic(fmt.Sprintf("gguf: %T cannot be written: %v", v, err))
		}
	}
}

func (e *encoder) align() {
	for e.Len()%alignment != 0 {
		e.WriteByte(0)
	}
}

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case uint32:
		e.put(ggufUint32, v)
	case float32:
		e.put(ggufFloat32, v)
	case bool:
		e.put(ggufBool, v)
	case string:
		e.put(ggufString, v)
	case []int32:
		e.put(ggufArray, ggufInt32, uint64(len(v)), v)
	case []string:
		e.put(ggufArray, ggufString, uint64(len(v)))
		for _, s := range v {
			e.put(s)
		}
	default:
		panic(fmt.Sprintf("gguf: no type for %T", v))
	}
}

// encode returns the file.
func (g *gguf) encode() []byte {
	var e encoder
	e.WriteString("GGUF")
	e.put(uint32(3), uint64(len(g.tensors)), uint64(len(g.meta)))
	for _, m := range g.meta {
		e.put(m.key)
		e.value(m.value)
	}
	offset := uint64(0)
	for _, t := range g.tensors {
		e.put(t.name)
		if t.rows == 0 {
			e.put(uint32(1), uint64(t.columns))
		} else {
			e.put(uint32(2), uint64(t.columns), uint64(t.rows))
		}
		e.put(tensorF32, offset)
		offset += (uint64(len(t.data))*4 + alignment - 1) / alignment * alignment
	}
	e.align()
	for _, t := range g.tensors {
		e.put(t.data)
		e.align()
	}
	return e.Bytes()
}
