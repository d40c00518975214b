package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

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
	if root.Type == "" && root.Types == nil && root.Properties != nil {
		root.Type = "object"
	}
	if root.Type != "object" {
		return nil, errors.New(`the schema has to be of "type": "object"`)
	}
	if err := knownTypes(root); err != nil {
		return nil, err
	}
	resolved, err := root.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	return &Schema{root: root, resolved: resolved, plain: isPlain(root)}, nil
}

// knownTypes finds misspelt types, which would accept nothing.
func knownTypes(s *jsonschema.Schema) error {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	for _, t := range types {
		switch t {
		case "object", "array", "string", "number", "integer", "boolean", "null":
		default:
			return fmt.Errorf("not a JSON Schema: there is no type %q", t)
		}
	}
	parts := slices.Concat(s.AnyOf, s.OneOf, s.AllOf)
	for _, m := range []map[string]*jsonschema.Schema{s.Properties, s.Defs, s.Definitions} {
		parts = slices.AppendSeq(parts, maps.Values(m))
	}
	for _, part := range append(parts, s.Items) {
		if part == nil {
			continue
		}
		if err := knownTypes(part); err != nil {
			return err
		}
	}
	return nil
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

// Parameters are the names of the arguments: the required ones, then the others
// as the schema orders them.
func (s *Schema) Parameters() []string {
	names := slices.Clone(s.root.Required)
	others := s.root.PropertyOrder
	if len(others) == 0 {
		others = slices.Sorted(maps.Keys(s.root.Properties))
	}
	for _, name := range others {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
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
	c := caster{root: s.root}
	cast := c.value(s.root, object, "")
	if len(c.problems) > 0 {
		return nil, errors.New(strings.Join(c.problems, "; "))
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
	v, err := DecodeLenient(text)
	switch {
	case errors.Is(err, errEmpty):
		return map[string]any{}, nil
	case err != nil:
		bare := strings.TrimSpace(text)
		if m := s.withoutBraces(bare); m != nil {
			return m, nil
		}
		if name, ok := s.single(); ok && (!strings.ContainsAny(bare[:1], "{[\"'`") || quotation(bare)) {
			return map[string]any{name: bare}, nil
		}
		return nil, fmt.Errorf("the arguments are not valid JSON: %w; write one JSON object", err)
	}
	if text, ok := v.(string); ok {
		if inner, err := DecodeLenient(text); err == nil {
			if m, ok := inner.(map[string]any); ok {
				return m, nil
			}
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return s.unwrap(v), nil
	case nil:
		return map[string]any{}, nil
	default:
		if name, ok := s.single(); ok {
			return map[string]any{name: v}, nil
		}
		return nil, errors.New("the arguments have to be one JSON object")
	}
}

// withoutBraces reads "query": "tides" as {"query": "tides"}; nil for what is not
// parameters of the schema.
func (s *Schema) withoutBraces(bare string) map[string]any {
	v, err := DecodeLenient("{" + bare + "}")
	m, isObject := v.(map[string]any)
	if err != nil || !isObject {
		return nil
	}
	for name := range m {
		if _, known := s.root.Properties[name]; !known {
			return nil
		}
	}
	return m
}

// wrappers are keys that models put around arguments.
var wrappers = []string{"arguments", "parameters", "args", "kwargs", "input", "action_input", "tool_input"}

// unwrap takes arguments out of an object that holds nothing else, such as
// {"arguments": {...}} where there is no such parameter.
func (s *Schema) unwrap(m map[string]any) map[string]any {
	for name, v := range m {
		_, parameter := s.root.Properties[name]
		inner, isObject := nested(v).(map[string]any)
		if len(m) == 1 && isObject && !parameter && len(s.root.Properties) > 0 && slices.Contains(wrappers, name) {
			return inner
		}
	}
	return m
}

// quotation says whether plain text begins with a word in quotes that ends
// before the text does, as in "tides" in Brittany.
func quotation(bare string) bool {
	return len(bare) > 1 && strings.ContainsAny(bare[:1], "\"'`") && strings.Contains(bare[1:len(bare)-1], bare[:1])
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
