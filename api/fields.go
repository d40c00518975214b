package api

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// strangeFields finds the fields of a JSON text that the type it was decoded
// into does not have, and those that stand there twice, with their paths.
// encoding/json alone stops at the first, tells no path and takes names in any
// case. The text is known to be valid and is not copied.
func strangeFields(body []byte, t reflect.Type) []ProblemField {
	w := fieldWalker{body: body}
	w.value(t, "")
	return w.found
}

type fieldWalker struct {
	body  []byte
	at    int
	found []ProblemField
}

// value passes one value of type t; nil means a value of no interest.
func (w *fieldWalker) value(t reflect.Type, path string) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	w.space()
	switch c := w.body[w.at]; {
	case c == '{' && t != nil && t.Kind() == reflect.Struct:
		w.object(t, path)
	case c == '[' && t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		w.array(t.Elem(), path)
	default:
		w.skip()
	}
}

func (w *fieldWalker) object(t reflect.Type, path string) {
	fields, seen := jsonFields(t), map[string]bool{}
	w.items('}', func(int) {
		start := w.at
		w.skip()
		var name string
		_ = json.Unmarshal(w.body[start:w.at], &name) // a valid string
		w.space()
		w.at++ // the colon
		at := name
		if path != "" {
			at = path + "." + name
		}
		field, known := fields[name]
		switch {
		case !known:
			w.found = append(w.found, ProblemField{Field: at, Detail: "is not a known field"})
		case seen[name]:
			w.found = append(w.found, ProblemField{Field: at, Detail: "stands here twice"})
		}
		seen[name] = true
		w.value(field, at)
	})
}

func (w *fieldWalker) array(elem reflect.Type, path string) {
	w.items(']', func(i int) { w.value(elem, path+"["+strconv.Itoa(i)+"]") })
}

// items passes what stands between an opening bracket and end.
func (w *fieldWalker) items(end byte, item func(i int)) {
	w.at++
	for i := 0; ; i++ {
		w.space()
		if w.body[w.at] == ',' {
			w.at++
			w.space()
		}
		if w.body[w.at] == end {
			w.at++
			return
		}
		item(i)
	}
}

// skip passes one value of any kind, whatever is in it.
func (w *fieldWalker) skip() {
	depth := 0
	for {
		switch w.body[w.at] {
		case '{', '[':
			depth++
			w.at++
		case '}', ']':
			depth--
			w.at++
		case '"':
			w.text()
		case ',', ':', ' ', '\t', '\r', '\n':
			w.at++
			continue
		default:
			w.word()
		}
		if depth == 0 {
			return
		}
	}
}

func (w *fieldWalker) text() {
	for w.at++; w.body[w.at] != '"'; w.at++ {
		if w.body[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
}

// word passes a number, true, false or null.
func (w *fieldWalker) word() {
	for w.at < len(w.body) && !strings.ContainsRune(",:]} \t\r\n", rune(w.body[w.at])) {
		w.at++
	}
}

func (w *fieldWalker) space() {
	for strings.ContainsRune(" \t\r\n", rune(w.body[w.at])) {
		w.at++
	}
}

func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}
