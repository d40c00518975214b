package office

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"ragagent/ingest/parse/doc"
)

// Bounds of one XML part.
const (
	maxDepth  = 512
	maxTag    = 1 << 20   // bytes of a tag with its attributes
	textBytes = 64 << 10  // longer texts come in pieces
	bufBytes  = 128 << 10 // read at once
)

// kind says what a token is.
type kind int

const (
	start kind = iota
	end
	text
)

// token is a piece of XML. What it holds is overwritten by the next one.
type token struct {
	kind kind
	name string // of an element, without its prefix
	text []byte // UTF-8 with references resolved
	tag  []byte // of a start: the attributes as they stand
}

// scanner reads XML as a stream of tokens: elements with their local names, and
// text. It is several times faster than encoding/xml, which matters for sheets
// of a hundred megabytes, and holds no more than one tag or piece of text at a
// time. Comments and processing instructions are left out; a document type
// declaration is an error, so that there are no entities to expand. It does not
// ask for more well-formedness than that elements are closed in the order they
// were opened.
type scanner struct {
	in     *bufio.Reader
	open   []string
	names  map[string]string // each name once
	buf    []byte
	closes bool // the tag before was an empty element
}

var errType = fmt.Errorf("%w: its XML has a document type declaration, which documents of this kind do not have", doc.ErrDamaged)

func damaged(what string) error { return fmt.Errorf("%w: %s", doc.ErrDamaged, what) }

func newScanner(r io.Reader) *scanner {
	in := bufio.NewReaderSize(r, bufBytes)
	if mark, err := in.Peek(2); err == nil {
		// Without a mark it is UTF-8: nothing else is written in practice.
		switch {
		case mark[0] == 0xff && mark[1] == 0xfe, mark[0] == 0xfe && mark[1] == 0xff:
			in = bufio.NewReaderSize(transform.NewReader(in, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder()), bufBytes)
		}
	}
	return &scanner{in: in, names: map[string]string{}}
}

// next returns the next token; io.EOF behind the last. Elements that are open
// when the file ends make it io.ErrUnexpectedEOF.
func (s *scanner) next() (token, error) {
	if s.closes {
		s.closes = false
		return s.pop(), nil
	}
	for {
		c, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) && len(s.open) > 0 {
			return token{}, io.ErrUnexpectedEOF
		}
		if err != nil {
			return token{}, err
		}
		if c != '<' {
			_ = s.in.UnreadByte() // one was read
			return s.text()
		}
		t, found, err := s.markup()
		if err != nil || found {
			return t, err
		}
	}
}

func (s *scanner) pop() token {
	name := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	return token{kind: end, name: name}
}

// text reads up to the next tag, or as much as one token holds.
func (s *scanner) text() (token, error) {
	s.buf = s.buf[:0]
	for len(s.buf) < textBytes {
		if c, _ := s.in.Peek(1); len(c) == 0 {
			break // with the text that is there
		}
		part, _ := s.in.Peek(s.in.Buffered())
		if at := bytes.IndexByte(part, '<'); at >= 0 {
			part = part[:at]
		}
		if len(part) == 0 {
			break
		}
		s.buf = append(s.buf, part...)
		_, _ = s.in.Discard(len(part)) // it is in the buffer
	}
	for range 12 { // a reference is not cut in two
		at := bytes.LastIndexByte(s.buf[max(0, len(s.buf)-12):], '&')
		if at < 0 || bytes.IndexByte(s.buf[max(0, len(s.buf)-12)+at:], ';') >= 0 {
			break
		}
		c, _ := s.in.Peek(1)
		if len(c) == 0 || c[0] == '<' {
			break
		}
		s.buf = append(s.buf, c[0])
		_, _ = s.in.Discard(1)
	}
	for range utf8.UTFMax { // nor is a character
		c, _ := s.in.Peek(1)
		if len(c) == 0 || utf8.RuneStart(c[0]) {
			break
		}
		s.buf = append(s.buf, c[0])
		_, _ = s.in.Discard(1)
	}
	return token{kind: text, text: unescape(s.buf)}, nil
}

// markup reads what follows a "<"; not found if it is nothing to tell of.
func (s *scanner) markup() (t token, found bool, err error) {
	c, err := s.in.Peek(1)
	if err != nil {
		return t, false, early(err)
	}
	switch c[0] {
	case '?':
		return t, false, s.skip("?>")
	case '!':
		return s.declaration()
	case '/':
		tag, err := s.tag()
		if err != nil {
			return t, false, err
		}
		name := localName(bytes.TrimSpace(tag[1:]))
		if len(s.open) == 0 || s.open[len(s.open)-1] != string(name) {
			return t, false, damaged("elements of its XML are not closed in order")
		}
		return s.pop(), true, nil
	}
	tag, err := s.tag()
	if err != nil {
		return t, false, err
	}
	if n := len(tag); n > 0 && tag[n-1] == '/' {
		s.closes = true
		tag = tag[:n-1]
	}
	cut := bytes.IndexAny(tag, " \t\r\n")
	if cut < 0 {
		cut = len(tag)
	}
	name := s.name(localName(tag[:cut]))
	if len(s.open) == maxDepth {
		return t, false, damaged("its XML is nested too deeply")
	}
	s.open = append(s.open, name)
	return token{kind: start, name: name, tag: tag[cut:]}, true, nil
}

// early is the error of an end within markup.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func localName(name []byte) []byte {
	return name[bytes.IndexByte(name, ':')+1:]
}

// maxNames bounds the names that are kept once.
const maxNames = 10_000

