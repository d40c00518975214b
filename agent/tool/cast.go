package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// caster casts the arguments of one call.
type caster struct {
	root     *jsonschema.Schema
	problems []string // what cannot be mended
}

func (c *caster) problem(at, format string, args ...any) {
	c.problems = append(c.problems, place(at)+" "+fmt.Sprintf(format, args...))
}

// value returns v as the schema wants it. at is the path of v, "" for the root.
func (c *caster) value(s *jsonschema.Schema, v any, at string) any {
	s = c.resolve(s)
	if s == nil {
		return v
	}
	if choices := append(slices.Clone(s.AnyOf), s.OneOf...); len(choices) > 0 && s.Type == "" && s.Types == nil {
		return c.choose(choices, v, at)
	}
	switch {
	case accepts(s, "object"):
		if m, ok := nested(v).(map[string]any); ok {
			return c.object(s, m, at)
		}
	case accepts(s, "array"):
		if list, ok := nested(v).([]any); ok {
			return c.array(s, list, at)
		}
		if c.lone(s, v) {
			return c.array(s, []any{v}, at)
		}
	}
	out, ok := castScalar(s, v)
	if !ok {
		c.problem(at, "has to be %s, not %s", wanted(s), shown(v))
		return v
	}
	return c.scalar(s, out, at)
}

// lone says whether v stands for a list of one.
func (c *caster) lone(s *jsonschema.Schema, v any) bool {
	if _, isObject := v.(map[string]any); isObject {
		item := c.resolve(s.Items)
		return item != nil && accepts(item, "object")
	}
	return v != nil && !accepts(s, "string")
}

// resolve follows references within the schema, and the one schema of an allOf.
func (c *caster) resolve(s *jsonschema.Schema) *jsonschema.Schema {
	const most = 8
	for range most {
		switch {
		case s == nil:
			return nil
		case len(s.AllOf) == 1 && s.Type == "" && s.Properties == nil:
			s = s.AllOf[0]
		case s.Ref == "#":
			s = c.root
		case strings.HasPrefix(s.Ref, "#/$defs/"):
			s = c.root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
		case strings.HasPrefix(s.Ref, "#/definitions/"):
			s = c.root.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
		default:
			return s
		}
	}
	return nil // the whole schema is checked behind the cast
}

// choose casts to the first schema that v fits as it is, else to the first that
// it can be cast to.
func (c *caster) choose(choices []*jsonschema.Schema, v any, at string) any {
	for _, asItIs := range []bool{true, false} {
		for _, s := range choices {
			if s = c.resolve(s); s == nil || asItIs && (s.Type != "" || s.Types != nil) && !fits(s, v) {
				continue
			}
			try := caster{root: c.root}
			if out := try.value(s, v, at); len(try.problems) == 0 {
				return out
			}
		}
	}
	if len(choices) == 1 {
		return c.value(choices[0], v, at)
	}
	return v // what is wrong, the check of the whole schema says
}

// nested reads a JSON object or array that was written as a string.
func nested(v any) any {
	text, ok := v.(string)
	if !ok || !strings.HasPrefix(strings.TrimSpace(text), "{") && !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return v
	}
	if inner, err := DecodeLenient(text); err == nil {
		return inner
	}
	return v
}

