package tabular

import (
	"fmt"
	"slices"
	"strings"

	"ragagent/ingest/parse/doc"
)

// records writes JSON values as text.
type records struct {
	out doc.Sink
	*table
	field  string // name of the value to come, if it is no array or object
	headed bool   // the record before has a heading
	arrays int    // of numbers that were shortened
	blobs  int    // texts that are encoded data
}

// Bounds of what is written of a value.
const (
	maxNumbers = 64  // of an array; what has more is a vector, not text
	fewNumbers = 8   // that are written of it
	blobBytes  = 400 // without a blank, from which a text is encoded data
)

// field is a value with the path that leads to it.
type field struct{ name, value string }

// record is what an object says, laid out for reading.
type record struct {
	facts []field
	prose []field
	lists []row // objects in arrays, one each
}

type row struct{ names, values []string }

// element writes an element of an array or a line of JSON Lines.
func (w *records) element(v *node, names []string, level int) {
	switch v.kind {
	case objectNode:
		w.object(v, level)
	case arrayNode:
		if cells, ok := w.scalars(v); ok {
			w.names = names
			w.count++
			w.line(doc.Row(cells))
			return
		}
		w.object(&node{kind: objectNode, names: make([]string, len(v.members)), members: v.members}, level)
	default:
		w.scalar(v)
	}
}

// object writes a record: what it is, its facts in a row, and its texts. One
// with texts has a heading, and so have those that follow it.
func (w *records) object(v *node, level int) {
	w.count++
	var r record
	w.collect(&r, "", v)
	rankFields(r.facts)
	if len(r.prose) > 0 || w.headed {
		w.flush()
		w.headed = true
		w.heading(level, r.title(w.count))
	}
	var line row
	for _, f := range r.facts {
		line.names = append(line.names, f.name)
		line.values = append(line.values, f.value)
	}
	w.line(doc.RecordRow(line.names, line.values))
	for _, l := range r.lists {
		w.line(doc.RecordRow(l.names, l.values))
	}
	if len(r.prose) > 0 {
		w.flush()
	}
	for _, f := range r.prose {
		name := f.name
		if len(r.prose) == 1 {
			name = ""
		}
		addProse(w.out, name, f.value)
	}
}

// collect lays out a value: nested names are dotted.
func (w *records) collect(r *record, path string, v *node) {
	switch v.kind {
	case objectNode:
		for i, m := range v.members {
			w.collect(r, join(path, v.names[i]), m)
		}
	case arrayNode:
		w.collectArray(r, path, v)
	default:
		text := w.text(v)
		if v.kind == textNode && isProse(text) {
			r.prose = append(r.prose, field{path, text})
		} else if strings.TrimSpace(text) != "" {
			r.facts = append(r.facts, field{path, text})
		}
	}
}

func (w *records) collectArray(r *record, path string, v *node) {
	if cells, ok := w.scalars(v); ok {
		text := joinTexts(cells)
		if isProse(text) {
			r.prose = append(r.prose, field{path, text})
		} else if text != "" {
			r.facts = append(r.facts, field{path, text})
		}
		return
	}
	for _, m := range v.members {
		var inner record
		w.collect(&inner, path, m)
		var line row
		for _, f := range inner.facts {
			line.names, line.values = append(line.names, f.name), append(line.values, f.value)
		}
		if len(line.names) > 0 {
			r.lists = append(r.lists, line)
		}
		r.lists = append(r.lists, inner.lists...)
		r.prose = append(r.prose, inner.prose...)
	}
}

// scalars returns the elements of an array that has neither arrays nor objects.
// Of a vector the beginning is returned.
func (w *records) scalars(v *node) ([]string, bool) {
	cells := make([]string, 0, len(v.members))
	numbers := 0
	for _, m := range v.members {
		switch m.kind {
		case arrayNode, objectNode:
			return nil, false
		case numberNode:
			numbers++
		}
		cells = append(cells, w.text(m))
	}
	if numbers > maxNumbers && numbers == len(cells) {
		w.arrays++
		cells = append(cells[:fewNumbers], "...")
	}
	return cells, true
}

// joinTexts joins the elements of an array; lines, as notebooks have them, are
// put together again.
func joinTexts(cells []string) string {
	lines := 0
	for _, cell := range cells {
		if strings.HasSuffix(cell, "\n") {
			lines++
		}
	}
	if lines > 0 && lines >= len(cells)-1 {
		return strings.Join(cells, "")
	}
	return strings.Join(slices.DeleteFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "" }), ", ")
}

