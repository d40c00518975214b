package parse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Sizes of what a long text is read in, in bytes.
const (
	pieceBytes = 1 << 20
	joinedPart = 8 << 10
)

// readStream reads a long text of UTF-8 piece by piece, each as readCode or
// readPlain would. A piece ends at a blank line, or where there is none in a
// megabyte, at a line's end.
func readStream(b *body, in io.Reader, code bool) error {
	buf := make([]byte, 0, 2*pieceBytes)
	for ended := false; !ended && b.err == nil; {
		n, err := io.ReadFull(in, buf[len(buf):len(buf)+pieceBytes])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			ended = true
		case err != nil:
			return err
		}
		end := len(buf)
		if !ended {
			end = pieceEnd(buf)
		}
		readPiece(b, strings.ToValidUTF8(string(buf[:end]), "\uFFFD"), code)
		buf = append(buf[:0], buf[end:]...)
	}
	return nil
}

// readPiece reads a piece. When so many blocks have come that the rest might not
// find room, paragraphs are not told apart any more.
func readPiece(b *body, text string, code bool) {
	switch {
	case 2*(b.earlier+len(b.blocks)) > b.maxBlocks:
		kind := Paragraph
		if code {
			kind = Code
		}
		for rest := text; rest != ""; {
			part := rest[:min(len(rest), joinedPart)]
			if len(part) < len(rest) {
				part = rest[:pieceEnd([]byte(part))]
			}
			b.add(kind, 0, 0, part)
			rest = rest[len(part):]
		}
	case code:
		readCode(b, text)
	default:
		readPlain(b, text)
	}
}

// pieceEnd returns where to cut: behind the last blank line, else behind the
// last line, blank or character, if that leaves at least half.
func pieceEnd(buf []byte) int {
	half := len(buf) / 2
	for _, mark := range []string{"\n\n", "\n\r\n", "\n", " "} {
		if at := bytes.LastIndex(buf[half:], []byte(mark)); at >= 0 {
			return half + at + len(mark)
		}
	}
	end := len(buf)
	for end > half && !utf8.RuneStart(buf[end-1]) {
		end--
	}
	if end > half+1 {
		return end - 1 // the character that begins there may not be whole
	}
	return len(buf)
}
