package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// inlineText joins the pieces of a paragraph with white space collapsed the
// way a browser does.
type inlineText struct {
	out   strings.Builder
	space bool // a blank is due before the next character
	last  byte // last byte written, 0 for none
	fresh bool // a list mark was the last thing written
}

// write appends text. With verbatim, line breaks and blanks are kept.
func (t *inlineText) write(text string, verbatim bool) {
	if verbatim {
		if text == "" {
			return
		}
		t.flushSpace(text)
		t.put(text)
		return
	}
	for len(text) > 0 {
		n := strings.IndexFunc(text, isBlank)
		if n == 0 {
			_, size := utf8.DecodeRuneInString(text)
			t.space = true
			text = text[size:]
			continue
		}
		if n < 0 {
			n = len(text)
		}
		t.flushSpace(text)
		t.put(text[:n])
		text = text[n:]
	}
}

// isBlank is white space that collapses; a no-break space does not.
func isBlank(r rune) bool { return r != '\u00a0' && unicode.IsSpace(r) }

// flushSpace writes the blank that is due, unless next begins a line.
func (t *inlineText) flushSpace(next string) {
	if t.space && t.last != 0 && t.last != '\n' && t.last != ' ' && next[0] != '\n' {
		t.put(" ")
	}
	t.space = false
}

func (t *inlineText) put(text string) {
	t.out.WriteString(text)
	t.last = text[len(text)-1]
	t.fresh = false
}

// breakLine starts a new line unless one has just begun.
func (t *inlineText) breakLine() {
	t.space = false
	if t.last != 0 && t.last != '\n' && !t.fresh {
		t.put("\n")
	}
}

// mark begins a list item with its mark; the item's text follows on this line.
func (t *inlineText) mark(text string) {
	t.fresh = false
	t.breakLine()
	t.put(text)
	t.fresh = true
}

// glue continues the line with a mark that what follows belongs to.
func (t *inlineText) glue(mark string) {
	t.space = false
	t.put(mark)
	t.fresh = true
}

// take returns the text and starts anew.
func (t *inlineText) take() string {
	text := t.out.String()
	t.out.Reset()
	t.space, t.last, t.fresh = false, 0, false
	return text
}
