package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// SchemaOf derives the JSON Schema of an argument struct: fields become
// properties by their json tag, the jsonschema tag is their description, and a
// field is required unless it is omitempty or omitzero.
func SchemaOf[A any]() (json.RawMessage, error) {
	s, err := jsonschema.For[A](nil)
	if err != nil {
		return nil, fmt.Errorf("derive a schema: %w", err)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode a schema: %w", err)
	}
	return raw, nil
}

// Func is a Go function as a tool.
type Func[A any] struct {
	spec   Spec
	params *Schema
	call   func(ctx context.Context, args A) (Result, error)
}

// NewFunc makes a tool of a function. Where spec.Parameters is nil they are
// derived from A, which has to be a struct.
func NewFunc[A any](spec Spec, call func(ctx context.Context, args A) (Result, error)) (*Func[A], error) {
	if call == nil {
		return nil, errors.New("a tool needs a function")
	}
	if spec.Parameters == nil {
		raw, err := SchemaOf[A]()
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", spec.Name, err)
		}
		spec.Parameters = raw
	}
	checked, err := NewRegistry(&Func[A]{spec: spec})
	if err != nil {
		return nil, err
	}
	return &Func[A]{spec: spec, params: checked.byName[spec.Name].Schema, call: call}, nil
}

func (f *Func[A]) schema() *Schema { return f.params }

// Spec implements Tool.
func (f *Func[A]) Spec() Spec { return f.spec }

// Call implements Tool.
func (f *Func[A]) Call(ctx context.Context, args json.RawMessage) (Result, error) {
	var a A
	if err := json.Unmarshal(args, &a); err != nil {
		return Result{}, fmt.Errorf("decode the arguments of %s: %w", f.spec.Name, err)
	}
	return f.call(ctx, a)
}
