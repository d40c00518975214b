package mail

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
)

// section is a part of a file.
type section struct {
	r          io.ReaderAt
	start, end int64
}

func (s section) size() int64 { return s.end - s.start }

// from is what of a section begins at an offset of the file.
func (s section) from(offset int64) section {
	return section{s.r, min(offset, s.end), s.end}
}

// bytes reads a section, of which at most limit bytes.
func (s section) bytes(limit int64) ([]byte, error) {
	data := make([]byte, max(0, min(s.size(), limit)))
	n, err := s.r.ReadAt(data, s.start)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], nil
}

// maxLine is how much of a line is looked at.
const maxLine = 64 << 10

// lines hands over the lines of a section with the offset each begins at, until
// do says that it is enough. Of a line, at most maxLine bytes are handed over;
// its line end is not.
func (s section) lines(do func(line []byte, offset int64) bool) error {
	in := bufio.NewReaderSize(io.NewSectionReader(s.r, s.start, s.size()), maxLine)
	offset, whole := s.start, true
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 && whole && !do(bytes.TrimRight(line, "\r\n"), offset) {
			return nil
		}
		offset += int64(len(line))
		// The rest of a long line is no line.
		whole = !errors.Is(err, bufio.ErrBufferFull)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && whole:
			return err
		}
	}
}

// envelope matches the line before each message of an mbox file: who sent it,
// and when it came.
var envelope = regexp.MustCompile(`^From \S.*[0-9]{2}:[0-9]{2}.*[0-9]{4}|^From (MAILER-DAEMON|-|\?\?\?@\?\?\?) `)

func isMbox(file section) bool {
	head, err := file.bytes(1024)
	return err == nil && envelope.Match(head)
}

// eachMessage hands over the messages of an mbox file, each without its
// envelope, until do says that it is enough.
func eachMessage(file section, do func(section) bool) error {
	begin := int64(-1)
	blank, more := true, true
	err := file.lines(func(line []byte, offset int64) bool {
		if blank && envelope.Match(line) {
			if begin >= 0 {
				more = do(section{file.r, begin, offset})
			}
			begin = offset
		}
		blank = len(line) == 0
		return more
	})
	if err == nil && more && begin >= 0 {
		do(file.from(begin))
	}
	return err
}
