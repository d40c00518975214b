package attributes

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"ragagent/store"
)

// column is one field of all documents. Most have values of one type; nothing
// keeps a field from having others in other documents.
type column struct {
	texts   values[string]
	items   values[string] // of lists
	numbers values[float64]
	yes     values[bool]
	empty   values[struct{}] // lists without items

	// prepared are the first of texts.distinct, prepared for comparison, and of
	// items.distinct; made when a time is first asked for. The values of a
	// number or boolean need no preparation.
	preparedTexts, preparedItems atomic.Pointer[prepared]
}

// prepared belongs to the distinct values of one array: a tidied one is another.
type prepared struct {
	first  *string
	values []store.FilterValue
}

// add gives a document a value of the field.
func (c *column) add(doc uint32, value any) {
	switch value := value.(type) {
	case string:
		c.texts.add(doc, value, len(value))
	case float64:
		c.numbers.add(doc, value, 0)
	case bool:
		c.yes.add(doc, value, 0)
	case []string:
		if len(value) == 0 {
			c.empty.add(doc, struct{}{}, 0)
		}
		for i, item := range value {
			if !slices.Contains(value[:i], item) {
				c.items.add(doc, item, len(item))
			}
		}
	}
}

func (c *column) remove(doc uint32) {
	c.texts.remove(doc)
	c.items.remove(doc)
	c.numbers.remove(doc)
	c.yes.remove(doc)
	c.empty.remove(doc)
}

func (c *column) renumber(number []uint32) {
	c.texts.renumber(number)
	c.items.renumber(number)
	c.numbers.renumber(number)
	c.yes.renumber(number)
	c.empty.renumber(number)
}

// bytes is about the memory that the column takes, strings included.
func (c *column) bytes() int64 {
	n := c.texts.bytes() + c.items.bytes() + c.numbers.bytes() + c.yes.bytes() + c.empty.bytes()
	for _, kept := range []*atomic.Pointer[prepared]{&c.preparedTexts, &c.preparedItems} {
		if p := kept.Load(); p != nil {
			n += int64(len(p.values)) * int64(unsafe.Sizeof(store.FilterValue{}))
		}
	}
	return n
}

// isEmpty says that no document has the field.
func (c *column) isEmpty() bool {
	return len(c.texts.docs)+len(c.items.docs)+len(c.numbers.docs)+len(c.yes.docs)+len(c.empty.docs) == 0
}

// markAll marks the documents that have the field.
func (c *column) markAll(set Bits) {
	c.texts.markAll(set)
	c.items.markAll(set)
	c.numbers.markAll(set)
	c.yes.markAll(set)
	c.empty.markAll(set)
}

// mark marks the documents that satisfy a comparison other than exists; ne is
// answered as if it were eq.
func (c *column) mark(set Bits, f *store.Filter) {
	if plain, ok := plainTexts(f); ok {
		c.texts.markEqual(set, plain)
		c.items.markEqual(set, plain)
		return
	}
	markTexts(set, &c.texts, &c.preparedTexts, f, false)
	markTexts(set, &c.items, &c.preparedItems, f, true)
	c.numbers.mark(set, f.AcceptsNumber)
	c.yes.mark(set, func(yes bool) bool { return f.Accepts(store.BoolValue(yes), false) })
}

// plainTexts returns the strings that a comparison asks for, if it is for
// equality with strings of which none is a time.
func plainTexts(f *store.Filter) ([]string, bool) {
	wanted := f.In
	switch f.Op {
	case store.FilterIn:
	case store.FilterEq, store.FilterNe:
		wanted = []store.FilterValue{f.Value}
	default:
		return nil, false
	}
	plain := make([]string, 0, len(wanted))
	for _, v := range wanted {
		s, ok := v.Text()
		if !ok {
			return nil, false
		}
		plain = append(plain, s)
	}
	return plain, true
}

// markTexts marks by strings, or items of lists.
func markTexts(set Bits, v *values[string], kept *atomic.Pointer[prepared], f *store.Filter, item bool) {
	if len(v.docs) == 0 {
		return
	}
	if f.Op == store.FilterContains && !item {
		v.mark(set, f.AcceptsPart)
		return
	}
	ready := prepare(v.distinct, kept)
	accepted, any := newBits(len(v.distinct)), false
	for code := range v.distinct {
		if v.counts[code] > 0 && f.Accepts(ready[code], item) {
			accepted.set(uint32(code))
			any = true
		}
	}
	if any {
		v.markCodes(set, accepted)
	}
}

// prepare returns the values prepared for comparison, one for each.
func prepare(distinct []string, kept *atomic.Pointer[prepared]) []store.FilterValue {
	last := kept.Load()
	var ready []store.FilterValue
	if last != nil && last.first == &distinct[0] && len(last.values) <= len(distinct) {
		ready = last.values
	}
	if len(ready) == len(distinct) {
		return ready
	}
	out := make([]store.FilterValue, len(distinct))
	for i := copy(out, ready); i < len(distinct); i++ {
		out[i] = store.TextValue(distinct[i])
	}
	kept.Store(&prepared{&distinct[0], out})
	return out
}
