package api

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBadJSON(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxJSONBytes = 300 })
	plain := func(detail string) Problem { return Problem{Status: 400, Code: CodeInvalid, Detail: detail} }
	fields := func(pairs ...string) Problem {
		p := plain(pairs[0] + ": " + pairs[1])
		for i := 0; i < len(pairs); i += 2 {
			p.Errors = append(p.Errors, ProblemField{pairs[i], pairs[i+1]})
		}
		return p
	}
	for _, test := range []struct {
		body string
		want Problem
	}{
		{" ", plain("the body is empty: send a JSON object")},
		{"null", plain("the body must be a JSON object")},
		{"[]", plain("the body must be an object, not an array")},
		{`"x"`, plain("the body must be an object, not a string")},
		{"{\n \"name\": 'x'}", plain(`not valid JSON at line 2, column 10: invalid character '\'' looking for beginning of value`)},
		{`{"name":"a"`, plain("not valid JSON at line 1, column 11: unexpected end of JSON input")},
		{`{"name":"a"} {}`, plain("not valid JSON at line 1, column 14: invalid character '{' after top-level value")},
		{"{\"name\":\"\xff\"}", plain("the body is not valid UTF-8")},
		{`{"name":5}`, fields("name", "must be a string, not a number")},
		{`{"chunking":[]}`, fields("chunking", "must be an object, not an array")},
		{`{"chunking":{"size":1.5}}`, fields("chunking.size", "must be a whole number, not number 1.5")},
		{`{"retrieval":{"score_threshold":"x"}}`, fields("retrieval.score_threshold", "must be a number, not a string")},
		{`{"name":true}`, fields("name", "must be a string, not true or false")},
		{`{"name":"a","title":"b","chunking":{"Size":5,"overlap":1,"x":{"y":[1,{"]":"\""}]}},"":0}`,
			fields("title", "is not a known field", "chunking.Size", "is not a known field", "chunking.x", "is not a known field", "", "is not a known field")},
		{`{"name":"a","name":"b"}`, fields("name", "stands here twice")},
	} {
		h.wantProblem(h.post("/api/v1/knowledge-bases", test.body), test.want)
	}
	h.wantProblem(h.post("/api/v1/knowledge-bases", `{"name":"`+string(make([]byte, 300))+`"}`), Problem{
		Status: 413, Code: CodeTooLarge, Detail: "the request's body is larger than 300 bytes",
	})
	for _, mediaType := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "nonsense;;", ""} {
		h.wantProblem(h.post("/api/v1/knowledge-bases", `{"name":"a"}`, "Content-Type", mediaType), Problem{
			Status: 415, Code: CodeMediaType, Detail: `send the header Content-Type: application/json, not "` + mediaType + `"`,
		})
	}
	if h.ingest.calls != 0 {
		t.Errorf("%d calls went through", h.ingest.calls)
	}
	if r := h.post("/api/v1/knowledge-bases", ` {"name":"a","chunking":null} `, "Content-Type", "Application/JSON; Charset=UTF-8"); r.status != 201 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestFieldsInListsAreNamedByTheirPlace(t *testing.T) {
	var into askRequest
	err := decodeStrict([]byte(`{"messages":[{"role":"user"},{"role":"user","text":"x"}],"question":"q"}`), &into)
	want := []ProblemField{{"messages[1].text", "is not a known field"}}
	if diff := cmp.Diff(want, problemOf(err).Errors); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// jsonValue draws any JSON value, with the names of the target among the keys.
func jsonValue(names []string) *rapid.Generator[any] {
	key := rapid.OneOf(rapid.SampledFrom(names), rapid.String())
	leaf := rapid.OneOf(
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) any { return f }),
		rapid.Map(rapid.String(), func(s string) any { return s }),
	)
	value := leaf
	for range 3 {
		inner := value
		value = rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(key, inner, 0, 4), func(m map[string]any) any { return m }))
	}
	return value
}

// strangeByReflection is what strangeFields has to find, from decoded values.
func strangeByReflection(v any, t reflect.Type, path string, found map[string]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return
		}
		fields := jsonFields(t)
		for key, value := range v {
			at := key
			if path != "" {
				at = path + "." + key
			}
			if field, ok := fields[key]; ok {
				strangeByReflection(value, field, at, found)
			} else {
				found[at] = true
			}
		}
	case []any:
		if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Struct {
			return
		}
		for i, value := range v {
			strangeByReflection(value, t.Elem(), path+"["+string(rune('0'+i))+"]", found)
		}
	}
}

func TestStrangeFieldsAgreesWithReflection(t *testing.T) {
	target := reflect.TypeFor[askRequest]()
	values := jsonValue([]string{"question", "messages", "role", "content", "filter", "top_k"})
	rapid.Check(t, func(t *rapid.T) {
		v := values.Draw(t, "value")
		indent := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent")
		body, err := json.MarshalIndent(v, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		var again any
		if err := json.Unmarshal(body, &again); err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		strangeByReflection(again, target, "", want)
		got := map[string]bool{}
		w := fieldWalker{body: body}
		w.value(target, "")
		for _, f := range w.found {
			got[f.Field] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n-want +got:\n%s", body, diff)
		}
		if w.at != len(body) {
			t.Fatalf("stopped at %d of %d bytes of %s", w.at, len(body), body)
		}
	})
}

func FuzzDecodeStrict(f *testing.F) {
	for _, seed := range []string{`{"question":"q","messages":[{"role":"x"}]}`, `{"a":{"b":[1,"\"",{}]}}`, `[`, `{"question":1e400}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var into askRequest
		if err := decodeStrict(body, &into); err != nil {
			if p := problemOf(err); p.Status != 400 {
				t.Errorf("%q: %v", body, err)
			}
		}
	})
}
