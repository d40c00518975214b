package attributes

import (
	"cmp"
	"slices"
	"strings"

	"ragagent/store"
)

// Field describes what documents have under one name.
type Field struct {
	Name string
	// Type is string, number, boolean, time or list; "mixed" where documents
	// have values of several of these.
	Type      string
	Documents int // that have the field
	Distinct  int // values, or items of lists
	Values    []Count
	// Least and Most are the range of numbers or times; nil for other types.
	Least, Most any
	BuiltIn     bool
}

// Count is a value, a string, float64 or bool, with the number of documents
// that have it.
type Count struct {
	Value     any
	Documents int
}

// Fields describes every field by name, with its most frequent values, at most
// so many; equally frequent ones in their order.
func (t *Table) Fields(most int) []Field {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make([]Field, 0, len(t.columns))
	for name, c := range t.columns {
		out = append(out, c.describe(name, most, len(t.live)))
	}
	slices.SortFunc(out, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (c *column) describe(name string, most, words int) Field {
	f := Field{Name: name, BuiltIn: store.IsBuiltinField(name)}
	set := make(Bits, words)
	c.markAll(set)
	f.Documents = set.Count()
	lists := len(c.items.docs)+len(c.empty.docs) > 0
	var types []string
	if len(c.texts.docs) > 0 {
		types = append(types, "string")
		if least, most, ok := c.times(); ok {
			types = []string{"time"}
			f.Least, f.Most = least, most
		}
	}
	if len(c.numbers.docs) > 0 {
		types = append(types, "number")
		f.Least, f.Most = span(&c.numbers)
	}
	if len(c.yes.docs) > 0 {
		types = append(types, "boolean")
	}
	if lists {
		types = append(types, "list")
	}
	f.Type = "mixed"
	if len(types) == 1 {
		f.Type = types[0]
	} else {
		f.Least, f.Most = nil, nil
	}
	for _, found := range [][]Count{
		top(&c.texts, most, strings.Compare), top(&c.items, most, strings.Compare),
		top(&c.numbers, most, cmp.Compare), top(&c.yes, most, func(a, b bool) int {
			return cmp.Compare(map[bool]int{true: 1}[a], map[bool]int{true: 1}[b])
		}),
	} {
		f.Values = append(f.Values, found...)
	}
	slices.SortStableFunc(f.Values, func(a, b Count) int { return cmp.Compare(b.Documents, a.Documents) })
	f.Values = f.Values[:min(most, len(f.Values))]
	f.Distinct = c.texts.used() + c.items.used() + c.numbers.used() + c.yes.used()
	return f
}

// times returns the first and the last of strings that are all times.
func (c *column) times() (least, most any, ok bool) {
	ready := prepare(c.texts.distinct, &c.preparedTexts)
	low, high := -1, -1
	for code := range ready {
		if c.texts.counts[code] == 0 {
			continue
		}
		if !ready[code].IsTime() {
			return nil, nil, false
		}
		if low < 0 || before(ready[code], ready[low]) {
			low = code
		}
		if high < 0 || before(ready[high], ready[code]) {
			high = code
		}
	}
	return c.texts.distinct[low], c.texts.distinct[high], true
}

func before(a, b store.FilterValue) bool {
	c, _ := a.Compare(b)
	return c < 0
}

// span returns the least and the greatest number.
func span(v *values[float64]) (least, most any) {
	low, high, first := 0., 0., true
	for code, n := range v.distinct {
		if v.counts[code] == 0 {
			continue
		}
		if first {
			low, high, first = n, n, false
		}
		low, high = min(low, n), max(high, n)
	}
	return low, high
}

// used is how many values documents have.
func (v *values[T]) used() int { return len(v.distinct) - v.unused }

// top returns the most frequent values.
func top[T comparable](v *values[T], most int, compare func(a, b T) int) []Count {
	order := func(a, b uint32) int {
		return cmp.Or(cmp.Compare(v.counts[b], v.counts[a]), compare(v.distinct[a], v.distinct[b]))
	}
	var best []uint32 // ordered, at most so many
	for code := range uint32(len(v.distinct)) {
		if v.counts[code] == 0 || len(best) == most && order(code, best[most-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, code, order)
		best = slices.Insert(best, at, code)
		best = best[:min(len(best), most)]
	}
	out := make([]Count, len(best))
	for i, code := range best {
		out[i] = Count{v.distinct[code], int(v.counts[code])}
	}
	return out
}