// text returns a value that is neither array nor object.
func (w *records) text(v *node) string {
	if v.kind == textNode && len(v.text) >= blobBytes && !strings.ContainsAny(v.text[:blobBytes], " \n\t") && isASCII(v.text[:blobBytes]) {
		w.blobs++
		return ""
	}
	return v.text
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

func join(path, name string) string {
	switch {
	case path == "":
		return name
	case name == "":
		return path
	}
	return path + "." + name
}

// root writes the value of a file or of a member of a large object: the facts
// of an object, then what it holds under headings.
func (w *records) root(v *node, level int) {
	switch v.kind {
	case arrayNode:
		w.list(v, level)
	case objectNode:
		w.tree(v, level)
	default:
		w.scalar(v)
	}
}

// list writes an array: its elements as records, plain values as one list.
func (w *records) list(v *node, level int) {
	if cells, ok := w.scalars(v); ok {
		w.flush()
		var items []string
		for _, cell := range cells {
			if cell = strings.Join(strings.Fields(cell), " "); cell != "" {
				items = append(items, "- "+cell)
			}
		}
		w.count++
		w.out.Add(doc.Block{Kind: doc.List, Text: strings.Join(items, "\n")})
		return
	}
	for _, m := range v.members {
		w.element(m, nil, level)
	}
}

// substance is the text in bytes from which a nested object or array stands
// under a heading of its own.
const substance = 200

// tree writes an object that is no record among others.
func (w *records) tree(v *node, level int) {
	w.flush()
	facts := &node{kind: objectNode}
	parts := &node{kind: objectNode}
	for i, m := range v.members {
		to := facts
		if (m.kind == objectNode || m.kind == arrayNode && !plain(m)) && weight(m, substance) >= substance {
			to = parts
		}
		to.names = append(to.names, v.names[i])
		to.members = append(to.members, m)
	}
	if len(facts.members) > 0 {
		var r record
		w.collect(&r, "", facts)
		w.count++
		var line row
		for _, f := range r.facts {
			line.names, line.values = append(line.names, f.name), append(line.values, f.value)
		}
		w.line(doc.RecordRow(line.names, line.values))
		for _, l := range r.lists {
			w.line(doc.RecordRow(l.names, l.values))
		}
		w.flush()
		for _, f := range r.prose {
			addProse(w.out, f.name, f.value)
		}
	}
	for i, m := range parts.members {
		w.flush()
		w.headed = false
		w.heading(level, parts.names[i])
		w.root(m, min(level+1, maxLevel))
	}
	w.flush()
}

// plain says that an array holds neither arrays nor objects.
func plain(v *node) bool {
	for _, m := range v.members {
		if m.kind == arrayNode || m.kind == objectNode {
			return false
		}
	}
	return true
}

// weight adds up the bytes of a value's texts, as far as enough.
func weight(v *node, enough int) int {
	n := len(v.text)
	for i, m := range v.members {
		if n >= enough {
			break
		}
		if i < len(v.names) {
			n += len(v.names[i])
		}
		n += weight(m, enough-n)
	}
	return n
}

func (w *records) scalar(v *node) {
	name := w.field
	w.field = ""
	if text := w.text(v); strings.TrimSpace(text) != "" {
		w.count++
		addProse(w.out, name, text)
	}
}

// heading writes what stands above a record or a part.
func (w *records) heading(level int, text string) {
	const most = 200
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	w.out.Add(doc.Block{Kind: doc.Heading, Level: min(max(level, 1), maxLevel), Text: text})
}

// report tells what was left out.
func (w *records) report() {
	if w.arrays > 0 {
		w.out.Warn(fmt.Sprintf("%d long lists of numbers were shortened", w.arrays))
	}
	if w.blobs > 0 {
		w.out.Warn(fmt.Sprintf("%d values are encoded data and were left out", w.blobs))
	}
}

// title is what a record calls itself, else what identifies it, else its
// number.
func (r record) title(number int) string {
	if len(r.facts) > 0 && rank(r.facts[0].name) < otherRank {
		return r.facts[0].value
	}
	return fmt.Sprintf("Record %d", number)
}

const otherRank = 2

// rank orders the fields of a record: what it is called, what identifies it,
// anything else.
func rank(name string) int {
	switch strings.ToLower(name) {
	case "title", "name", "headline", "subject", "question", "label", "heading", "displayname", "display_name", "full_name":
		return 0
	case "id", "_id", "uuid", "key", "code", "number", "sku", "slug", "url", "doi":
		return 1
	}
	return otherRank
}

func rankFields(fields []field) {
	slices.SortStableFunc(fields, func(a, b field) int { return rank(a.name) - rank(b.name) })
}