func (s *scanner) name(raw []byte) string {
	if name, ok := s.names[string(raw)]; ok {
		return name
	}
	name := string(raw)
	if len(s.names) < maxNames {
		s.names[name] = name
	}
	return name
}

// tag reads up to the ">" that ends a tag; those in quotes do not.
func (s *scanner) tag() ([]byte, error) {
	s.buf = s.buf[:0]
	quote := byte(0)
	for {
		part, err := s.in.ReadSlice('>')
		s.buf = append(s.buf, part...)
		if len(s.buf) > maxTag {
			return nil, damaged("its XML has a tag without an end")
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return nil, early(err)
		}
		if quote = openQuote(part, quote); quote == 0 {
			return s.buf[:len(s.buf)-1], nil
		}
	}
}

// openQuote returns the quote that is open behind part, 0 for none.
func openQuote(part []byte, quote byte) byte {
	for len(part) > 0 {
		var at int
		if quote == 0 {
			at = bytes.IndexAny(part, `"'`)
		} else {
			at = bytes.IndexByte(part, quote)
		}
		if at < 0 {
			return quote
		}
		if quote == 0 {
			quote = part[at]
		} else {
			quote = 0
		}
		part = part[at+1:]
	}
	return quote
}

// declaration reads a comment, a CDATA section, or refuses a document type.
func (s *scanner) declaration() (t token, found bool, err error) {
	head, _ := s.in.Peek(8)
	switch {
	case bytes.HasPrefix(head, []byte("!--")):
		_, _ = s.in.Discard(3)
		return t, false, s.skip("-->")
	case bytes.HasPrefix(head, []byte("![CDATA[")):
		_, _ = s.in.Discard(8)
		return s.cdata()
	}
	return t, false, errType
}

// cdata reads a section as one text; what is longer than one token holds is
// dropped, as no document has such.
func (s *scanner) cdata() (t token, found bool, err error) {
	s.buf = s.buf[:0]
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return t, false, early(err)
		}
		if len(s.buf) < maxTag || c == '>' || c == ']' {
			s.buf = append(s.buf, c)
		}
		if c == '>' && bytes.HasSuffix(s.buf, []byte("]]>")) {
			return token{kind: text, text: s.buf[:len(s.buf)-3]}, true, nil
		}
		if len(s.buf) > 2*maxTag {
			return t, false, damaged("its XML has a section without an end")
		}
	}
}

// skip reads on behind the mark.
func (s *scanner) skip(mark string) error {
	last := mark[len(mark)-1]
	var tail []byte
	for {
		part, err := s.in.ReadSlice(last)
		tail = append(tail, part[max(0, len(part)-len(mark)):]...)
		tail = tail[max(0, len(tail)-len(mark)):]
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return early(err)
		case string(tail) == mark:
			return nil
		}
	}
}

// attr returns the value of an attribute by its local name, "" where there is
// none.
func (t token) attr(name string) string {
	value, _ := t.lookup(name)
	return value
}

func (t token) lookup(name string) (string, bool) { return t.find(name, false) }

// reference returns the value of an attribute that has a prefix, as those have
// that name a relation: there may be another of that local name without one.
func (t token) reference(name string) string {
	value, _ := t.find(name, true)
	return value
}

func (t token) find(name string, prefixed bool) (string, bool) {
	rest := t.tag
	for {
		eq := bytes.IndexByte(rest, '=')
		if eq < 0 {
			return "", false
		}
		full := bytes.TrimSpace(rest[:eq])
		key := localName(full)
		rest = bytes.TrimLeft(rest[eq+1:], " \t\r\n")
		if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
			return "", false
		}
		closing := bytes.IndexByte(rest[1:], rest[0])
		if closing < 0 {
			return "", false
		}
		if string(key) == name && (!prefixed || len(key) < len(full)) {
			return string(unescape(bytes.Clone(rest[1 : 1+closing]))), true
		}
		rest = rest[closing+2:]
	}
}

// number returns an attribute as a number, missing where it is none.
func (t token) number(name string, missing int) int {
	n, err := strconv.Atoi(t.attr(name))
	if err != nil {
		return missing
	}
	return n
}

var entities = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}

// unescape resolves references in place; unknown ones stay as they are.
func unescape(raw []byte) []byte {
	at := bytes.IndexByte(raw, '&')
	if at < 0 {
		return raw
	}
	out := raw[:at]
	for raw = raw[at:]; len(raw) > 0; {
		if raw[0] == '&' {
			if stop := bytes.IndexByte(raw[:min(len(raw), 12)], ';'); stop > 0 {
				if c, ok := resolveReference(string(raw[1:stop])); ok {
					out = append(out, c...)
					raw = raw[stop+1:]
					continue
				}
			}
			out = append(out, '&')
			raw = raw[1:]
			continue
		}
		next := bytes.IndexByte(raw, '&')
		if next < 0 {
			next = len(raw)
		}
		out = append(out, raw[:next]...)
		raw = raw[next:]
	}
	return out
}

// resolveReference resolves "amp", "#65" and "#x41". The characters it gives are never
// longer than the reference.
func resolveReference(name string) (string, bool) {
	if c, ok := entities[name]; ok {
		return c, true
	}
	if len(name) < 2 || name[0] != '#' {
		return "", false
	}
	base, digits := 10, name[1:]
	if digits[0] == 'x' || digits[0] == 'X' {
		base, digits = 16, digits[1:]
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n == 0 || n > utf8.MaxRune {
		return "", false
	}
	return string(rune(n)), true
}
