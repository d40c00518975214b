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
// times (RFC 3339, or a date) are compared as times, else byte by byte. A
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
		return FilterValue{kind: textValue, text: v, time: timeOf(v)}, true
	case float64:
		return FilterValue{kind: numberValue, num: v}, true
	case bool:
		return FilterValue{kind: boolValue, yes: v}, true
	}
	return FilterValue{}, false
}

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
		return !f.Value.equalsAny(field(f.Field))
	case FilterEq:
		return f.Value.equalsAny(field(f.Field))
	case FilterIn:
		v := field(f.Field)
		return slices.ContainsFunc(f.In, func(want FilterValue) bool { return want.equalsAny(v) })
	case FilterContains:
		return f.Value.within(field(f.Field))
	default:
		return f.ordered(field(f.Field))
	}
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

// equalsAny compares with a value, or with the items of a list.
func (v FilterValue) equalsAny(has any) bool {
	if list, ok := has.([]string); ok {
		return v.kind == textValue && slices.ContainsFunc(list, v.equalsText)
	}
	switch has := has.(type) {
	case string:
		return v.kind == textValue && v.equalsText(has)
	case float64:
		return v.kind == numberValue && v.num == has
	case bool:
		return v.kind == boolValue && v.yes == has
	}
	return false
}

func (v FilterValue) equalsText(s string) bool {
	if v.text == s {
		return true
	}
	if v.time.IsZero() {
		return false
	}
	t := timeOf(s)
	return !t.IsZero() && v.time.Equal(t)
}

func (v FilterValue) within(has any) bool {
	switch has := has.(type) {
	case []string:
		return v.equalsAny(has)
	case string:
		return v.kind == textValue && strings.Contains(has, v.text)
	}
	return false
}

// ordered answers lt, le, gt and ge.
func (f *Filter) ordered(has any) bool {
	c, ok := f.Value.order(has)
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

// order compares what a document has with the value: -1 where it has less.
func (v FilterValue) order(has any) (int, bool) {
	switch has := has.(type) {
	case float64:
		return cmp.Compare(has, v.num), v.kind == numberValue
	case string:
		if v.kind != textValue {
			return 0, false
		}
		if !v.time.IsZero() {
			if t := timeOf(has); !t.IsZero() {
				return t.Compare(v.time), true
			}
		}
		return strings.Compare(has, v.text), true
	}
	return 0, false
}
