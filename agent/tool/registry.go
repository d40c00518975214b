package tool

import (
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Registry is a set of tools with distinct names whose schemas are known to be
// sound. It does not change after it was made and may be used concurrently. The
// zero value is empty.
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
	return (&Registry{}).With(tools...)
}

// With returns a registry with more tools behind those of r, on the terms of
// NewRegistry.
func (r *Registry) With(tools ...Tool) (*Registry, error) {
	if len(tools) == 0 {
		return r, nil
	}
	out := &Registry{order: slices.Clone(r.order), byName: make(map[string]Entry, len(r.order)+len(tools))}
	maps.Copy(out.byName, r.byName)
	for _, t := range tools {
		spec := t.Spec()
		if !namePattern.MatchString(spec.Name) {
			return nil, fmt.Errorf("tool %q: a name has 1 to 64 letters, digits, '_' or '-'", spec.Name)
		}
		if _, dup := out.byName[spec.Name]; dup {
			return nil, fmt.Errorf("tool %q is there twice", spec.Name)
		}
		schema, err := schemaOf(t, spec)
		if err != nil {
			return nil, fmt.Errorf("tool %q: parameters: %w", spec.Name, err)
		}
		out.order = append(out.order, spec.Name)
		out.byName[spec.Name] = Entry{Tool: t, Spec: spec, Schema: schema}
	}
	return out, nil
}

// compiled is implemented by tools of this package that hold their schema.
type compiled interface{ schema() *Schema }

func schemaOf(t Tool, spec Spec) (*Schema, error) {
	if c, ok := t.(compiled); ok && c.schema() != nil {
		return c.schema(), nil
	}
	return CompileSchema(spec.Parameters)
}

// WithConversation returns a registry whose tools know what was said, as far
// as they listen (see Conversational).
func (r *Registry) WithConversation(lines []Line) *Registry {
	out := r
	for _, name := range r.order {
		e := r.byName[name]
		c, listens := e.Tool.(Conversational)
		if !listens {
			continue
		}
		if out == r {
			out = &Registry{order: r.order, byName: maps.Clone(r.byName)}
		}
		e.Tool = c.WithConversation(lines)
		out.byName[name] = e
	}
	return out
}

// Len returns the number of tools.
func (r *Registry) Len() int { return len(r.order) }

// Names returns the tools' names in the order they were given.
func (r *Registry) Names() []string { return slices.Clone(r.order) }

// Lookup finds a tool by name.
func (r *Registry) Lookup(name string) (Entry, bool) {
	e, ok := r.byName[name]
	return e, ok
}

// Resolve finds the tool that a model means by a name: the tool itself, also
// with words behind it, or the only one whose name differs in nothing but case,
// "functions." before it, and blanks, "-" or "_".
func (r *Registry) Resolve(name string) (Entry, bool) {
	first, _, _ := strings.Cut(name, " ")
	for _, n := range []string{name, first} {
		if e, ok := r.byName[n]; ok {
			return e, true
		}
	}
	folded, found := foldName(strings.TrimPrefix(name, "functions.")), ""
	for _, n := range r.order {
		if foldName(n) != folded {
			continue
		}
		if found != "" {
			return Entry{}, false
		}
		found = n
	}
	return r.Lookup(found)
}

var nameBlanks = strings.NewReplacer(" ", "", "_", "", "-", "")

func foldName(name string) string { return strings.ToLower(nameBlanks.Replace(name)) }

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
