package tool

import (
	"fmt"
	"iter"
	"regexp"
)

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Registry is a set of tools with distinct names whose schemas are known to be
// sound. It does not change after it was made and may be used concurrently.
type Registry struct {
	order  []string
	byName map[string]Entry
}

// Entry is a tool with its compiled parameters.
type Entry struct {
	Tool   Tool
	Spec   Spec
	Schema *Schema
}

// NewRegistry checks and gathers tools. A bad or repeated name and a schema
// that is not one are errors that name the tool.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{byName: make(map[string]Entry, len(tools))}
	for _, t := range tools {
		spec := t.Spec()
		if !namePattern.MatchString(spec.Name) {
			return nil, fmt.Errorf("tool %q: a name has 1 to 64 letters, digits, '_' or '-'", spec.Name)
		}
		if _, dup := r.byName[spec.Name]; dup {
			return nil, fmt.Errorf("tool %q is there twice", spec.Name)
		}
		schema, err := CompileSchema(spec.Parameters)
		if err != nil {
			return nil, fmt.Errorf("tool %q: parameters: %w", spec.Name, err)
		}
		r.order = append(r.order, spec.Name)
		r.byName[spec.Name] = Entry{Tool: t, Spec: spec, Schema: schema}
	}
	return r, nil
}

// Len returns the number of tools.
func (r *Registry) Len() int { return len(r.order) }

// Names returns the tools' names in the order they were given.
func (r *Registry) Names() []string { return append([]string(nil), r.order...) }

// Lookup finds a tool by name.
func (r *Registry) Lookup(name string) (Entry, bool) {
	e, ok := r.byName[name]
	return e, ok
}

// All yields the tools in the order they were given.
func (r *Registry) All() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, n := range r.order {
			if !yield(r.byName[n]) {
				return
			}
		}
	}
}
