package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Bounds of a filter.
const (
	maxFilterBytes = 1 << 20
	maxFilterDepth = 16
	maxFilterNodes = 1000
	maxFilterIn    = 10_000
)

// ParseFilter reads a filter from JSON; null, nothing and {} are none (nil).
// An object is either of
//
//	{"field": "year", "op": "ge", "value": 2020}
//	{"and": [...]}, {"or": [...]}, {"not": {...}}
//	{"year": {"ge": 2020, "lt": 2024}, "author": "Ada"}   all of them hold
//
// A list of values stands for in. The spellings of other systems are
// understood: key for field, operator or type for op, filters for the list of
// an and/or given as type, gte and lte, == != < <= > >=, nin, and a $ before
// an operator. Errors are ErrInvalid and name the place, as filter.and[1].op.
func ParseFilter(raw []byte) (*Filter, error) {
	if len(raw) > maxFilterBytes {
		return nil, Invalid("filter", "has %d bytes, at most %d are allowed", len(raw), maxFilterBytes)
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	p := filterParser{}
	return p.filter("filter", raw, 0)
}

type filterParser struct{ nodes int }

func (p *filterParser) filter(at string, raw json.RawMessage, depth int) (*Filter, error) {
	if depth > maxFilterDepth {
		return nil, Invalid(at, "is nested deeper than %d", maxFilterDepth)
	}
	object, keys, err := objectOf(raw)
	if err != nil {
		return nil, Invalid(at, "must be a JSON object such as {\"field\": \"year\", \"op\": \"ge\", \"value\": 2020}")
	}
	if c, ok, err := comparisonOf(at, object, keys); ok || err != nil {
		if err != nil {
			return nil, err
		}
		return p.compare(at, c.field, c.op, c.value)
	}
	if list, op, ok := typedConnective(object); ok {
		return p.connective(at, op, list, depth)
	}
	var parts []*Filter
	for _, key := range keys {
		part, err := p.member(at, key, object[key], depth)
		if err != nil {
			return nil, err
		}
		if part != nil {
			parts = append(parts, part)
		}
	}
	switch len(parts) {
	case 0:
		return nil, nil
	case 1:
		return parts[0], nil
	}
	return &Filter{Op: FilterAnd, Args: parts}, p.count(at)
}

// count takes one more node.
func (p *filterParser) count(at string) error {
	if p.nodes++; p.nodes > maxFilterNodes {
		return Invalid(at, "the filter has more than %d conditions", maxFilterNodes)
	}
	return nil
}

// member reads one key of an object: a connective, or a field and what it has
// to satisfy.
func (p *filterParser) member(at, key string, raw json.RawMessage, depth int) (*Filter, error) {
	at += "." + key
	switch op := FilterOp(strings.TrimPrefix(key, "$")); {
	case op == FilterAnd || op == FilterOr:
		if isList(raw) {
			return p.connective(at, op, raw, depth)
		}
	case op == FilterNot && isObject(raw):
		arg, err := p.filter(at, raw, depth+1)
		if err != nil {
			return nil, err
		}
		if arg == nil {
			return nil, Invalid(at, "is empty")
		}
		return &Filter{Op: FilterNot, Args: []*Filter{arg}}, p.count(at)
	}
	if strings.HasPrefix(key, "$") {
		return nil, Invalid(at, "is no operator here: use and, or, not, or the name of a field")
	}
	switch {
	case isObject(raw):
		return p.field(at, key, raw)
	case isList(raw):
		return p.compare(at, key, "in", raw)
	}
	return p.compare(at, key, "eq", raw)
}

// field reads {"ge": 2020, "lt": 2024}.
func (p *filterParser) field(at, name string, raw json.RawMessage) (*Filter, error) {
	object, ops, err := objectOf(raw)
	if err != nil || len(ops) == 0 {
		return nil, Invalid(at, "needs an operator and a value, as in {\"ge\": 2020}")
	}
	var parts []*Filter
	for _, op := range ops {
		part, err := p.compare(at+"."+op, name, op, object[op])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return &Filter{Op: FilterAnd, Args: parts}, p.count(at)
}

func (p *filterParser) connective(at string, op FilterOp, raw json.RawMessage, depth int) (*Filter, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 {
		return nil, Invalid(at, "must be a list of one or more filters")
	}
	out := &Filter{Op: op}
	for i, item := range list {
		place := fmt.Sprintf("%s[%d]", at, i)
		arg, err := p.filter(place, item, depth+1)
		if err != nil {
			return nil, err
		}
		if arg == nil {
			return nil, Invalid(place, "is empty")
		}
		out.Args = append(out.Args, arg)
	}
	return out, p.count(at)
}

// rawComparison is a comparison whose parts are named.
type rawComparison struct {
	field, op string
	value     json.RawMessage
}

// comparisonOf tells {"field", "op", "value"} from an object whose keys are
// fields, of which one may be called type. Two of the three are enough to tell:
// what is missing beside them, or is too much, is an error, as it would
// otherwise be a condition that no document meets.
func comparisonOf(at string, object map[string]json.RawMessage, keys []string) (c rawComparison, ok bool, err error) {
	extra := ""
	for _, key := range keys {
		switch key {
		case "field", "key":
			c.field = cmp.Or(stringOf(object[key]), c.field)
		case "op", "operator", "type":
			c.op = cmp.Or(stringOf(object[key]), c.op)
		case "value":
			c.value = object[key]
		default:
			extra = cmp.Or(extra, key)
		}
	}
	named, asked, valued := c.field != "", c.op != "", len(c.value) > 0
	if extra == "" && named && asked {
		return c, true, nil
	}
	asked = asked && isOperator(c.op)
	told := named && valued || named && asked || asked && valued
	switch {
	case !told:
		return c, false, nil
	case extra != "":
		return c, false, Invalid(at+"."+extra, "is too much beside field, op and value: join several conditions with and")
	case !named:
		return c, false, Invalid(at+".field", "is missing")
	}
	return c, false, Invalid(at+".op", "is missing: use eq, ne, lt, le, gt, ge, in, contains or exists")
}

// typedConnective reads {"type": "and", "filters": [...]}.
func typedConnective(object map[string]json.RawMessage) (list json.RawMessage, op FilterOp, ok bool) {
	op = FilterOp(stringOf(object["type"]))
	list = object["filters"]
	return list, op, len(object) == 2 && isList(list) && (op == FilterAnd || op == FilterOr)
}

// operators are the spellings of the comparisons.
var operators = map[string]FilterOp{
	"eq": FilterEq, "==": FilterEq, "=": FilterEq,
	"ne": FilterNe, "!=": FilterNe, "neq": FilterNe,
	"lt": FilterLt, "<": FilterLt,
	"le": FilterLe, "lte": FilterLe, "<=": FilterLe,
	"gt": FilterGt, ">": FilterGt,
	"ge": FilterGe, "gte": FilterGe, ">=": FilterGe,
	"in": FilterIn, "contains": FilterContains, "exists": FilterExists,
}

// negatedIn are the spellings of what is not in a list.
func negatedIn(name string) bool { return name == "nin" || name == "not_in" }

// operatorName is a spelling without its decoration.
func operatorName(op string) string { return strings.ToLower(strings.TrimPrefix(op, "$")) }

func isOperator(op string) bool {
	name := operatorName(op)
	return operators[name] != "" || negatedIn(name)
}

func (p *filterParser) compare(at, field, op string, raw json.RawMessage) (*Filter, error) {
	if err := p.count(at); err != nil {
		return nil, err
	}
	name := operatorName(op)
	if negatedIn(name) {
		in, err := p.compare(at, field, "in", raw)
		if err != nil {
			return nil, err
		}
		return &Filter{Op: FilterNot, Args: []*Filter{in}}, nil
	}
	known, ok := operators[name]
	if !ok {
		return nil, Invalid(at, "%q is no operator: use eq, ne, lt, le, gt, ge, in, contains or exists", op)
	}
	if known == FilterIn {
		return listed(at, field, raw)
	}
	f := &Filter{Op: known, Field: field}
	if known == FilterExists && len(raw) == 0 {
		raw = []byte("true")
	}
	value, err := valueOf(at, raw)
	if err != nil {
		return nil, err
	}
	f.Value = value
	switch {
	case known == FilterExists && value.kind != boolValue:
		return nil, Invalid(at, "exists takes true or false")
	case known == FilterContains && value.kind != textValue:
		return nil, Invalid(at, "contains takes a string")
	case value.kind == boolValue && (known == FilterLt || known == FilterLe || known == FilterGt || known == FilterGe):
		return nil, Invalid(at, "%s takes a number, a string or a time", known)
	}
	return f, nil
}

func listed(at, field string, raw json.RawMessage) (*Filter, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, Invalid(at, "in takes a list of values")
	}
	if len(list) > maxFilterIn {
		return nil, Invalid(at, "has %d values, at most %d are allowed", len(list), maxFilterIn)
	}
	f := &Filter{Op: FilterIn, Field: field}
	for i, item := range list {
		v, err := valueOf(fmt.Sprintf("%s[%d]", at, i), item)
		if err != nil {
			return nil, err
		}
		f.In = append(f.In, v)
	}
	return f, nil
}

func valueOf(at string, raw json.RawMessage) (FilterValue, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return FilterValue{}, Invalid(at, "needs a value")
	}
	if n, ok := v.(float64); ok && (math.IsInf(n, 0) || math.IsNaN(n)) {
		return FilterValue{}, Invalid(at, "must be a finite number")
	}
	value, ok := NewFilterValue(v)
	if !ok {
		return value, Invalid(at, "must be a string, a number, true or false")
	}
	return value, nil
}

// objectOf reads a JSON object and its keys, which it sorts: of two errors the
// same one is told each time.
func objectOf(raw json.RawMessage) (object map[string]json.RawMessage, keys []string, err error) {
	if !isObject(raw) {
		return nil, nil, ErrInvalid
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, nil, err
	}
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return object, keys, nil
}

func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }
func isList(raw json.RawMessage) bool   { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) }

func stringOf(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // what is no string is ""
	return s
}
