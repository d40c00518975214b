package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DecodeLenient reads one JSON value the way models write it: inside a code
// fence, with single quotes, Python's True, False and None, trailing commas,
// bare keys or comments. Text after the value is an error, and so is a value
// that was cut off: nothing is guessed. Numbers stay json.Number.
func DecodeLenient(text string) (any, error) {
	p := &lenient{s: stripFence(text)}
	p.space()
	if p.i == len(p.s) {
		return nil, errEmpty
	}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.i < len(p.s) {
		return nil, fmt.Errorf("unexpected %q after the JSON value", clip(p.s[p.i:]))
	}
	return v, nil
}

var (
	errEmpty = errors.New("no JSON value")
	errCut   = errors.New("the JSON is cut off")
)

const maxDepth = 64

type lenient struct {
	s string
	i int
}

func stripFence(text string) string {
	t := strings.TrimSpace(text)
	if !strings.HasPrefix(t, "```") {
		return t
	}
	_, body, ok := strings.Cut(t, "\n")
	if !ok {
		return t
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(body), "```"))
}

func clip(s string) string {
	const most = 20
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// space skips white space and comments.
func (p *lenient) space() {
	for p.i < len(p.s) {
		rest := p.s[p.i:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			p.i++
		case strings.HasPrefix(rest, "//"):
			p.skipTo("\n")
		case strings.HasPrefix(rest, "/*"):
			p.skipTo("*/")
		default:
			return
		}
	}
}

func (p *lenient) skipTo(end string) {
	if j := strings.Index(p.s[p.i:], end); j >= 0 {
		p.i += j + len(end)
		return
	}
	p.i = len(p.s)
}

func (p *lenient) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("the JSON is nested too deeply")
	}
	if p.i == len(p.s) {
		return nil, errCut
	}
	switch c := p.s[p.i]; c {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"', '\'':
		return p.quoted(c)
	}
	return p.literal()
}

func (p *lenient) object(depth int) (any, error) {
	out := map[string]any{}
	p.i++
	for {
		p.space()
		if p.i == len(p.s) {
			return nil, errCut
		}
		if p.s[p.i] == '}' {
			p.i++
			return out, nil
		}
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		p.space()
		if p.i == len(p.s) {
			return nil, errCut
		}
		if p.s[p.i] != ':' {
			return nil, fmt.Errorf("expected ':' after %q", key)
		}
		p.i++
		p.space()
		if out[key], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if err := p.separator('}'); err != nil {
			return nil, err
		}
	}
}

func (p *lenient) array(depth int) (any, error) {
	out := []any{}
	p.i++
	for {
		p.space()
		if p.i == len(p.s) {
			return nil, errCut
		}
		if p.s[p.i] == ']' {
			p.i++
			return out, nil
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if err := p.separator(']'); err != nil {
			return nil, err
		}
	}
}

// separator takes a comma, or stops before the closing bracket.
func (p *lenient) separator(end byte) error {
	p.space()
	switch {
	case p.i == len(p.s):
		return errCut
	case p.s[p.i] == ',':
		p.i++
	case p.s[p.i] != end:
		return fmt.Errorf("expected ',' or '%c' before %q", end, clip(p.s[p.i:]))
	}
	return nil
}

func (p *lenient) key() (string, error) {
	if c := p.s[p.i]; c == '"' || c == '\'' {
		return p.quoted(c)
	}
	if w := p.word(); w != "" {
		return w, nil
	}
	return "", fmt.Errorf("expected a key before %q", clip(p.s[p.i:]))
}

// word takes letters, digits and the signs that numbers and names hold.
func (p *lenient) word() string {
	start := p.i
	for p.i < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		if strings.ContainsRune(" \t\r\n,:{}[]\"'/", r) {
			break
		}
		p.i += n
	}
	return p.s[start:p.i]
}

func (p *lenient) literal() (any, error) {
	start := p.i
	switch w := p.word(); w {
	case "true", "True":
		return true, nil
	case "false", "False":
		return false, nil
	case "null", "None", "undefined":
		return nil, nil
	default:
		if isNumber(w) {
			if _, err := strconv.ParseFloat(w, 64); err != nil {
				return nil, fmt.Errorf("the number %s is too large", clip(w))
			}
			return json.Number(w), nil
		}
		return nil, fmt.Errorf("unexpected %q", clip(p.s[start:]))
	}
}

// isNumber says whether s is a number by JSON's grammar.
func isNumber(s string) bool {
	return json.Valid([]byte(s)) && s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9')
}

func (p *lenient) quoted(quote byte) (string, error) {
	var b strings.Builder
	for p.i++; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; c {
		case quote:
			p.i++
			return strings.ToValidUTF8(b.String(), "\uFFFD"), nil
		case '\\':
			if err := p.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", errCut
}

// escape takes the sequence at the backslash and stops on its last byte.
func (p *lenient) escape(b *strings.Builder) error {
	p.i++
	if p.i == len(p.s) {
		return errCut
	}
	switch c := p.s[p.i]; c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'u':
		return p.unicode(b)
	default: // \" \\ \/ \' and what models escape without need
		b.WriteByte(c)
	}
	return nil
}

func (p *lenient) unicode(b *strings.Builder) error {
	hi, err := p.hex4()
	if err != nil {
		return err
	}
	r := rune(hi)
	if hi >= 0xD800 && hi < 0xDC00 && strings.HasPrefix(p.s[p.i+1:], `\u`) {
		at := p.i
		p.i += 2
		lo, err := p.hex4()
		if err != nil {
			return err
		}
		if lo >= 0xDC00 && lo < 0xE000 {
			r = (rune(hi)-0xD800)<<10 + (rune(lo) - 0xDC00) + 0x10000
		} else {
			p.i = at
		}
	}
	b.WriteRune(r)
	return nil
}

// hex4 reads the four digits after the u that p.i stands on.
func (p *lenient) hex4() (uint64, error) {
	if p.i+4 >= len(p.s) {
		return 0, errCut
	}
	v, err := strconv.ParseUint(p.s[p.i+1:p.i+5], 16, 32)
	if err != nil {
		return 0, fmt.Errorf("bad escape \\u%s", clip(p.s[p.i+1:p.i+5]))
	}
	p.i += 4
	return v, nil
}
