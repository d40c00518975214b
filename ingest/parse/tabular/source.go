// Package tabular reads records: CSV and its relatives, JSON, and JSON Lines.
// It streams: what it holds of a file is one record and a buffer.
package tabular

import (
	"errors"
	"io"
)

// bufferBytes is how much of a file is read at once.
const bufferBytes = 64 << 10

// source reads a file byte by byte and can go back to any place in it.
type source struct {
	r   io.ReaderAt
	end int64 // size of the file

	buf   []byte
	start int64 // offset in the file of buf[0]
	at    int   // next byte in buf
	err   error // other than the end of the file
}

// newSource begins behind a byte order mark.
func newSource(r io.ReaderAt, size int64) *source {
	s := &source{r: r, end: size, buf: make([]byte, 0, max(0, min(size, bufferBytes)))}
	s.fill()
	if len(s.buf) >= 3 && string(s.buf[:3]) == "\xef\xbb\xbf" {
		s.at = 3
	}
	return s
}

// peek returns the next byte; false at the end of the file.
func (s *source) peek() (byte, bool) {
	if s.at == len(s.buf) && !s.fill() {
		return 0, false
	}
	return s.buf[s.at], true
}

// next takes a byte; false at the end of the file.
func (s *source) next() (byte, bool) {
	c, ok := s.peek()
	if ok {
		s.at++
	}
	return c, ok
}

func (s *source) fill() bool {
	if s.err != nil {
		return false
	}
	s.start += int64(len(s.buf))
	s.at = 0
	room := min(int64(cap(s.buf)), s.end-s.start)
	s.buf = s.buf[:max(room, 0)]
	if len(s.buf) == 0 {
		return false
	}
	n, err := s.r.ReadAt(s.buf, s.start)
	s.buf = s.buf[:n]
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n > 0
}

// offset is where in the file the next byte is.
func (s *source) offset() int64 { return s.start + int64(s.at) }

// seek makes the byte at an offset the next one.
func (s *source) seek(offset int64) {
	if i := offset - s.start; i >= 0 && i <= int64(len(s.buf)) {
		s.at = int(i)
		return
	}
	s.start, s.buf, s.at = offset, s.buf[:0], 0
}

// skipLine goes behind the next line end.
func (s *source) skipLine() {
	for {
		if c, ok := s.next(); !ok || c == '\n' {
			return
		}
	}
}
