package parse

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"ragagent/store"
)

// body collects blocks and writes the one normalised text they lie in.
type body struct {
	out       strings.Builder
	blocks    []Block
	maxBytes  int
	maxBlocks int
	err       error // the first limit that was passed; later blocks are dropped

	// handOn, if set, takes what was collected whenever it is much; the body
	// starts anew behind it.
	handOn  func(b *body) error
	handed  int // bytes that were handed on
	earlier int // blocks that were
}

// between separates blocks in the body.
const between = "\n\n"

// add appends a block. Text that is blank after normalisation is left out.
func (b *body) add(kind Kind, level, page int, text string) {
	if b.err != nil {
		return
	}
	text = normalise(text)
	if text == "" {
		return
	}
	start := b.out.Len()
	if start > 0 {
		start += len(between)
	}
	switch {
	case b.earlier+len(b.blocks) >= b.maxBlocks:
		b.err = fmt.Errorf("%w: more than %d blocks of text", ErrLimit, b.maxBlocks)
		return
	case b.handed+start+len(text) > b.maxBytes:
		b.err = fmt.Errorf("%w: more than %d MB of text", ErrLimit, b.maxBytes>>20)
		return
	}
	b.reserve(len(between) + len(text))
	if b.out.Len() > 0 {
		b.out.WriteString(between)
	}
	b.out.WriteString(text)
	if n := len(b.blocks); n == cap(b.blocks) && n >= manyBlocks {
		b.blocks = slices.Grow(b.blocks, n) // append's steps of a quarter leave four times of them behind
	}
	b.blocks = append(b.blocks, Block{
		Kind: kind, Level: level, Page: page,
		Span: store.Span{Start: start, End: start + len(text)},
	})
	if b.handOn != nil && (b.out.Len() >= batchBytes || len(b.blocks) >= batchBlocks) {
		b.flush()
	}
}

// longText is from where a text is long, in bytes.
const longText = 64 << 20

// expect makes room for about n bytes, before the first block: what grows step
// by step leaves as much behind, which nobody collects once the text is long.
func (b *body) expect(n int) {
	if n > longText {
		n = b.maxBytes
	}
	b.out.Grow(n)
}

// reserve makes room for n bytes more. A long text gets the room for the longest
// there may be: it is not touched before it is needed, whereas a text that grows
// step by step is there twice at each.
func (b *body) reserve(n int) {
	if need := b.out.Len() + n; need > longText && need > b.out.Cap() {
		b.out.Grow(b.maxBytes - b.out.Len())
	}
}

// manyBlocks is from how many blocks on room is made for as many again.
const manyBlocks = 1 << 14

// flush hands on what was collected.
func (b *body) flush() {
	if b.handOn == nil || b.err != nil || len(b.blocks) == 0 {
		return
	}
	b.err = b.handOn(b)
	b.handed += b.out.Len() + len(between)
	b.earlier += len(b.blocks)
	b.out.Reset()
	b.blocks = b.blocks[:0]
}

// normalise gives text the form that Text.Body promises: UTF-8, NFC, LF line
// ends, no control characters but tab and LF, no blanks at line ends, and
// neither blank lines around it nor more than one in a row inside. It is
// idempotent, and copies nothing that has this form.
func normalise(text string) string {
	text = norm.NFC.String(clean(text))
	if tidy(text) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	empty := 0
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if line == "" {
			empty++
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
			if empty > 0 {
				out.WriteByte('\n')
			}
		}
		empty = 0
		out.WriteString(line)
	}
	return strings.TrimLeftFunc(out.String(), unicode.IsSpace)
}

// tidy says that no line of text ends with a blank, none is blank but for
// single ones inside, and the first begins with none.
func tidy(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	if unicode.IsSpace(first) {
		return false
	}
	for rest := text; rest != ""; {
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		last, _ := utf8.DecodeLastRuneInString(rest[:end])
		if end > 0 && unicode.IsSpace(last) || strings.HasPrefix(rest[end:], "\n\n\n") {
			return false
		}
		rest = rest[end:]
		if rest == "\n" || rest == "\n\n" {
			return false
		}
		rest = strings.TrimPrefix(rest, "\n")
	}
	return true
}

// clean maps line ends and blanks to the plain ones and drops characters that
// are not text: controls, byte order marks, soft hyphens, and the directional
// overrides that make a reader see another text than the one searched.
func clean(text string) string {
	n := cleanPrefix(text)
	if n == len(text) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	out.WriteString(text[:n])
	for i := n; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch {
		case r == '\r':
			if i < len(text) && text[i] == '\n' {
				continue
			}
			out.WriteByte('\n')
		case r == '\f' || r == '\v' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			out.WriteByte('\n')
		case r == '\u00a0' || r == '\u2007' || r == '\u202f':
			out.WriteByte(' ')
		case r == '\t' || r == '\n' || r == ' ':
			out.WriteRune(r)
		case unicode.IsControl(r), invisible(r):
		default:
			out.WriteRune(r) // a broken byte comes as U+FFFD
		}
	}
	return out.String()
}

func invisible(r rune) bool {
	switch {
	case r == '\ufeff', r == '\u00ad', r == '\u200b', r == '\u2060':
		return true
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tag characters
		return true
	}
	return false
}

// cleanPrefix returns how many bytes of text clean leaves as they are.
func cleanPrefix(text string) int {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1, unicode.IsControl(r), invisible(r),
			r == '\u2028', r == '\u2029', r == '\u00a0', r == '\u2007', r == '\u202f':
			return i
		}
		i += n
	}
	return len(text)
}
