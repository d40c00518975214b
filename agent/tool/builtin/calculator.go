package builtin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"ragagent/agent/tool"
)

type calculatorArgs struct {
	Expression string `json:"expression" jsonschema:"for example (1510 - 1140) / 1140 * 100"`
}

// NewCalculator makes the tool calculator. It knows + - * / % ^, brackets,
// pi, e and abs, ceil, exp, floor, ln, log10, max, min, pow, round, sqrt on
// numbers of double precision.
func NewCalculator() (tool.Tool, error) {
	spec := tool.Spec{
		Name:        "calculator",
		Description: "Works out an arithmetic expression: + - * / % ^, brackets, abs, ceil, exp, floor, ln, log10, max, min, pow, round, sqrt, pi, e.",
		Idempotent:  true,
	}
	return tool.NewFunc(spec, func(_ context.Context, a calculatorArgs) (tool.Result, error) {
		v, err := calculate(a.Expression)
		if err != nil {
			return tool.Result{}, fmt.Errorf("cannot work out %.100q: %w", a.Expression, err)
		}
		return tool.Result{Text: strconv.FormatFloat(v, 'g', 15, 64)}, nil
	})
}

const (
	maxExpression = 2000 // bytes
	maxNesting    = 100
)

// calculate works out an expression by recursive descent:
//
//	sum     = product { ("+" | "-") product }
//	product = power { ("*" | "/" | "%") power }
//	power   = ("-" | "+") power | atom [ "^" power ]
//	atom    = number | name [ "(" sum { "," sum } ")" ] | "(" sum ")"
func calculate(expression string) (float64, error) {
	if len(expression) > maxExpression {
		return 0, fmt.Errorf("it is longer than %d bytes", maxExpression)
	}
	p := &arithmetic{s: normaliseSigns.Replace(expression)}
	v, err := p.sum()
	if err != nil {
		return 0, err
	}
	if p.peek() != 0 {
		return 0, fmt.Errorf("unexpected %q", p.s[p.i:])
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errors.New("the result is not a finite number")
	}
	return v, nil
}

// normaliseSigns turns the signs people and models write into ASCII ones.
var normaliseSigns = strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "–", "-", "**", "^", "π", "pi")

type arithmetic struct {
	s     string
	i     int
	depth int
}

// peek skips blanks and returns the next byte, 0 at the end.
func (p *arithmetic) peek() byte {
	for p.i < len(p.s) && unicode.IsSpace(rune(p.s[p.i])) {
		p.i++
	}
	if p.i == len(p.s) {
		return 0
	}
	return p.s[p.i]
}

func (p *arithmetic) sum() (float64, error) {
	if p.depth++; p.depth > maxNesting {
		return 0, errors.New("it is nested too deeply")
	}
	defer func() { p.depth-- }()
	left, err := p.product()
	for err == nil {
		op := p.peek()
		if op != '+' && op != '-' {
			return left, nil
		}
		p.i++
		var right float64
		if right, err = p.product(); op == '-' {
			right = -right
		}
		left += right
	}
	return 0, err
}

func (p *arithmetic) product() (float64, error) {
	left, err := p.power()
	for err == nil {
		op := p.peek()
		if op != '*' && op != '/' && op != '%' {
			return left, nil
		}
		p.i++
		var right float64
		if right, err = p.power(); err != nil {
			break
		}
		switch {
		case op == '*':
			left *= right
		case right == 0:
			return 0, errors.New("division by zero")
		case op == '/':
			left /= right
		default:
			left = math.Mod(left, right)
		}
	}
	return 0, err
}

func (p *arithmetic) power() (float64, error) {
	if p.depth++; p.depth > maxNesting {
		return 0, errors.New("it is nested too deeply")
	}
	defer func() { p.depth-- }()
	if sign := p.peek(); sign == '-' || sign == '+' {
		p.i++
		v, err := p.power()
		if sign == '-' {
			v = -v
		}
		return v, err
	}
	base, err := p.atom()
	if err != nil || p.peek() != '^' {
		return base, err
	}
	p.i++
	exponent, err := p.power()
	return math.Pow(base, exponent), err
}