func (c *caster) object(s *jsonschema.Schema, m map[string]any, at string) any {
	out := make(map[string]any, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		v := m[name]
		property, known := s.Properties[name]
		if !known {
			if meant := spelled(s, m, name); meant != "" {
				name, property, known = meant, s.Properties[meant], true
			}
		}
		switch {
		case known && v == nil && !slices.Contains(s.Required, name) && !c.nullable(property):
			// null for an optional parameter means that it was left out
		case known:
			out[name] = c.value(property, v, join(at, name))
		case !forbids(s.AdditionalProperties):
			out[name] = c.value(s.AdditionalProperties, v, join(at, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if _, there := out[name]; !there && s.Properties[name].Default != nil {
			out[name] = s.Properties[name].Default
		}
	}
	for _, name := range s.Required {
		if _, there := out[name]; !there {
			c.problem(join(at, name), "is required")
		}
	}
	return out
}

// nullable says whether a schema takes null.
func (c *caster) nullable(s *jsonschema.Schema) bool {
	s = c.resolve(s)
	return s == nil || accepts(s, "null") || slices.ContainsFunc(slices.Concat(s.AnyOf, s.OneOf), c.nullable)
}

// spelled finds the property that a name means which is written in another way,
// as topK for top_k; "" if there is none, or it is there itself.
func spelled(s *jsonschema.Schema, m map[string]any, name string) string {
	for property := range s.Properties {
		if _, there := m[property]; !there && foldName(property) == foldName(name) {
			return property
		}
	}
	return ""
}

// forbids recognises additionalProperties: false, which is read as {"not": {}}.
func forbids(s *jsonschema.Schema) bool {
	return s != nil && reflect.DeepEqual(s, &jsonschema.Schema{Not: &jsonschema.Schema{}})
}

func (c *caster) array(s *jsonschema.Schema, list []any, at string) any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = c.value(s.Items, v, fmt.Sprintf("%s[%d]", at, i))
	}
	return out
}

// accepts says whether the schema names the type.
func accepts(s *jsonschema.Schema, name string) bool {
	return s.Type == name || slices.Contains(s.Types, name)
}

// castScalar returns v as one of the schema's types. A schema that names no
// type takes anything.
func castScalar(s *jsonschema.Schema, v any) (any, bool) {
	if s.Type == "" && len(s.Types) == 0 || fits(s, v) {
		return v, true
	}
	text := ""
	switch v := v.(type) {
	case string:
		text = strings.TrimSpace(v)
	case json.Number:
		text = v.String()
	case bool:
		text = strconv.FormatBool(v)
	default:
		return v, false
	}
	switch {
	case accepts(s, "integer"):
		return castInteger(text)
	case accepts(s, "number"):
		return castNumber(text)
	case accepts(s, "boolean"):
		return castBoolean(text)
	case accepts(s, "string"):
		return text, true
	case accepts(s, "null"):
		return nil, text == "" || strings.EqualFold(text, "null") || text == "None"
	}
	return v, false
}

// fits says whether v has one of the schema's types as it is.
func fits(s *jsonschema.Schema, v any) bool {
	switch v := v.(type) {
	case nil:
		return accepts(s, "null")
	case string:
		return accepts(s, "string")
	case bool:
		return accepts(s, "boolean")
	case json.Number:
		_, err := strconv.ParseInt(v.String(), 10, 64)
		return accepts(s, "number") || accepts(s, "integer") && err == nil
	case map[string]any:
		return accepts(s, "object")
	case []any:
		return accepts(s, "array")
	}
	return false
}

// castInteger takes 3, "3", 3.0, 1e3, "1,000" and "three", but no fraction.
func castInteger(text string) (any, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	v, ok := castNumber(text)
	f, isFloat := v.(float64)
	if !ok || !isFloat || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil, false
	}
	return int64(f), true
}

// thousands are separated by commas: "1,5" is no number here.
var thousands = regexp.MustCompile(`^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$`)

func castNumber(text string) (any, bool) {
	if thousands.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f, !math.IsInf(f, 0) && !math.IsNaN(f)
	}
	n, ok := numberInWords(text)
	return float64(n), ok
}

func castBoolean(text string) (any, bool) {
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1", "y", "t":
		return true, true
	case "false", "no", "off", "0", "n", "f":
		return false, true
	}
	return nil, false
}

// scalar checks enum and range, which models break most often, with words that
// say what is allowed.
func (c *caster) scalar(s *jsonschema.Schema, v any, at string) any {
	if len(s.Enum) > 0 {
		allowed, ok := fromEnum(s.Enum, v)
		if !ok {
			c.problem(at, "has to be one of %s, not %s", listed(s.Enum), shown(v))
			return v
		}
		v = allowed
	}
	f, isNumber := number(v)
	text, isText := v.(string)
	switch length := utf8.RuneCountInString(text); {
	case isText && s.MinLength != nil && *s.MinLength == 1 && length == 0:
		c.problem(at, "may not be empty")
	case isText && s.MinLength != nil && length < *s.MinLength:
		c.problem(at, "has to have at least %d characters", *s.MinLength)
	case isText && s.MaxLength != nil && length > *s.MaxLength:
		c.problem(at, "has to have at most %d characters", *s.MaxLength)
	case isNumber && s.Minimum != nil && f < *s.Minimum:
		c.problem(at, "has to be at least %v, not %s", *s.Minimum, shown(v))
	case isNumber && s.Maximum != nil && f > *s.Maximum:
		c.problem(at, "has to be at most %v, not %s", *s.Maximum, shown(v))
	}
	return v
}

// fromEnum finds v among the allowed values, also in another case.
func fromEnum(enum []any, v any) (any, bool) {
	want := fmt.Sprint(v)
	for _, e := range enum {
		if fmt.Sprint(e) == want {
			return e, true
		}
	}
	for _, e := range enum {
		if text, ok := e.(string); ok && strings.EqualFold(text, strings.TrimSpace(want)) {
			return e, true
		}
	}
	return nil, false
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

func place(at string) string {
	if at == "" {
		return "the arguments"
	}
	return strconv.Quote(at)
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func wanted(s *jsonschema.Schema) string {
	if s.Type != "" {
		return "of type " + s.Type
	}
	return "of type " + strings.Join(s.Types, " or ")
}

// shown is a value as an error shows it, cut to a readable length.
func shown(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	const most = 60
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "") + "..."
	}
	return string(b)
}

func listed(values []any) string {
	const most = 20
	out := make([]string, 0, min(len(values), most+1))
	for i, v := range values {
		if i == most {
			out = append(out, "...")
			break
		}
		out = append(out, shown(v))
	}
	return strings.Join(out, ", ")
}
