package attributes_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/retrieval/attributes"
	"ragagent/store"
)

// drawValue draws few values, so that documents share them.
func drawValue(t *rapid.T, label string) any {
	return rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{"", "a", "ab", "B", "2024-05-01", "2024-05-01T02:00:00+02:00", "2023-12-31T00:00:00Z", "10"}),
			func(s string) any { return s }),
		rapid.Map(rapid.SampledFrom([]float64{-1, 0, 1, 2.5, 10}), func(n float64) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
	).Draw(t, label)
}

func drawMetadata(t *rapid.T) store.Metadata {
	m := store.Metadata{}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"x", "y", "z", "name", "path"}), rapid.ID[string]).Draw(t, "fields") {
		m[name] = drawValue(t, name)
		if rapid.IntRange(0, 3).Draw(t, "list") == 0 {
			m[name] = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ab", "2024-05-01", "a"}), 0, 3).Draw(t, "items")
		}
		if name == "path" {
			m[name] = rapid.SampledFrom([]string{"a/b/c.md", "/a/x", "top.md", "a//b/", ""}).Draw(t, "path")
		}
	}
	return m
}

// drawFilter draws a filter as a client writes it.
func drawFilter(t *rapid.T, depth int) map[string]any {
	kinds := 4
	if depth == 0 {
		kinds = 1
	}
	list := func() (out []any) {
		for range rapid.IntRange(1, 3).Draw(t, "n") {
			out = append(out, drawFilter(t, depth-1))
		}
		return out
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 1:
		return map[string]any{"and": list()}
	case 2:
		return map[string]any{"or": list()}
	case 3:
		return map[string]any{"not": drawFilter(t, depth-1)}
	}
	op := rapid.SampledFrom([]string{"eq", "ne", "lt", "le", "gt", "ge", "in", "nin", "contains", "exists"}).Draw(t, "op")
	field := rapid.SampledFrom([]string{"x", "y", "z", "name", "none", "path", "folder", "bytes", "created_at"}).Draw(t, "field")
	value := drawValue(t, "value")
	switch op {
	case "in", "nin":
		value = []any{value, drawValue(t, "other")}
	case "contains":
		value = rapid.SampledFrom([]string{"a", "b", "2024", "2024-05-01", "a/b"}).Draw(t, "part")
	case "exists":
		value = rapid.Bool().Draw(t, "wanted")
	}
	return map[string]any{"field": field, "op": op, "value": value}
}

// The table chooses what Match chooses, whatever came, changed and went.
func TestResolveIsMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := attributes.New()
		docs := map[string]*store.Document{}
		for step := range rapid.IntRange(0, 40).Draw(t, "steps") {
			id := fmt.Sprintf("doc_%d", rapid.IntRange(0, 9).Draw(t, "document"))
			if rapid.IntRange(0, 4).Draw(t, "what") == 0 {
				table.Remove(id)
				delete(docs, id)
				continue
			}
			docs[id] = &store.Document{
				ID: id, Name: "name " + id, Bytes: int64(step % 3), Metadata: drawMetadata(t),
				CreatedAt: time.Date(2024, 1, step, 0, 0, 0, 0, time.UTC),
			}
			table.Put(docs[id])
		}
		for range 5 {
			checkFilter(t, table, docs, drawFilter(t, 2))
		}
	})
}

func checkFilter(t *rapid.T, table *attributes.Table, docs map[string]*store.Document, written any) {
	raw, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	filter, err := store.ParseFilter(raw)
	if err != nil {
		return // such as lt of a boolean
	}
	set := table.Resolve(filter)
	got, want := []string{}, []string{}
	for id, doc := range docs {
		if set.Documents.Has(set.Numbering.Number(id)) {
			got = append(got, id)
		}
		if filter.Match(doc.Field) {
			want = append(want, id)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" || set.Count != len(want) || set.Total != len(docs) {
		t.Fatalf("%s: %s (%d of %d)", raw, diff, set.Count, set.Total)
	}
}

// Many documents that came and went leave neither numbers nor values behind,
// and a set made before still means the documents it meant.
func TestChurn(t *testing.T) {
	table := attributes.New()
	table.Put(&store.Document{ID: "stays", Metadata: store.Metadata{"x": "kept"}})
	old := table.Resolve(nil)
	for i := range 1000 {
		id := fmt.Sprint(i)
		table.Put(&store.Document{ID: id, Metadata: store.Metadata{"x": id, id: true}})
		table.Remove(id)
	}
	if !old.Documents.Has(old.Numbering.Number("stays")) {
		t.Error("an old set has lost its document")
	}
	f, err := store.ParseFilter([]byte(`{"x":"kept"}`))
	if err != nil {
		t.Fatal(err)
	}
	set := table.Resolve(f)
	if !set.Documents.Has(set.Numbering.Number("stays")) || set.Count != 1 || set.Total != 1 || len(set.Documents) > 3 {
		t.Errorf("%+v", set)
	}
	names := []string{}
	for _, f := range table.Fields(10) {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"bytes", "document_id", "x"}, names); diff != "" {
		t.Error(diff)
	}
	if n := table.Bytes(); n > 40_000 {
		t.Errorf("%d bytes for one document", n)
	}
}

func TestFields(t *testing.T) {
	table := attributes.New()
	for i, m := range []store.Metadata{
		{"tags": []string{"red", "blue", "red"}, "year": 2020., "when": "2024-05-01", "odd": "x"},
		{"tags": []string{"red"}, "year": 2022., "when": "2023-01-01T00:00:00Z", "odd": true},
		{"tags": []string{}, "year": 2020., "draft": true},
	} {
		table.Put(&store.Document{ID: fmt.Sprint(i), Metadata: m})
	}
	want := []attributes.Field{
		{Name: "bytes", Type: "number", Documents: 3, Distinct: 1, Values: []attributes.Count{{0., 3}}, Least: 0., Most: 0., BuiltIn: true},
		{Name: "document_id", Type: "string", Documents: 3, Distinct: 3, Values: []attributes.Count{{"0", 1}, {"1", 1}}, BuiltIn: true},
		{Name: "draft", Type: "boolean", Documents: 1, Distinct: 1, Values: []attributes.Count{{true, 1}}},
		{Name: "odd", Type: "mixed", Documents: 2, Distinct: 2, Values: []attributes.Count{{"x", 1}, {true, 1}}},
		{Name: "tags", Type: "list", Documents: 3, Distinct: 2, Values: []attributes.Count{{"red", 2}, {"blue", 1}}},
		{
			Name: "when", Type: "time", Documents: 2, Distinct: 2, Least: "2023-01-01T00:00:00Z", Most: "2024-05-01",
			Values: []attributes.Count{{"2023-01-01T00:00:00Z", 1}, {"2024-05-01", 1}},
		},
		{Name: "year", Type: "number", Documents: 3, Distinct: 2, Values: []attributes.Count{{2020., 2}, {2022., 1}}, Least: 2020., Most: 2022.},
	}
	if diff := cmp.Diff(want, table.Fields(2)); diff != "" {
		t.Error(diff)
	}
}
