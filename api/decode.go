package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"reflect"
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
	var body bytes.Buffer
	body.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead) // room to see the end without growing
	if _, err := body.ReadFrom(http.MaxBytesReader(nil, r.Body, limit)); err != nil {
		return nil, bodyError(err)
	}
	return body.Bytes(), decodeStrict(body.Bytes(), into)
}

// bodyError is the error of reading a request's body: it was too long, came
// too slowly, or broke off, which is never the server's fault.
func bodyError(err error) error {
	if problemOf(err).Code != CodeInternal {
		return err
	}
	p := newProblem(http.StatusBadRequest, CodeInvalid, "the request's body is broken or ended before its time: %v", err)
	p.cause = err
	return p
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
	found := strangeFields(body, reflect.TypeOf(into))
	if len(found) == 0 {
		return nil
	}
	p := newProblem(http.StatusBadRequest, CodeInvalid, "%s: %s", found[0].Field, found[0].Detail)
	p.Errors = found
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
