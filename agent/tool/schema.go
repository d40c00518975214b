package tool

import (
	"bytes"
	"encoding/json"
	"errors"
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

// Schema checks the arguments of a call and casts what models get slightly
// wrong. It may be used concurrently.
type Schema struct {
	root     *jsonschema.Schema
	resolved *jsonschema.Resolved
	// plain says that casting checks all there is to check.
	plain bool
}

// MaxArguments bounds the bytes of one call's arguments.
const MaxArguments = 64 << 10

// CompileSchema reads a JSON Schema of an object (draft 2020-12 or 7). Empty
// means an object without properties. Remote references are an error.
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	root := &jsonschema.Schema{Type: "object"}
	if len(bytes.TrimSpace(raw)) > 0 {
		root = &jsonschema.Schema{}
		if err := json.Unmarshal(raw, root); err != nil {
			return nil, fmt.Errorf("not a JSON Schema: %w", err)
		}
	}
	if root.Type != "object" {
		return nil, errors.New(`the schema has to be of "type": "object"`)
	}
	resolved, err := root.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	return &Schema{root: root, resolved: resolved, plain: isPlain(root)}, nil
}

// isPlain says whether a schema holds nothing but the keywords that casting
// enforces itself: types, properties, required, items, additionalProperties
// true or false, defaults, and enum, bounds and lengths of scalars.
func isPlain(s *jsonschema.Schema) bool {
	known := jsonschema.Schema{
		ID: s.ID, Schema: s.Schema, Comment: s.Comment, Title: s.Title, Description: s.Description, Default: s.Default,
		Deprecated: s.Deprecated, Examples: s.Examples, Extra: s.Extra, PropertyOrder: s.PropertyOrder,
		Type: s.Type, Properties: s.Properties, Required: s.Required, Items: s.Items, AdditionalProperties: s.AdditionalProperties,
	}
	switch s.Type {
	case "object", "array":
	case "string", "number", "integer", "boolean":
		known.Enum, known.Minimum, known.Maximum, known.MinLength, known.MaxLength = s.Enum, s.Minimum, s.Maximum, s.MinLength, s.MaxLength
	default:
		return false
	}
	if !reflect.DeepEqual(s, &known) || s.AdditionalProperties != nil && !forbids(s.AdditionalProperties) {
		return false
	}
	for _, p := range s.Properties {
		if !isPlain(p) {
			return false
		}
	}
	return s.Items == nil || isPlain(s.Items)
}

// Cast reads arguments as a model wrote them and returns them as JSON that
// satisfies the schema, keys sorted. It forgives what carries no doubt: code
// fences, single quotes, JSON inside a string, numbers and booleans as strings,
// a bare value for a tool with a single parameter, unknown properties (left
// out where the schema allows none) and missing ones that have a default. The
// error tells the model what is wrong and what would be right.
func (s *Schema) Cast(args json.RawMessage) (json.RawMessage, error) {
	if len(args) > MaxArguments {
		return nil, fmt.Errorf("the arguments are longer than %d bytes", MaxArguments)
	}
	object, err := s.object(string(args))
	if err != nil {
		return nil, err
	}
	var problems []string
	cast := castValue(s.root, object, "", &problems)
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "; "))
	}
	out, err := json.Marshal(cast)
	if err != nil {
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	if s.plain {
		return out, nil
	}
	var plain any
	if err := json.Unmarshal(out, &plain); err != nil {
		return nil, fmt.Errorf("decode the arguments: %w", err)
	}
	if err := s.resolved.Validate(plain); err != nil {
		return nil, fmt.Errorf("the arguments do not fit the tool's schema: %w", innermost(err))
	}
	return out, nil
}

// innermost drops the chain of schema paths that the library wraps around what
// is wrong.
func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

// object decodes the arguments to an object.
func (s *Schema) object(text string) (map[string]any, error) {
	v, err := decodeLenient(text)
	switch {
	case errors.Is(err, errEmpty):
		return map[string]any{}, nil
	case err != nil:
		bare := strings.TrimSpace(text)
		if name, ok := s.single(); ok && !strings.ContainsAny(bare[:1], "{[\"'`") {
			return map[string]any{name: bare}, nil
		}
		return nil, fmt.Errorf("the arguments are not valid JSON: %w; write one JSON object", err)
	}
	if text, ok := v.(string); ok {
		if inner, err := decodeLenient(text); err == nil {
			if m, ok := inner.(map[string]any); ok {
				return m, nil
			}
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case nil:
		return map[string]any{}, nil
	default:
		if name, ok := s.single(); ok {
			return map[string]any{name: v}, nil
		}
		return nil, errors.New("the arguments have to be one JSON object")
	}
}

// single returns the one parameter a bare value can only be meant for: the
// only required one, or the only one.
func (s *Schema) single() (string, bool) {
	if len(s.root.Required) == 1 {
		return s.root.Required[0], true
	}
	if len(s.root.Properties) == 1 && len(s.root.Required) == 0 {
		for name := range s.root.Properties {
			return name, true
		}
	}
	return "", false
}

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
	if inner, err := decodeLenient(text); err == nil {
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
