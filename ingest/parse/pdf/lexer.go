package pdf

import "strconv"

// kind says what an operand or token is.
type kind byte

const (
	kindEOF kind = iota
	kindNumber
	kindName
	kindString
	kindArray // its operands are in items
	kindDict  // skipped; content streams need none
	kindOperator
	kindClose // ] or >>
)

// operand is a token of a content stream or character map.
type operand struct {
	kind  kind
	num   float64
	text  []byte // of a name, string or operator
	items []operand
}

// lexer reads the tokens of a content stream. It never fails: what is no token
// is skipped.
type lexer struct {
	data []byte
	pos  int
}

// maxDepth bounds nested arrays and dictionaries in a content stream.
const maxDepth = 16

// maxItems bounds the operands of one array; more are dropped.
const maxItems = 1 << 17

func (l *lexer) next() operand { return l.read(0) }

func (l *lexer) read(depth int) operand {
	l.skipSpace()
	if l.pos >= len(l.data) {
		return operand{kind: kindEOF}
	}
	switch c := l.data[l.pos]; c {
	case '/':
		l.pos++
		return operand{kind: kindName, text: l.name()}
	case '(':
		l.pos++
		return operand{kind: kindString, text: l.literal()}
	case '<':
		l.pos++
		if l.pos < len(l.data) && l.data[l.pos] == '<' {
			l.pos++
			return operand{kind: kindDict, items: l.group(depth)}
		}
		return operand{kind: kindString, text: l.hex()}
	case '[', '{':
		l.pos++
		return operand{kind: kindArray, items: l.group(depth)}
	case ']', '}', ')':
		l.pos++
		return operand{kind: kindClose}
	case '>':
		l.pos++
		if l.pos < len(l.data) && l.data[l.pos] == '>' {
			l.pos++
		}
		return operand{kind: kindClose}
	default:
		return l.word()
	}
}

// group reads the operands up to the closing bracket. Beyond maxDepth the
// brackets are read as if they were not there.
func (l *lexer) group(depth int) []operand {
	if depth >= maxDepth {
		return nil
	}
	var items []operand
	for {
		op := l.read(depth + 1)
		if op.kind == kindClose || op.kind == kindEOF {
			return items
		}
		if len(items) < maxItems {
			items = append(items, op)
		}
	}
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.data) {
		switch c := l.data[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

func (l *lexer) name() []byte {
	start := l.pos
	escaped := false
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		escaped = escaped || l.data[l.pos] == '#'
		l.pos++
	}
	text := l.data[start:l.pos]
	if !escaped {
		return text
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] == '#' && i+2 < len(text) && unhex(text[i+1]) >= 0 && unhex(text[i+2]) >= 0 {
			out = append(out, byte(unhex(text[i+1])<<4|unhex(text[i+2])))
			i += 2
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// word reads a number or an operator.
func (l *lexer) word() operand {
	start := l.pos
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		l.pos++
	}
	text := l.data[start:l.pos]
	if len(text) == 0 {
		l.pos++
		return operand{kind: kindOperator}
	}
	if c := text[0]; c <= '9' && (c >= '0' || c == '-' || c == '+' || c == '.') {
		return operand{kind: kindNumber, num: number(text)}
	}
	return operand{kind: kindOperator, text: text}
}

// number reads a number as lenient readers do: "--5" is -5, "1.2.3" is 1.2.
func number(text []byte) float64 {
	if n, ok := simpleNumber(text); ok {
		return n
	}
	neg := false
	for len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		neg = neg || text[0] == '-'
		text = text[1:]
	}
	dots, end := 0, 0
	for end < len(text) {
		if text[end] == '.' {
			dots++
		}
		if dots > 1 || text[end] != '.' && (text[end] < '0' || text[end] > '9') {
			break
		}
		end++
	}
	n, err := strconv.ParseFloat(string(text[:end]), 64)
	if err != nil {
		return 0
	}
	if neg {
		return -n
	}
	return n
}

// simpleNumber reads the common form, up to 15 digits, exactly.
func simpleNumber(text []byte) (float64, bool) {
	if len(text) > 16 {
		return 0, false
	}
	neg := text[0] == '-'
	if neg || text[0] == '+' {
		text = text[1:]
	}
	var n int64
	scale := int64(0)
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
			scale *= 10
		case c == '.' && scale == 0:
			scale = 1
		default:
			return 0, false
		}
	}
	f := float64(n)
	if scale > 1 {
		f /= float64(scale)
	}
	if neg {
		f = -f
	}
	return f, true
}

func (l *lexer) literal() []byte {
	start := l.pos
	depth := 1
	for i := l.pos; i < len(l.data); i++ {
		switch l.data[i] {
		case '\\':
			return l.escapedLiteral(start, i, depth)
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.pos = i + 1
				return l.data[start:i]
			}
		}
	}
	l.pos = len(l.data)
	return l.data[start:]
}

// escapedLiteral goes on where literal met its first backslash, at i.
func (l *lexer) escapedLiteral(start, i, depth int) []byte {
	out := append([]byte(nil), l.data[start:i]...)
	for ; i < len(l.data); i++ {
		c := l.data[i]
		switch c {
		case '\\':
			i++
			if i < len(l.data) {
				out, i = l.escape(out, i)
			}
			continue
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.pos = i + 1
				return out
			}
		}
		out = append(out, c)
	}
	l.pos = len(l.data)
	return out
}

// escape appends what the escape sequence at i stands for and returns the
// place of its last byte.
func (l *lexer) escape(out []byte, i int) ([]byte, int) {
	switch c := l.data[i]; c {
	case 'n':
		return append(out, '\n'), i
	case 'r':
		return append(out, '\r'), i
	case 't':
		return append(out, '\t'), i
	case 'b':
		return append(out, '\b'), i
	case 'f':
		return append(out, '\f'), i
	case '\r':
		if i+1 < len(l.data) && l.data[i+1] == '\n' {
			i++
		}
		return out, i
	case '\n':
		return out, i
	default:
		if c < '0' || c > '7' {
			return append(out, c), i
		}
		n := 0
		end := i
		for end < len(l.data) && end < i+3 && l.data[end] >= '0' && l.data[end] <= '7' {
			n = n<<3 | int(l.data[end]-'0')
			end++
		}
		return append(out, byte(n)), end - 1
	}
}

func (l *lexer) hex() []byte {
	var out []byte
	half := -1
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		if c == '>' {
			break
		}
		d := unhex(c)
		switch {
		case d < 0:
		case half < 0:
			half = d
		default:
			out = append(out, byte(half<<4|d))
			half = -1
		}
	}
	if half >= 0 {
		out = append(out, byte(half<<4))
	}
	return out
}

// skipInlineImage moves behind the EI that ends the image data at pos.
func (l *lexer) skipInlineImage() {
	for i := l.pos; i+3 < len(l.data); i++ {
		if isSpace(l.data[i]) && l.data[i+1] == 'E' && l.data[i+2] == 'I' && isSpace(l.data[i+3]) && l.plausible(i+3) {
			l.pos = i + 3
			return
		}
	}
	l.pos = len(l.data)
}

// plausible says that what follows at pos looks like operators, not like data.
func (l *lexer) plausible(pos int) bool {
	for _, c := range l.data[pos:min(len(l.data), pos+16)] {
		if c >= 0x7f || c < ' ' && !isSpace(c) {
			return false
		}
	}
	return true
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}
