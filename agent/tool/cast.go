package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// castValue returns v as the schema wants it and adds what cannot be mended to
// problems. at is the path of v, "" for the root.
func castValue(s *jsonschema.Schema, v any, at string, problems *[]string) any {
	if s == nil {
		return v
	}
	switch {
	case accepts(s, "object"):
		if m, ok := nested(v).(map[string]any); ok {
			return castObject(s, m, at, problems)
		}
	case accepts(s, "array"):
		if list, ok := nested(v).([]any); ok {
			return castArray(s, list, at, problems)
		}
		if _, isMap := v.(map[string]any); v != nil && !isMap && !accepts(s, "string") {
			return castArray(s, []any{v}, at, problems)
		}
	}
	out, ok := castScalar(s, v)
	if !ok {
		*problems = append(*problems, fmt.Sprintf("%s has to be %s, not %s", place(at), wanted(s), shown(v)))
		return v
	}
	return checkScalar(s, out, at, problems)
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

func castObject(s *jsonschema.Schema, m map[string]any, at string, problems *[]string) any {
	out := make(map[string]any, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		v := m[name]
		property, known := s.Properties[name]
		switch {
		case known && v == nil && !accepts(property, "null") && !slices.Contains(s.Required, name):
			// null for an optional parameter means that it was left out
		case known:
			out[name] = castValue(property, v, join(at, name), problems)
		case !forbids(s.AdditionalProperties):
			out[name] = castValue(s.AdditionalProperties, v, join(at, name), problems)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if _, there := out[name]; !there && s.Properties[name].Default != nil {
			out[name] = s.Properties[name].Default
		}
	}
	for _, name := range s.Required {
		if _, there := out[name]; !there {
			*problems = append(*problems, fmt.Sprintf("%s is required", place(join(at, name))))
		}
	}
	return out
}

// forbids recognises additionalProperties: false, which is read as {"not": {}}.
func forbids(s *jsonschema.Schema) bool {
	return s != nil && reflect.DeepEqual(s, &jsonschema.Schema{Not: &jsonschema.Schema{}})
}

func castArray(s *jsonschema.Schema, list []any, at string, problems *[]string) any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = castValue(s.Items, v, fmt.Sprintf("%s[%d]", at, i), problems)
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
		f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
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

// castInteger takes 3, "3", 3.0 and 1e3, but no fraction.
func castInteger(text string) (any, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil, false
	}
	return int64(f), true
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

// checkScalar checks enum and range, which models break most often, with words
// that say what is allowed.
func checkScalar(s *jsonschema.Schema, v any, at string, problems *[]string) any {
	if len(s.Enum) > 0 {
		allowed, ok := fromEnum(s.Enum, v)
		if !ok {
			*problems = append(*problems, fmt.Sprintf("%s has to be one of %s, not %s", place(at), listed(s.Enum), shown(v)))
			return v
		}
		v = allowed
	}
	f, isNumber := number(v)
	text, isText := v.(string)
	switch length := utf8.RuneCountInString(text); {
	case isText && s.MinLength != nil && *s.MinLength == 1 && length == 0:
		*problems = append(*problems, fmt.Sprintf("%s may not be empty", place(at)))
	case isText && s.MinLength != nil && length < *s.MinLength:
		*problems = append(*problems, fmt.Sprintf("%s has to have at least %d characters", place(at), *s.MinLength))
	case isText && s.MaxLength != nil && length > *s.MaxLength:
		*problems = append(*problems, fmt.Sprintf("%s has to have at most %d characters", place(at), *s.MaxLength))
	case isNumber && s.Minimum != nil && f < *s.Minimum:
		*problems = append(*problems, fmt.Sprintf("%s has to be at least %v, not %s", place(at), *s.Minimum, shown(v)))
	case isNumber && s.Maximum != nil && f > *s.Maximum:
		*problems = append(*problems, fmt.Sprintf("%s has to be at most %v, not %s", place(at), *s.Maximum, shown(v)))
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
