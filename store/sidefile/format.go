package sidefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"ragagent/store"
)

// The layout, all numbers little-endian:
//
//	magic, 8 bytes
//	kind, key, stamp: each 2 bytes of length and the bytes
//	body
//	CRC-32C of each block of the body, 4 bytes each
//	length of the body, 8 bytes
//	CRC-32C of all of that but the body, 4 bytes
//	magic, 8 bytes
//
// The header can be read before the body is known and the table only after it,
// so the file is written in one go. Nothing stands in the body but the body: it
// is read into one piece of memory, which an index may use as it is.
const (
	beginMagic = "RAGSIDE1"
	endMagic   = "1EDISGAR"
	block      = 1 << 20 // bytes under one checksum
	tailSize   = 8 + 4 + len(endMagic)
	maxStamp   = 1 << 10
	maxHeader  = len(beginMagic) + 3*2 + 32 + 128 + maxStamp
)

// CRC-32C is computed by the processor, at several GB/s.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func header(n Name, stamp string) ([]byte, error) {
	if len(stamp) > maxStamp {
		return nil, store.Invalid("stamp", "has %d bytes, at most %d are allowed", len(stamp), maxStamp)
	}
	head := []byte(beginMagic)
	for _, s := range []string{n.Kind, n.Key, stamp} {
		head = binary.LittleEndian.AppendUint16(head, uint16(len(s)))
		head = append(head, s...)
	}
	return head, nil
}

// parseHeader reads a header from the beginning of a file.
func parseHeader(raw []byte) (n Name, stamp string, size int, err error) {
	if len(raw) < len(beginMagic) || string(raw[:len(beginMagic)]) != beginMagic {
		return n, "", 0, damaged("it does not begin as a side file")
	}
	size = len(beginMagic)
	for _, field := range []*string{&n.Kind, &n.Key, &stamp} {
		if size+2 > len(raw) {
			return n, "", 0, damaged("its header is cut")
		}
		length := int(binary.LittleEndian.Uint16(raw[size:]))
		size += 2
		if size+length > len(raw) {
			return n, "", 0, damaged("its header is cut")
		}
		*field = string(raw[size : size+length])
		size += length
	}
	return n, stamp, size, nil
}

// trailer is what stands behind the body.
func trailer(head []byte, sums []uint32, written int64) []byte {
	tail := make([]byte, 0, 4*len(sums)+tailSize)
	for _, s := range sums {
		tail = binary.LittleEndian.AppendUint32(tail, s)
	}
	tail = binary.LittleEndian.AppendUint64(tail, uint64(written))
	tail = binary.LittleEndian.AppendUint32(tail, sumOf(head, tail))
	return append(tail, endMagic...)
}

// sumOf is the checksum of a header and a trailer up to there.
func sumOf(head, tail []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, tail)
}

// blocks is how many blocks a body has.
func blocks(body int64) int64 { return (body + block - 1) / block }

// blockWriter passes the body on block by block and sums each.
type blockWriter struct {
	ctx     context.Context
	to      io.Writer
	max     int64
	room    func() error // asked before each block
	pending []byte       // less than a block
	sums    []uint32
	written int64
}

// Write implements io.Writer.
func (w *blockWriter) Write(p []byte) (n int, err error) {
	if w.pending == nil {
		w.pending = make([]byte, 0, block)
	}
	for len(p) > 0 {
		take := min(len(p), block-len(w.pending))
		w.pending = append(w.pending, p[:take]...)
		p = p[take:]
		n += take
		if len(w.pending) == block {
			if err := w.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// flush writes the pending block. Only the last one may be short.
func (w *blockWriter) flush() error {
	if len(w.pending) == 0 {
		return nil
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if err := w.room(); err != nil {
		return err
	}
	if w.written += int64(len(w.pending)); w.written > w.max {
		return fmt.Errorf("%w: a side file has at most %d bytes", store.ErrTooLarge, w.max)
	}
	w.sums = append(w.sums, crc32.Checksum(w.pending, castagnoli))
	_, err := w.to.Write(w.pending)
	w.pending = w.pending[:0]
	return err
}

func damaged(what string) error { return fmt.Errorf("%w: %w", store.ErrDamaged, errors.New(what)) }
