package parse

import (
	"bytes"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// inline returns the text of the inline content of a block: lines joined as
// one, hard breaks kept.
func (w *markdownWriter) inline(block ast.Node) string {
	if block.Type() == ast.TypeBlock && block.FirstChild() == nil {
		return w.lines(block)
	}
	var out inlineText
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			return w.inlineNode(&out, n), nil
		}
		return ast.WalkContinue, nil
	})
	return out.take()
}

func (w *markdownWriter) inlineNode(out *inlineText, n ast.Node) ast.WalkStatus {
	switch n := n.(type) {
	case *ast.Text:
		out.write(unescape(n, w.source), false)
		switch {
		case n.HardLineBreak():
			out.breakLine()
		case n.SoftLineBreak():
			w.softBreak(out, n)
		}
	case *ast.String:
		out.write(string(n.Value), false)
	case *ast.CodeSpan:
		out.write(codeSpan(n, w.source), true)
		return ast.WalkSkipChildren
	case *ast.AutoLink:
		out.write(string(n.Label(w.source)), false)
	case *ast.RawHTML:
		if isLineBreak(n.Segments.Value(w.source)) {
			out.breakLine()
		}
	case *east.FootnoteLink:
		out.write(footnoteMark(n.Index), false)
	case *east.FootnoteBacklink:
	case *east.TaskCheckBox:
		if n.IsChecked {
			out.write("[x] ", false)
		} else {
			out.write("[ ] ", false)
		}
	}
	return ast.WalkContinue
}

// softBreak joins two source lines: by a blank, or by nothing where both sides
// are of a script that writes no blanks.
func (w *markdownWriter) softBreak(out *inlineText, n *ast.Text) {
	before, _ := utf8.DecodeLastRune(n.Segment.Value(w.source))
	after := rune(0)
	if next, ok := n.NextSibling().(*ast.Text); ok {
		after, _ = utf8.DecodeRune(next.Segment.Value(w.source))
	}
	if !unspaced(before) || !unspaced(after) {
		out.write(" ", false)
	}
}

// unspaced says that r is of a script written without blanks between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff60
}

// unescape resolves backslashes and character references, which goldmark
// leaves to the renderer.
func unescape(n *ast.Text, source []byte) string {
	value := n.Segment.Value(source)
	if n.IsRaw() || !bytes.ContainsAny(value, `\&`) {
		return string(value)
	}
	return resolve(string(value))
}

// resolve replaces backslash escapes and character references. What follows a
// backslash stays as it is: "\&amp;" is "&amp;".
func resolve(value string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(value, '\\')
		if i < 0 || i+1 == len(value) {
			out.WriteString(html.UnescapeString(value))
			return out.String()
		}
		out.WriteString(html.UnescapeString(value[:i]))
		if !isPunctuation(value[i+1]) {
			out.WriteByte('\\')
		}
		out.WriteByte(value[i+1])
		value = value[i+2:]
	}
}

func isPunctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

func footnoteMark(index int) string { return "[^" + strconv.Itoa(index) + "]" }

func codeSpan(n *ast.CodeSpan, source []byte) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			out.Write(t.Segment.Value(source))
		}
	}
	return strings.ReplaceAll(out.String(), "\n", " ")
}

func isLineBreak(tag []byte) bool {
	tag = bytes.ToLower(tag)
	return bytes.HasPrefix(tag, []byte("<br")) && len(tag) > 3 && (tag[3] == '>' || tag[3] == '/' || tag[3] == ' ')
}
