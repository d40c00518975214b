package builtin_test

import (
	"errors"
	"testing"

	"ragagent/agent/tool/builtin"
	"ragagent/store"
)

func filter(t *testing.T, raw string) *store.Filter {
	t.Helper()
	f, err := store.ParseFilter([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The filter of the run holds whatever the model says.
func TestTheModelNarrowsOnly(t *testing.T) {
	for args, chosen := range map[string][]string{
		`{"query":"q"}`: {"2020 secret", "2020 open"},
		`{"query":"q","filter":{"label":"open"}}`:                                     {"2020 open"},
		`{"query":"q","filter":"{'label': 'open'}"}`:                                  {"2020 open"},
		`{"query":"q","filter":{"year":2021}}`:                                        nil,
		`{"query":"q","filter":{"or":[{"year":2020},{"year":{"exists":true}}]}}`:      {"2020 secret", "2020 open"},
		`{"query":"q","filter":{"not":{"year":2020}}}`:                                nil,
		`{"query":"q","filter":{}}`:                                                   {"2020 secret", "2020 open"},
		`{"query":"q","filter":null}`:                                                 {"2020 secret", "2020 open"},
		`{"query":"q","filter":{"field":"label","op":"ne","value":"open"},"top_k":3}`: {"2020 secret"},
	} {
		r := &recorder{}
		if _, err := call(t, r, builtin.RetrieverConfig{Filter: filter(t, `{"year":2020}`)}, args); err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		var got []string
		for _, doc := range []struct {
			name string
			meta store.Metadata
		}{
			{"2020 secret", store.Metadata{"year": 2020., "label": "secret"}},
			{"2020 open", store.Metadata{"year": 2020., "label": "open"}},
			{"2021 open", store.Metadata{"year": 2021., "label": "open"}},
		} {
			if r.asked[0].Filter.Match(func(name string) any { return doc.meta[name] }) {
				got = append(got, doc.name)
			}
		}
		if len(got) != len(chosen) || len(got) > 0 && got[0] != chosen[0] {
			t.Errorf("%s finds %v, want %v", args, got, chosen)
		}
	}
}

func TestBadFiltersAreToldToTheModel(t *testing.T) {
	r := &recorder{}
	_, err := call(t, r, builtin.RetrieverConfig{}, `{"query":"q","filter":{"year":{"around":2020}}}`)
	var invalid *store.FieldError
	if !errors.As(err, &invalid) || invalid.Field != "filter.year.around" || len(r.asked) > 0 {
		t.Errorf("%v after %d searches", err, len(r.asked))
	}
}
