package store

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// FilterOp is what one node of a Filter does.
type FilterOp string

// The comparisons and the connectives.
const (
	FilterEq       FilterOp = "eq"
	FilterNe       FilterOp = "ne"
	FilterLt       FilterOp = "lt"
	FilterLe       FilterOp = "le"
	FilterGt       FilterOp = "gt"
	FilterGe       FilterOp = "ge"
	FilterIn       FilterOp = "in"
	FilterContains FilterOp = "contains"
	FilterExists   FilterOp = "exists"
	FilterAnd      FilterOp = "and"
	FilterOr       FilterOp = "or"
	FilterNot      FilterOp = "not"
)

// Filter chooses documents by their metadata. ParseFilter makes it of JSON.
//
// A field is a string, a number, a boolean or a list of strings. Values of
// different types are never equal and never ordered. Strings that are both
// times (RFC 3339, or a date) are compared as times, else byte by byte; a string
// that is no time is neither before nor after the time that a filter gives. A
// field that a document does not have satisfies ne and not, and nothing else.
//
//   - eq, ne: the value; of a list: one of its items.
//   - lt, le, gt, ge: strings and numbers.
//   - in: eq with one of the values.
//   - contains: a list with the value as an item, a string with it as a part.
//   - exists: whether the document has the field.
type Filter struct {
	Op    FilterOp
	Field string        // of a comparison
	Value FilterValue   // of a comparison but in; for exists a boolean
	In    []FilterValue // of in
	Args  []*Filter     // of and, or (one or more) and not (one)
}

// FilterValue is a string, a number or a boolean, prepared for comparison.
type FilterValue struct {
	kind valueKind
	text string
	num  float64
	yes  bool
	time time.Time // of a text that is one; else zero
}

type valueKind uint8

const (
	noValue valueKind = iota
	textValue
	numberValue
	boolValue
)

// NewFilterValue prepares a string, float64 or bool; not ok for anything else.
func NewFilterValue(v any) (FilterValue, bool) {
	switch v := v.(type) {
	case string:
		return TextValue(v), true
	case float64:
		return NumberValue(v), true
	case bool:
		return BoolValue(v), true
	}
	return FilterValue{}, false
}

// TextValue prepares a string.
func TextValue(s string) FilterValue { return FilterValue{kind: textValue, text: s, time: timeOf(s)} }

// NumberValue prepares a number.
func NumberValue(n float64) FilterValue { return FilterValue{kind: numberValue, num: n} }

// BoolValue prepares a boolean.
func BoolValue(yes bool) FilterValue { return FilterValue{kind: boolValue, yes: yes} }

