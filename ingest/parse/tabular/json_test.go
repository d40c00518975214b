package tabular

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/parse/doc"
)

func TestReadJSON(t *testing.T) {
	prose := strings.TrimSpace(strings.Repeat("This is what the text says. ", 20))
	tests := []struct {
		name, text string
		want       []string
	}{
		{"records", `[{"id": 7, "name": "nut", "size": {"w": 1.50, "h": 2e3}}, {"name": "bolt", "tags": ["a", "b"], "gone": null}]`,
			[]string{"table: name: nut | id: 7 | size.w: 1.50 | size.h: 2e3\nname: bolt | tags: a, b"}},
		{"lines", "{\"a\": 1}\n{\"a\": 2\n\n{\"a\": 3}\n", []string{"table: a: 1\na: 3"}},
		{"lines of arrays", "[1, \"x\"]\n[2, \"y\"]\n", []string{"table: 1 | x\n2 | y"}},
		{"one after the other", "{\n\"a\": 1\n}\n{\n\"a\": 2}", []string{"table: a: 1", "table: a: 2"}},
		{"a text in a record", `[{"title": "One", "body": "` + prose + `"}, {"title": "Two", "n": 2}]`,
			[]string{"h1: One", "table: title: One", "paragraph: " + prose, "h1: Two", "table: title: Two | n: 2"}},
		{"paragraphs", `[{"body": "a\n\nb"}]`, []string{"h1: Record 1", "paragraph: a", "paragraph: b"}},
		{"objects in a record", `[{"id": 1, "lines": [{"sku": "x", "n": 2}, {"sku": "y"}]}]`,
			[]string{"table: id: 1\nlines.sku: x | lines.n: 2\nlines.sku: y"}},
		{"a tree", `{"version": "1.2", "server": {"port": 80, "host": "` + strings.Repeat("h", 200) + `"}, "log": {"level": "info"}}`,
			[]string{"table: version: 1.2 | log.level: info", "h1: server", "table: port: 80 | host: " + strings.Repeat("h", 200)}},
		{"records within", `{"count": 2, "items": [{"name": "a", "note": "` + strings.Repeat("word ", 40) + `"}, {"name": "b"}]}`,
			[]string{"table: count: 2", "h1: items", "table: name: a | note: " + strings.TrimSpace(strings.Repeat("word ", 40)) + "\nname: b"}},
		{"plain values", `["x", 2, true, null]`, []string{"list: - x\n- 2\n- true"}},
		{"one text", `"hello"`, []string{"paragraph: hello"}},
		{"escapes", `{"a": "\u00e9\ud83d\ude42\n\/\"x\ud800"}`, []string{"table: a: é🙂 /\"x\ufffd"}},
		{"liberties", "// settings\n{\"a\": 1, /* more */ \"b\": [1, 2,], }", []string{"table: a: 1 | b: 1, 2"}},
		{"it breaks off", `[{"a": 1}, {"a": 2}, {"a": `, []string{"table: a: 1\na: 2"}},
		{"vectors", `[{"a": "x", "v": [` + strings.Repeat("0.5,", 99) + `0.5]}]`, []string{"table: a: x | v: " + strings.Repeat("0.5, ", 8) + "..."}},
		{"lines of a notebook", `{"cells": [{"cell_type": "markdown", "source": ["# Title\n", "` + prose + `"]}]}`,
			[]string{"h1: cells", "h2: Record 1", "table: cell_type: markdown", "paragraph: # Title\n" + prose}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(ReadJSON, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.blocks); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJSONWarnings(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"{\"a\": 1}\n{\"a\": \n{\"a\": 3}\nx\n", "2 lines are not JSON and were left out"},
		{`[{"a": 1}, {`, "the JSON is damaged at 1 places; what follows them may be missing"},
	} {
		got, err := read(ReadJSON, tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{tt.want}, got.warnings); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := read(ReadJSON, "{nothing"); !errors.Is(err, doc.ErrDamaged) {
		t.Errorf("got %v, want %v", err, doc.ErrDamaged)
	}
}

// TestLargeJSON is a file whose one array passes what is held at once.
func TestLargeJSON(t *testing.T) {
	const n = 50_000
	var text strings.Builder
	text.WriteString(`{"source": "test", "rows": [`)
	for i := range n {
		fmt.Fprintf(&text, `{"id": %d, "note": "row number %d of the file"},`, i, i)
	}
	text.WriteString(`{"id": -1}], "end": "reached"}`)
	got, err := read(ReadJSON, text.String())
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, b := range got.blocks {
		rows += strings.Count(b, "id: ")
	}
	if rows != n+1 {
		t.Errorf("%d rows, want %d", rows, n+1)
	}
	if first, last := got.blocks[1], got.blocks[len(got.blocks)-1]; first != "h1: rows" || last != "paragraph: end: reached" {
		t.Errorf("got %q and %q", first, last)
	}
}

func TestDeepJSON(t *testing.T) {
	for _, text := range []string{strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<18), strings.Repeat("[[[[[[[[[[\n", 1000)} {
		if _, err := read(ReadJSON, text); !errors.Is(err, doc.ErrDamaged) {
			t.Errorf("got %v, want %v", err, doc.ErrDamaged)
		}
	}
}

func FuzzReadJSON(f *testing.F) {
	f.Add(`{"a": [1, {"b": "c\u00e9"}], "d": null}`)
	f.Add("{\"a\": 1}\n{\"a\": 2}\n")
	f.Add(`[{"title": "x", "text": "a\n\nb"}, // c`)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := read(ReadJSON, text); err != nil && !errors.Is(err, doc.ErrDamaged) {
			t.Fatal(err)
		}
	})
}