func (p *arithmetic) atom() (float64, error) {
	switch c := p.peek(); {
	case c == 0:
		return 0, errors.New("it ends too early")
	case c == '(':
		p.i++
		v, err := p.sum()
		if err != nil {
			return 0, err
		}
		return v, p.expect(')')
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return p.name()
	default:
		return 0, fmt.Errorf("unexpected %q", p.s[p.i:])
	}
}

func (p *arithmetic) expect(c byte) error {
	if p.peek() != c {
		return fmt.Errorf("a %q is missing", string(c))
	}
	p.i++
	return nil
}

// number reads digits with a point and an exponent; a comma between digits in
// groups of three is left out.
func (p *arithmetic) number() (float64, error) {
	start := p.i
	for p.i < len(p.s) && (isDigit(p.s[p.i]) || p.s[p.i] == '.' || p.isGroup() || p.isExponent(start)) {
		p.i++
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(p.s[start:p.i], ",", ""), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", p.s[start:p.i])
	}
	return v, nil
}

// isGroup says whether the comma at p.i parts thousands: in a list of
// arguments a comma is followed by a blank or by another count of digits.
func (p *arithmetic) isGroup() bool {
	rest := p.s[p.i:]
	if rest[0] != ',' || len(rest) < 4 {
		return false
	}
	for _, c := range []byte(rest[1:4]) {
		if !isDigit(c) {
			return false
		}
	}
	return len(rest) == 4 || !isDigit(rest[4])
}

// isExponent says whether the byte at p.i belongs to an exponent as in 1e-3.
func (p *arithmetic) isExponent(start int) bool {
	c := p.s[p.i]
	if c == 'e' || c == 'E' {
		rest := strings.TrimLeft(p.s[p.i+1:], "+-")
		return p.i > start && rest != "" && isDigit(rest[0]) && len(p.s[p.i+1:])-len(rest) <= 1
	}
	return (c == '+' || c == '-') && p.i > start && (p.s[p.i-1] == 'e' || p.s[p.i-1] == 'E')
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (p *arithmetic) name() (float64, error) {
	start := p.i
	for p.i < len(p.s) && (isDigit(p.s[p.i]) || unicode.IsLetter(rune(p.s[p.i]))) {
		p.i++
	}
	name := strings.ToLower(p.s[start:p.i])
	if p.peek() != '(' {
		switch name {
		case "pi":
			return math.Pi, nil
		case "e":
			return math.E, nil
		}
		return 0, fmt.Errorf("%q is not known", name)
	}
	p.i++
	var args []float64
	for {
		v, err := p.sum()
		if err != nil {
			return 0, err
		}
		args = append(args, v)
		if p.peek() != ',' {
			break
		}
		p.i++
	}
	if err := p.expect(')'); err != nil {
		return 0, err
	}
	return apply(name, args)
}

var unary = map[string]func(float64) float64{
	"abs": math.Abs, "ceil": math.Ceil, "exp": math.Exp, "floor": math.Floor, "ln": math.Log, "log": math.Log,
	"log10": math.Log10, "round": math.Round, "sqrt": math.Sqrt,
}

func apply(name string, args []float64) (float64, error) {
	if f, ok := unary[name]; ok && len(args) == 1 {
		return f(args[0]), nil
	}
	switch {
	case name == "round" && len(args) == 2 && math.Abs(args[1]) <= 15:
		scale := math.Pow(10, math.Trunc(args[1]))
		return math.Round(args[0]*scale) / scale, nil
	case name == "pow" && len(args) == 2:
		return math.Pow(args[0], args[1]), nil
	case name == "max" || name == "min":
		v := args[0]
		for _, a := range args[1:] {
			if name == "max" {
				v = math.Max(v, a)
			} else {
				v = math.Min(v, a)
			}
		}
		return v, nil
	}
	return 0, fmt.Errorf("there is no function %q of %d numbers", name, len(args))
}