// timeOf reads RFC 3339 times and plain dates.
func timeOf(s string) time.Time {
	if len(s) < len(time.DateOnly) || len(s) > 40 || s[4] != '-' {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Both returns a filter that chooses what a and b choose; nil chooses everything.
func Both(a, b *Filter) *Filter {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &Filter{Op: FilterAnd, Args: []*Filter{a, b}}
}

// Match says whether a document is chosen. field returns its value of a field
// as Metadata has it: string, float64, bool, []string, or nil where it has
// none. A nil Filter chooses everything.
func (f *Filter) Match(field func(name string) any) bool {
	if f == nil {
		return true
	}
	switch f.Op {
	case FilterAnd:
		return !slices.ContainsFunc(f.Args, func(a *Filter) bool { return !a.Match(field) })
	case FilterOr:
		return slices.ContainsFunc(f.Args, func(a *Filter) bool { return a.Match(field) })
	case FilterNot:
		return !f.Args[0].Match(field)
	case FilterExists:
		return (field(f.Field) != nil) == f.Value.yes
	case FilterNe:
		return !f.matches(field(f.Field))
	}
	return f.matches(field(f.Field))
}

// matches answers a comparison other than exists; ne as if it were eq.
func (f *Filter) matches(has any) bool {
	if list, ok := has.([]string); ok {
		return slices.ContainsFunc(list, func(s string) bool { return f.Accepts(TextValue(s), true) })
	}
	v, ok := NewFilterValue(has)
	return ok && f.Accepts(v, false)
}

// Accepts says whether one value, or one item of a list, satisfies a comparison
// other than exists; ne is answered as if it were eq. It is what indexes ask for
// each distinct value: a document satisfies the comparison if it has one that is
// accepted, and ne if it has none.
func (f *Filter) Accepts(has FilterValue, item bool) bool {
	switch f.Op {
	case FilterEq, FilterNe:
		return f.Value.equals(has)
	case FilterIn:
		return slices.ContainsFunc(f.In, has.equals)
	case FilterContains:
		if item {
			return f.Value.equals(has)
		}
		return has.kind == textValue && f.AcceptsPart(has.text)
	case FilterLt, FilterLe, FilterGt, FilterGe:
		return !item && f.ordered(has)
	}
	return false
}

// Fields appends the names of the fields that f asks for, each once.
func (f *Filter) Fields(names []string) []string {
	if f == nil {
		return names
	}
	if f.Field != "" && !slices.Contains(names, f.Field) {
		names = append(names, f.Field)
	}
	for _, a := range f.Args {
		names = a.Fields(names)
	}
	return names
}

// AcceptsPart is Accepts of contains for a string.
func (f *Filter) AcceptsPart(has string) bool {
	return f.Op == FilterContains && f.Value.kind == textValue && strings.Contains(has, f.Value.text)
}

// AcceptsNumber is Accepts for a number.
func (f *Filter) AcceptsNumber(has float64) bool {
	if f.Op == FilterIn {
		return slices.ContainsFunc(f.In, func(v FilterValue) bool { return v.kind == numberValue && v.num == has })
	}
	if f.Value.kind != numberValue {
		return false
	}
	switch f.Op {
	case FilterEq, FilterNe:
		return has == f.Value.num
	case FilterLt:
		return has < f.Value.num
	case FilterLe:
		return has <= f.Value.num
	case FilterGt:
		return has > f.Value.num
	case FilterGe:
		return has >= f.Value.num
	}
	return false
}

// Wants is the value of exists.
func (f *Filter) Wants() bool { return f.Value.yes }

// equals compares times by the moment they mean.
func (v FilterValue) equals(has FilterValue) bool {
	if v.kind != has.kind {
		return false
	}
	switch v.kind {
	case textValue:
		return v.text == has.text || !v.time.IsZero() && !has.time.IsZero() && v.time.Equal(has.time)
	case numberValue:
		return v.num == has.num
	case boolValue:
		return v.yes == has.yes
	}
	return false
}

// ordered answers lt, le, gt and ge.
func (f *Filter) ordered(has FilterValue) bool {
	c, ok := has.order(f.Value)
	if !ok {
		return false
	}
	switch f.Op {
	case FilterLt:
		return c < 0
	case FilterLe:
		return c <= 0
	case FilterGt:
		return c > 0
	case FilterGe:
		return c >= 0
	}
	return false
}

// order compares a value with that of a filter: -1 where v is less.
func (v FilterValue) order(other FilterValue) (int, bool) {
	switch {
	case v.kind == numberValue && other.kind == numberValue:
		return cmp.Compare(v.num, other.num), true
	case v.kind != textValue || other.kind != textValue:
		return 0, false
	case !v.time.IsZero() && !other.time.IsZero():
		return v.time.Compare(other.time), true
	case other.IsTime():
		return 0, false
	}
	return strings.Compare(v.text, other.text), true
}

// Text returns a string, and whether it is one that is no time: it equals no
// other string then.
func (v FilterValue) Text() (s string, ok bool) { return v.text, v.kind == textValue && !v.IsTime() }

// IsTime says that a string is a time.
func (v FilterValue) IsTime() bool { return !v.time.IsZero() }

// Compare orders two values as lt and gt do; ok false if they are of different
// types or booleans, or if other is a time and v is not.
func (v FilterValue) Compare(other FilterValue) (c int, ok bool) { return v.order(other) }
