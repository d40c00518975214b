package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decodeJSON reads the whole body, at most limit bytes, into into, which is a
// pointer to a struct. It is strict: another media type, invalid UTF-8, syntax
// errors, anything after the value, wrong types, unknown and repeated fields
// are problems that say where. It returns the raw body.
func decodeJSON(r *http.Request, limit int64, into any) ([]byte, error) {
	if err := wantMediaType(r, "application/json"); err != nil {
		return nil, err
	}
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	if err != nil {
		return nil, readError(err)
	}
	return body, decodeStrict(body, into)
}

// readError tells a body that broke off from one that was too long or slow.
func readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return newProblem(http.StatusBadRequest, CodeInvalid, "the request's body ended before its time")
	}
	return err
}

func wantMediaType(r *http.Request, want string) error {
	got, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := params["charset"]
	if err == nil && got == want && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return newProblem(http.StatusUnsupportedMediaType, CodeMediaType,
		"send the header Content-Type: %s, not %q", want, r.Header.Get("Content-Type"))
}

func decodeStrict(body []byte, into any) error {
	if !utf8.Valid(body) {
		return newProblem(http.StatusBadRequest, CodeInvalid, "the body is not valid UTF-8")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return newProblem(http.StatusBadRequest, CodeInvalid, "the body is empty: send a JSON object")
	}
	if err := json.Unmarshal(body, into); err != nil {
		return jsonProblem(body, err)
	}
	if first := bytes.TrimLeft(body, " \t\r\n")[0]; first != '{' {
		return newProblem(http.StatusBadRequest, CodeInvalid, "the body must be a JSON object")
	}
	w := fieldWalker{dec: json.NewDecoder(bytes.NewReader(body))}
	if err := w.value(reflect.TypeOf(into), ""); err != nil {
		return jsonProblem(body, err)
	}
	if len(w.found) == 0 {
		return nil
	}
	p := newProblem(http.StatusBadRequest, CodeInvalid, "%s: %s", w.found[0].Field, w.found[0].Detail)
	p.Errors = w.found
	return p
}

func jsonProblem(body []byte, err error) error {
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return invalidField(kind.Field, "must be %s, not %s", jsonTypeName(kind.Type), jsonValueName(kind.Value))
	case errors.As(err, &kind):
		return newProblem(http.StatusBadRequest, CodeInvalid, "the body must be %s, not %s", jsonTypeName(kind.Type), jsonValueName(kind.Value))
	case errors.As(err, &syntax):
		line, column := position(body, syntax.Offset)
		return newProblem(http.StatusBadRequest, CodeInvalid, "not valid JSON at line %d, column %d: %v", line, column, syntax)
	}
	return newProblem(http.StatusBadRequest, CodeInvalid, "not valid JSON: %v", err)
}

// position turns a byte offset into a line and column, both from 1.
func position(body []byte, offset int64) (line, column int) {
	before := body[:min(max(offset-1, 0), int64(len(body)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

func jsonTypeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonTypeName(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

// jsonValueName puts an article before what encoding/json says it met.
func jsonValueName(value string) string {
	switch {
	case value == "bool":
		return "true or false"
	case value == "array" || value == "object":
		return "an " + value
	case strings.HasPrefix(value, "number "):
		return value
	}
	return "a " + value
}

// fieldWalker reads a JSON text that is known to be valid beside the type it
// was decoded into, and finds the fields that the type does not have.
// encoding/json alone stops at the first, without its path, and takes names in
// any case.
type fieldWalker struct {
	dec   *json.Decoder
	found []ProblemField
}

func (w *fieldWalker) value(t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Struct:
		return w.object(t, path)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return w.array(t.Elem(), path)
	}
	var skip json.RawMessage
	return w.dec.Decode(&skip)
}

func (w *fieldWalker) object(t reflect.Type, path string) error {
	if open, err := w.dec.Token(); err != nil || open != json.Delim('{') {
		return err // null: the only other thing json.Unmarshal lets pass
	}
	fields, seen := jsonFields(t), map[string]bool{}
	for w.dec.More() {
		token, err := w.dec.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		at := join(path, name)
		field, known := fields[name]
		switch {
		case !known:
			w.found = append(w.found, ProblemField{Field: at, Detail: "is not a known field"})
			field = reflect.TypeFor[json.RawMessage]()
		case seen[name]:
			w.found = append(w.found, ProblemField{Field: at, Detail: "stands here twice"})
		}
		seen[name] = true
		if err := w.value(field, at); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

func (w *fieldWalker) array(elem reflect.Type, path string) error {
	if open, err := w.dec.Token(); err != nil || open != json.Delim('[') {
		return err
	}
	for i := 0; w.dec.More(); i++ {
		if err := w.value(elem, path+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
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

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
