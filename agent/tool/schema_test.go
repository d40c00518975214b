package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"ragagent/agent/tool"
)

const schema = `{"type":"object","required":["query"],"additionalProperties":false,"properties":{
	"query":{"type":"string","minLength":1},
	"top_k":{"type":"integer","minimum":1,"maximum":20,"default":5},
	"exact":{"type":"boolean"},
	"score":{"type":"number"},
	"lang":{"type":"string","enum":["en","de"]},
	"tags":{"type":"array","items":{"type":"string"}},
	"range":{"type":"object","properties":{"from":{"type":"integer"}},"required":["from"]}}}`

func compile(t *testing.T, raw string) *tool.Schema {
	t.Helper()
	s, err := tool.CompileSchema(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCast(t *testing.T) {
	s := compile(t, schema)
	for in, want := range map[string]string{
		`{"query":"a"}`:                                 `{"query":"a","top_k":5}`,
		`{"query":"a","top_k":"3"}`:                     `{"query":"a","top_k":3}`,
		`{"query":"a","top_k":3.0}`:                     `{"query":"a","top_k":3}`,
		`{"query":"a","top_k":1e1}`:                     `{"query":"a","top_k":10}`,
		`{"query":"a","top_k":null}`:                    `{"query":"a","top_k":5}`,
		`{"query":"a","exact":"yes"}`:                   `{"exact":true,"query":"a","top_k":5}`,
		`{"query":"a","exact":"False"}`:                 `{"exact":false,"query":"a","top_k":5}`,
		`{"query":"a","exact":1}`:                       `{"exact":true,"query":"a","top_k":5}`,
		`{"query":"a","score":"0.5"}`:                   `{"query":"a","score":0.5,"top_k":5}`,
		`{"query":17}`:                                  `{"query":"17","top_k":5}`,
		`{"query":"a","lang":"EN"}`:                     `{"lang":"en","query":"a","top_k":5}`,
		`{"query":"a","tags":"x"}`:                      `{"query":"a","tags":["x"],"top_k":5}`,
		`{"query":"a","tags":"[\"x\",2]"}`:              `{"query":"a","tags":["x","2"],"top_k":5}`,
		`{"query":"a","range":"{\"from\":\"3\"}"}`:      `{"query":"a","range":{"from":3},"top_k":5}`,
		`{"query":"a","bogus":1}`:                       `{"query":"a","top_k":5}`,
		"```json\n{\"query\": \"a\"}\n```":              `{"query":"a","top_k":5}`,
		`{'query': 'it\'s', 'exact': True,}`:            `{"exact":true,"query":"it's","top_k":5}`,
		`{query: "a" /* why */}`:                        `{"query":"a","top_k":5}`,
		`"{\"query\":\"a\"}"`:                           `{"query":"a","top_k":5}`,
		`"the tide"`:                                    `{"query":"the tide","top_k":5}`,
		`the tide`:                                      `{"query":"the tide","top_k":5}`,
		`"query": "a", "top_k": 3`:                      `{"query":"a","top_k":3}`,
		`"a": "b"`:                                      `{"query":"\"a\": \"b\"","top_k":5}`,
		`{"query":"a\u00e9\ud83d\ude00","score":-1e-3}`: `{"query":"aé😀","score":-1e-3,"top_k":5}`,
	} {
		got, err := s.Cast(json.RawMessage(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if string(got) != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
	}
}

func TestCastRefuses(t *testing.T) {
	s := compile(t, schema)
	for in, want := range map[string]string{
		``:                                `"query" is required`,
		`{}`:                              `"query" is required`,
		`{"query":"a"`:                    `the arguments are not valid JSON: the JSON is cut off; write one JSON object`,
		`{"query":"a"} and {"query":1}`:   `the arguments are not valid JSON: unexpected "and {\"query\":1}" after the JSON value; write one JSON object`,
		`{"query":"a","top_k":2.5}`:       `"top_k" has to be of type integer, not 2.5`,
		`{"query":"a","top_k":0}`:         `"top_k" has to be at least 1, not 0`,
		`{"query":"a","top_k":99}`:        `"top_k" has to be at most 20, not 99`,
		`{"query":"a","exact":"perhaps"}`: `"exact" has to be of type boolean, not "perhaps"`,
		`{"query":"a","lang":"fr"}`:       `"lang" has to be one of "en", "de", not "fr"`,
		`{"query":["a"]}`:                 `"query" has to be of type string, not ["a"]`,
		`{"query":"a","range":{}}`:        `"range.from" is required`,
		`{"query":""}`:                    `"query" may not be empty`,
		`{"query":"` + strings.Repeat("a", tool.MaxArguments) + `"}`: `the arguments are longer than 65536 bytes`,
		strings.Repeat("[", 100):                                     `the arguments are not valid JSON: the JSON is nested too deeply; write one JSON object`,
	} {
		got, err := s.Cast(json.RawMessage(in))
		if err == nil {
			t.Errorf("%.60s gives %s", in, got)
		} else if err.Error() != want {
			t.Errorf("%.60s: %q, want %q", in, err, want)
		}
	}
}

// TestCastForgives what carries no doubt, in schemas as generators write them.
func TestCastForgives(t *testing.T) {
	s := compile(t, `{"type":"object","required":["n"],"$defs":{"Unit":{"type":"string","enum":["km","mi"]},"Leg":{"type":"object","required":["km"],"properties":{"km":{"type":"number"}}}},
		"properties":{"n":{"type":"integer"},"ratio":{"type":"number"},"on":{"type":"boolean"},"unit":{"$ref":"#/$defs/Unit"},"unit_two":{"allOf":[{"$ref":"#/$defs/Unit"}],"default":"mi"},
		"most":{"anyOf":[{"type":"integer"},{"type":"null"}]},"id":{"anyOf":[{"type":"integer"},{"type":"string"}]},"legs":{"type":"array","items":{"$ref":"#/$defs/Leg"}}}}`)
	for in, want := range map[string]string{
		`{"n":"three"}`:                          `{"n":3}`,
		`{"n":"twenty-five"}`:                    `{"n":25}`,
		`{"n":"two hundred and one"}`:            `{"n":201}`,
		`{"n":"minus three thousand"}`:           `{"n":-3000}`,
		`{"n":"1e3"}`:                            `{"n":1000}`,
		`{"n":"1,000"}`:                          `{"n":1000}`,
		`{"n":" 7 "}`:                            `{"n":7}`,
		`{"n":1,"ratio":"1,234.5"}`:              `{"n":1,"ratio":1234.5}`,
		`{"n":1,"ratio":"two"}`:                  `{"n":1,"ratio":2}`,
		`{"n":1,"on":"ON"}`:                      `{"n":1,"on":true}`,
		`{"N":1}`:                                `{"n":1}`,
		`{"n":1,"unitTwo":"KM"}`:                 `{"n":1,"unit_two":"km"}`,
		`{"arguments":{"n":1}}`:                  `{"n":1}`,
		`{"n":1,"unit":"KM"}`:                    `{"n":1,"unit":"km"}`,
		`{"n":1,"most":"5"}`:                     `{"most":5,"n":1}`,
		`{"n":1,"most":null}`:                    `{"most":null,"n":1}`,
		`{"n":1,"id":"5"}`:                       `{"id":"5","n":1}`,
		`{"n":1,"id":5}`:                         `{"id":5,"n":1}`,
		`{"n":1,"legs":[{"km":"2"},{"km":"1"}]}`: `{"legs":[{"km":2},{"km":1}],"n":1}`,
		`{"n":1,"legs":{"km":"2"}}`:              `{"legs":[{"km":2}],"n":1}`,
	} {
		if !strings.Contains(want, "unit_two") {
			want = want[:len(want)-1] + `,"unit_two":"mi"}`
		}
		if got, err := s.Cast(json.RawMessage(in)); err != nil || string(got) != want {
			t.Errorf("%s gives %s, %v, want %s", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		`{"n":"1,5"}`:                   `"n" has to be of type integer, not "1,5"`,
		`{"n":"two three"}`:             `"n" has to be of type integer, not "two three"`,
		`{"n":"some"}`:                  `"n" has to be of type integer, not "some"`,
		`{"n":1,"unit":"m"}`:            `"unit" has to be one of "km", "mi", not "m"`,
		`{"n":1,"legs":[{"km":"far"}]}`: `"legs[0].km" has to be of type number, not "far"`,
		`{"n":null}`:                    `"n" has to be of type integer, not null`,
	} {
		if got, err := s.Cast(json.RawMessage(in)); err == nil || err.Error() != want {
			t.Errorf("%s gives %s, %v", in, got, err)
		}
	}
	if got, err := s.Cast(json.RawMessage(`{"n":1,"most":"many"}`)); err == nil {
		t.Errorf("%s for a number or null", got)
	}
}

func TestNoParameters(t *testing.T) {
	s := compile(t, "")
	for _, in := range []string{"", "{}", "null", "None"} {
		if got, err := s.Cast(json.RawMessage(in)); err != nil || string(got) != "{}" {
			t.Errorf("%q gives %s, %v", in, got, err)
		}
	}
}

func TestBadSchemas(t *testing.T) {
	for _, raw := range []string{`{`, `{"type":"string"}`, `{"type":"object","$ref":"http://example.com/x"}`, `[]`} {
		if _, err := tool.CompileSchema(json.RawMessage(raw)); err == nil {
			t.Errorf("%s compiles", raw)
		}
	}
}

// What is valid JSON already is read as encoding/json reads it.
func TestLenientAgreesWithStrict(t *testing.T) {
	s := compile(t, `{"type":"object"}`)
	value := rapid.Custom(func(t *rapid.T) any {
		return rapid.OneOf(
			rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) any { return f }),
			rapid.Map(rapid.SliceOfN(rapid.String(), 0, 3), func(l []string) any { return l }),
		).Draw(t, "value")
	})
	rapid.Check(t, func(t *rapid.T) {
		want, err := json.Marshal(rapid.MapOfN(rapid.String(), value, 0, 5).Draw(t, "object"))
		if err != nil {
			t.Skip(err)
		}
		got, err := s.Cast(want)
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		var w, g any
		if json.Unmarshal(want, &w) != nil || json.Unmarshal(got, &g) != nil {
			t.Fatal("not JSON")
		}
		if diff := cmp.Diff(w, g); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What casting lets pass, the schema itself accepts, whatever a model writes.
func TestCastIsSound(t *testing.T) {
	s := compile(t, schema)
	var root jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &root); err != nil {
		t.Fatal(err)
	}
	resolved, err := root.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	values := []string{`"a"`, `""`, `3`, `"3"`, `2.5`, `1e2`, `-1`, `99`, `true`, `"yes"`, `null`, `"en"`, `"EN"`, `["a",1]`, `[]`,
		`{"from":"3"}`, `{}`, `"[1,2]"`, `"{\"from\":2}"`, `[[1]]`, `1e400`, `9007199254740993`}
	names := []string{"query", "top_k", "exact", "score", "lang", "tags", "range", "bogus"}
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for i, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(t, "names") {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(`"` + name + `": ` + rapid.SampledFrom(values).Draw(t, "value"))
		}
		out, err := s.Cast(json.RawMessage("{" + b.String() + "}"))
		if err != nil {
			return
		}
		accepted++
		var v any
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Fatalf("{%s} became %s: %v", b.String(), out, err)
		}
	})
	if accepted == 0 {
		t.Error("nothing was accepted")
	}
}

func FuzzCast(f *testing.F) {
	for _, s := range []string{`{"query":"a"}`, `{'a': [1,2,], b: None}`, "```\n{}\n```", `"\ud83d\ude00"`, `{"a":`} {
		f.Add(s)
	}
	s, err := tool.CompileSchema(json.RawMessage(schema))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if out, err := s.Cast(json.RawMessage(in)); err == nil && !json.Valid(out) {
			t.Errorf("%q gives invalid %s", in, out)
		}
	})
}

func TestRegistry(t *testing.T) {
	type args struct {
		City string `json:"city" jsonschema:"where"`
		Days int    `json:"days,omitempty"`
	}
	weather, err := tool.NewFunc(tool.Spec{Name: "weather"}, func(_ context.Context, a args) (tool.Result, error) {
		return tool.Result{Text: a.City}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{"city":{"type":"string","description":"where"},"days":{"type":"integer"}},"required":["city"],"additionalProperties":false}`
	if got := string(weather.Spec().Parameters); got != want {
		t.Errorf("derived %s", got)
	}
	r, err := tool.NewRegistry(weather)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := r.Lookup("weather")
	if !ok || r.Len() != 1 {
		t.Fatal("the tool is not there")
	}
	for name, found := range map[string]bool{"Weather": true, "functions.weather": true, "weather of a city": true, "weath_er": true, "winter": false, "": false} {
		if _, ok := r.Resolve(name); ok != found {
			t.Errorf("%q is found: %v", name, ok)
		}
	}
	in, err := e.Schema.Cast(json.RawMessage(`{'city': 'Oslo'}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Tool.Call(t.Context(), in); err != nil || got.Text != "Oslo" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := tool.NewRegistry(weather, weather); err == nil {
		t.Error("two tools of one name are accepted")
	}
	if _, err := tool.NewFunc(tool.Spec{Name: "bad name"}, func(context.Context, args) (tool.Result, error) { return tool.Result{}, nil }); err == nil {
		t.Error("a name with a blank is accepted")
	}
}
