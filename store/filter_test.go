package store_test

import (
	"errors"
	"strings"
	"testing"

	"ragagent/store"
)

func TestFilterMatch(t *testing.T) {
	doc := store.Metadata{
		"year": 2021.0, "author": "Ada", "draft": false, "tags": []string{"red", "2024-05-01"},
		"published": "2024-05-01T10:00:00Z", "version": "1.10", "path": "reports/2024/q1.md", "zero": 0.0,
	}
	for _, c := range []struct {
		filter string
		want   bool
	}{
		{``, true}, {`null`, true}, {`{}`, true},
		{`{"field":"year","op":"eq","value":2021}`, true},
		{`{"field":"year","op":"eq","value":"2021"}`, false},
		{`{"year":2021}`, true},
		{`{"year":{"ge":2020,"lt":2021}}`, false},
		{`{"year":{"$gte":2020,"$lte":2021}}`, true},
		{`{"key":"year","type":"gt","value":2021}`, false},
		{`{"field":"zero","op":"ge","value":0}`, true},
		{`{"author":{"ne":"Bob"},"draft":false}`, true},
		{`{"missing":{"ne":"x"}}`, true},
		{`{"missing":{"lt":5}}`, false},
		{`{"missing":{"exists":false}}`, true},
		{`{"author":{"exists":true}}`, true},
		{`{"field":"author","op":"exists"}`, true},
		{`{"author":["Bob","Ada"]}`, true},
		{`{"author":{"nin":["Bob","Ada"]}}`, false},
		{`{"tags":"red"}`, true},
		{`{"tags":{"ne":"red"}}`, false},
		{`{"tags":{"contains":"re"}}`, false},
		{`{"tags":{"contains":"red"}}`, true},
		{`{"tags":["blue","red"]}`, true},
		{`{"path":{"contains":"2024/"}}`, true},
		{`{"published":{"gt":"2024-05-01"}}`, true},
		{`{"published":{"lt":"2024-05-01T12:00:00+02:00"}}`, false},
		{`{"published":"2024-05-01T12:00:00+02:00"}`, true},
		{`{"version":{"lt":"1.9"}}`, true},        // no numbers in strings
		{`{"author":{"gt":"2024-01-01"}}`, false}, // no time is after one
		{`{"version":{"lt":"2024-01-01"}}`, false},
		{`{"published":{"gt":"2024"}}`, true},  // which is no time: by letters
		{`{"type":"report","value":1}`, false}, // fields of these names
		{`{"author":{"lt":5}}`, false},
		{`{"year":{"lt":"3000"}}`, false},
		{`{"and":[{"year":2021},{"author":"Ada"}]}`, true},
		{`{"or":[{"year":1999},{"author":"Ada"}]}`, true},
		{`{"$or":[{"year":1999},{"author":"Bob"}]}`, false},
		{`{"not":{"year":1999}}`, true},
		{`{"not":{"missing":"x"}}`, true},
		{`{"type":"or","filters":[{"type":"eq","key":"year","value":1},{"type":"eq","key":"author","value":"Ada"}]}`, true},
		{`{"type":"report"}`, false}, // a field of that name
		{`{"year":{"in":[]}}`, false},
	} {
		f, err := store.ParseFilter([]byte(c.filter))
		if err != nil {
			t.Errorf("%s: %v", c.filter, err)
			continue
		}
		got := f.Match(func(name string) any { return doc[name] })
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.filter, got, c.want)
		}
	}
}

func TestFilterErrorsNameThePlace(t *testing.T) {
	for _, c := range []struct{ filter, field string }{
		{`[]`, "filter"},
		{`"x"`, "filter"},
		{`{"year":`, "filter"},
		{`{"field":"year","op":"between","value":1}`, "filter"},
		{`{"field":"year","op":"eq"}`, "filter"},
		{`{"field":"year","value":2020}`, "filter.op"},
		{`{"not":{"field":"year","value":2020}}`, "filter.not.op"},
		{`{"op":"eq","value":2020}`, "filter.field"},
		{`{"field":"year","op":"eq","value":2020,"boost":2}`, "filter.boost"},
		{`{"and":[{"key":"year","type":"nin","value":[1],"author":"Ada"}]}`, "filter.and[0].author"},
		{`{"field":"year","op":"exists","author":"Ada"}`, "filter.author"},
		{`{"year":{"foo":1}}`, "filter.year.foo"},
		{`{"year":{}}`, "filter.year"},
		{`{"year":null}`, "filter.year"},
		{`{"year":[1,{}]}`, "filter.year[1]"},
		{`{"year":{"in":3}}`, "filter.year.in"},
		{`{"and":[{"year":1},{}]}`, "filter.and[1]"},
		{`{"not":{}}`, "filter.not"},
		{`{"year":1,"not":{}}`, "filter.not"},
		{`{"or":[]}`, "filter.or"},
		{`{"$foo":1}`, "filter.$foo"},
		{`{"draft":{"lt":true}}`, "filter.draft.lt"},
		{`{"tags":{"contains":1}}`, "filter.tags.contains"},
		{`{"tags":{"exists":1}}`, "filter.tags.exists"},
		{strings.Repeat(`{"not":`, 20) + `{"a":1}` + strings.Repeat(`}`, 20), "filter" + strings.Repeat(".not", 17)},
		{`{"or":[` + strings.Repeat(`{"a":1},`, 1000) + `{"a":1}]}`, "filter.or[1000].a"},
	} {
		_, err := store.ParseFilter([]byte(c.filter))
		var invalid *store.FieldError
		if !errors.As(err, &invalid) || invalid.Field != c.field {
			t.Errorf("%.60s: %v, want the field %q", c.filter, err, c.field)
		}
	}
}

func FuzzParseFilter(f *testing.F) {
	f.Add([]byte(`{"and":[{"year":{"ge":1}},{"not":{"field":"a","op":"in","value":["b"]}}]}`))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		filter, err := store.ParseFilter(raw)
		if err == nil {
			filter.Match(func(string) any { return "2024-01-01" })
			filter.Fields(nil)
		}
	})
}
