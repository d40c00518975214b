package tabular

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// node is a JSON value. Members of objects keep their order.
type node struct {
	kind    nodeKind
	text    string // of a string; a number as it is written; true, false
	names   []string
	members []*node // values of an object, elements of an array
}

type nodeKind byte

const (
	nullNode nodeKind = iota
	textNode
	numberNode
	boolNode
	arrayNode
	objectNode
)

// maxDepth bounds the nesting of values.
const maxDepth = 200

var (
	errSyntax = errors.New("not JSON")
	errLarge  = errors.New("the value is too large to be held")
)

// scanner reads JSON values, with the liberties that people and programs take:
// comments, commas too many, NaN.
type scanner struct {
	*source
	limit int64 // offset that the value being read must not pass; 0 for none
}

func (s *scanner) syntax(what string) error {
	return fmt.Errorf("%w: %s at byte %d", errSyntax, what, s.offset())
}

// space goes to the next byte that is no white space, comment or record mark.
func (s *scanner) space() (byte, bool) {
	for {
		c, ok := s.peek()
		switch {
		case !ok:
			return 0, false
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0x1e:
			s.at++
		case c == '/':
			if !s.comment() {
				return c, true
			}
		default:
			return c, true
		}
	}
}

// comment skips a comment; false if there is none.
func (s *scanner) comment() bool {
	begin := s.offset()
	s.at++
	switch c, _ := s.next(); c {
	case '/':
		s.skipLine()
		return true
	case '*':
		for star := false; ; {
			c, ok := s.next()
			if !ok || star && c == '/' {
				return true
			}
			star = c == '*'
		}
	}
	s.seek(begin)
	return false
}

// value reads one value. errSyntax if it is none, errLarge if it passes the
// limit.
func (s *scanner) value(depth int) (*node, error) {
	c, ok := s.space()
	switch {
	case !ok:
		return nil, s.syntax("the file ends")
	case depth > maxDepth:
		return nil, s.syntax("values are nested too deeply")
	case s.limit > 0 && s.offset() > s.limit:
		return nil, errLarge
	}
	switch c {
	case '{':
		s.at++
		return s.object(depth)
	case '[':
		s.at++
		return s.array(depth)
	case '"':
		text, err := s.string()
		return &node{kind: textNode, text: text}, err
	default:
		return s.word()
	}
}

func (s *scanner) object(depth int) (*node, error) {
	n := &node{kind: objectNode}
	for {
		name, more, err := s.name()
		if err != nil || !more {
			return n, err
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.names = append(n.names, name)
		n.members = append(n.members, v)
	}
}

// name reads the name of an object's next member and the colon behind it; more
// is false behind the last.
func (s *scanner) name() (name string, more bool, err error) {
	for {
		switch c, ok := s.space(); {
		case !ok:
			return "", false, s.syntax("the file ends within an object")
		case c == ',':
			s.at++
		case c == '}':
			s.at++
			return "", false, nil
		case c == '"':
			if name, err = s.string(); err != nil {
				return "", false, err
			}
			if c, _ := s.space(); c != ':' {
				return "", false, s.syntax("a name without a value")
			}
			s.at++
			return name, true, nil
		default:
			return "", false, s.syntax("no name")
		}
	}
}

func (s *scanner) array(depth int) (*node, error) {
	n := &node{kind: arrayNode}
	for {
		more, err := s.another()
		if err != nil || !more {
			return n, err
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, v)
	}
}

// another goes to the next element of an array; more is false behind the last.
func (s *scanner) another() (more bool, err error) {
	for {
		switch c, ok := s.space(); {
		case !ok:
			return false, s.syntax("the file ends within an array")
		case c == ',':
			s.at++
		case c == ']':
			s.at++
			return false, nil
		default:
			return true, nil
		}
	}
}

// word reads a number or one of the literals, as it is written.
func (s *scanner) word() (*node, error) {
	var word []byte
	for len(word) <= 1000 {
		c, ok := s.peek()
		if !ok || strings.IndexByte(" \t\r\n,:]}[{\"/\x1e", c) >= 0 {
			break
		}
		word = append(word, c)
		s.at++
	}
	text := string(word)
	switch text {
	case "null", "NaN", "None", "undefined":
		return &node{}, nil
	case "true", "false", "True", "False":
		return &node{kind: boolNode, text: strings.ToLower(text)}, nil
	case "Infinity", "-Infinity":
		return &node{kind: numberNode, text: text}, nil
	}
	if !numberLike(text) {
		return nil, s.syntax("no value")
	}
	return &node{kind: numberNode, text: text}, nil
}

func numberLike(text string) bool {
	digits := strings.TrimLeft(text, "+-.")
	return digits != "" && digits[0] >= '0' && digits[0] <= '9' && strings.Trim(digits, "0123456789+-.xXabcdefABCDEF") == ""
}

// string reads a string in quotes. A line end within it is an error: where one
// is missing, the rest of the file must not be taken for a string.
func (s *scanner) string() (string, error) {
	s.at++
	var out []byte
	for {
		c, ok := s.next()
		switch {
		case !ok, c == '\n':
			return "", s.syntax("a string is not closed")
		case s.limit > 0 && s.offset() > s.limit:
			return "", errLarge
		case c == '"':
			return string(out), nil
		case c == '\\':
			out = s.escape(out)
		default:
			out = append(out, c)
		}
	}
}

func (s *scanner) escape(out []byte) []byte {
	c, _ := s.next()
	switch c {
	case 'n':
		return append(out, '\n')
	case 't':
		return append(out, '\t')
	case 'r':
		return append(out, '\r')
	case 'b', 'f', 0:
		return append(out, ' ')
	case 'u':
		return s.unicode(out)
	}
	return append(out, c)
}

// unicode reads the digits of \u, and the second half of a pair.
func (s *scanner) unicode(out []byte) []byte {
	r := s.hex()
	if utf16.IsSurrogate(r) {
		begin := s.offset()
		if a, _ := s.next(); a == '\\' {
			if b, _ := s.next(); b == 'u' {
				if pair := utf16.DecodeRune(r, s.hex()); pair != utf8.RuneError {
					return utf8.AppendRune(out, pair)
				}
			}
		}
		s.seek(begin)
	}
	return utf8.AppendRune(out, r)
}

func (s *scanner) hex() rune {
	r := rune(0)
	for range 4 {
		c, ok := s.peek()
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if !ok || digit < 0 || c < '0' {
			return utf8.RuneError
		}
		r = r<<4 | rune(digit)
		s.at++
	}
	return r
}
