package rtf

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// tokenKind tells the four things an RTF file is made of apart.
type tokenKind byte

const (
	opening tokenKind = iota // {
	closing                  // }
	word                     // a control word or symbol
	text                     // one byte of text
	binary                   // data of the length in number, which follows
)

// token is one of them. escaped says that a byte of text is written as \'xx.
type token struct {
	kind    tokenKind
	word    string
	number  int
	has     bool // the word has a number
	char    byte
	escaped bool
}

type lexer struct{ in *bufio.Reader }

// begins says that the file begins with "{\rtf", white space aside.
func (l *lexer) begins() bool {
	const space = " \t\r\n\x00"
	for range 1024 {
		head, _ := l.in.Peek(5)
		if len(head) < 5 {
			return false
		}
		if strings.EqualFold(string(head), `{\rtf`) {
			return true
		}
		if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
			_, _ = l.in.Discard(3)
			continue
		}
		if strings.IndexByte(space, head[0]) < 0 {
			return false
		}
		_, _ = l.in.Discard(1)
	}
	return false
}

// next returns the next token, or an error of the file; line ends are none.
func (l *lexer) next() (token, error) {
	for {
		c, err := l.in.ReadByte()
		if err != nil {
			return token{}, err
		}
		switch c {
		case '{':
			return token{kind: opening}, nil
		case '}':
			return token{kind: closing}, nil
		case '\r', '\n', 0:
		case '\t':
			return token{kind: word, word: "tab"}, nil
		case '\\':
			return l.control()
		default:
			return token{kind: text, char: c}, nil
		}
	}
}

// Bounds of a control word, in bytes. Specified are 32 and 10.
const (
	maxWord   = 64
	maxDigits = 10
)

func (l *lexer) control() (token, error) {
	c, err := l.in.ReadByte()
	switch {
	case err != nil:
		return token{}, err
	case c == '\'':
		return l.escaped()
	case c == '\\' || c == '{' || c == '}':
		return token{kind: text, char: c}, nil
	case c == '\r' || c == '\n':
		return token{kind: word, word: "par"}, nil
	case !isLetter(c):
		return token{kind: word, word: string(rune(c))}, nil
	}
	name := []byte{c}
	for {
		if c, err = l.in.ReadByte(); err != nil || !isLetter(c) || len(name) >= maxWord {
			break
		}
		name = append(name, c)
	}
	t := token{kind: word, word: string(name)}
	if err == nil {
		err = l.number(&t, c)
	}
	if t.word == "bin" {
		t.kind = binary
	}
	if err != nil && err != io.EOF { //nolint:errorlint // bufio returns io.EOF as it is
		return t, err
	}
	return t, nil
}

// number reads the number behind a word, whose first byte is c, and the blank
// that ends them.
func (l *lexer) number(t *token, c byte) (err error) {
	sign := 1
	if c == '-' {
		sign = -1
		if c, err = l.in.ReadByte(); err != nil {
			return err
		}
	}
	for range maxDigits {
		if c < '0' || c > '9' {
			break
		}
		t.has = true
		t.number = min(t.number*10+int(c-'0'), 1<<31-1)
		if c, err = l.in.ReadByte(); err != nil {
			t.number *= sign
			return err
		}
	}
	t.number *= sign
	if c != ' ' {
		return l.in.UnreadByte()
	}
	return nil
}

// escaped reads the two digits of \'xx. Other bytes are left for what comes.
func (l *lexer) escaped() (token, error) {
	char := 0
	for range 2 {
		c, err := l.in.ReadByte()
		if err != nil {
			return token{}, err
		}
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if digit < 0 || c < '0' {
			return token{kind: word, word: "'"}, l.in.UnreadByte()
		}
		char = char<<4 | digit
	}
	return token{kind: text, char: byte(char), escaped: true}, nil
}

// skip leaves out n bytes.
func (l *lexer) skip(n int) error {
	_, err := l.in.Discard(max(n, 0))
	return err
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
