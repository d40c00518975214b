package api

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contract is the part of openapi.json the tests read.
type contract struct {
	Paths map[string]map[string]json.RawMessage `json:"paths"`
}

var readContract = sync.OnceValue(func() contract {
	var c contract
	if err := json.Unmarshal(openAPI, &c); err != nil {
		panic(err)
	}
	return c
})

var operations = []string{"get", "post", "put", "patch", "delete"}

func TestEveryRouteIsDocumentedAndEveryDocumentedPathIsRouted(t *testing.T) {
	h := newHarness(t)
	var routed, documented []string
	param := regexp.MustCompile(`:(\w+)`)
	for _, r := range h.server.routes() {
		routed = append(routed, strings.ToLower(r.method)+" "+param.ReplaceAllString(r.path, "{$1}"))
	}
	for path, item := range readContract().Paths {
		for method := range item {
			if slices.Contains(operations, method) {
				documented = append(documented, method+" "+path)
			}
		}
	}
	slices.Sort(routed)
	slices.Sort(documented)
	if diff := cmp.Diff(routed, documented); diff != "" {
		t.Errorf("-routed +documented:\n%s", diff)
	}
	if r := h.get("/openapi.json"); r.status != 200 || r.body != string(openAPI) {
		t.Errorf("status %d, %d bytes", r.status, len(r.body))
	}
}

func TestEveryCodeIsDocumented(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas struct {
				Problem struct {
					Properties struct {
						Code struct {
							Enum []string `json:"enum"`
						} `json:"code"`
					} `json:"properties"`
				} `json:"Problem"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	want := []string{
		CodeInvalid, CodeNotFound, CodeNotSupported, CodeMethodNotAllowed, CodeTimeout, CodeConflict, CodeTooLarge,
		CodeMediaType, CodeForbidden, CodeWrongHost, CodeKeyReused, CodeKeyInUse, CodeCancelled, CodeInternal,
		CodeModelFailed, CodeModelUnavailable, CodeOverloaded, CodeNotReady, CodeDeadline, CodeStorageFull,
		CodeQuarantined, CodeDamaged,
	}
	if diff := cmp.Diff(want, doc.Components.Schemas.Problem.Properties.Code.Enum); diff != "" {
		t.Errorf("-constants +documented:\n%s", diff)
	}
}

// checkContract holds an exchange against openapi.json: what was answered, and
// what was asked if the server took it.
func checkContract(t testing.TB, method, path, sent string, r response) {
	t.Helper()
	pointer := operationOf(method, path)
	if pointer == "" {
		return
	}
	if mediaType, _, _ := strings.Cut(r.header.Get("Content-Type"), ";"); mediaType == "application/json" {
		conforms(t, pointer+"/responses/"+strconv.Itoa(r.status)+"/content/application~1json/schema", r.body)
	} else if mediaType == "application/problem+json" {
		conforms(t, "/components/responses/Problem/content/application~1problem+json/schema", r.body)
	}
	if strings.HasPrefix(sent, "{") && r.status < 300 {
		conforms(t, pointer+"/requestBody/content/application~1json/schema", sent)
	}
}

// operationOf returns the JSON pointer of the operation, "" if it is not one.
func operationOf(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	variable := regexp.MustCompile(`\\\{\w+\\\}`)
	for pattern, item := range readContract().Paths {
		matches := regexp.MustCompile("^" + variable.ReplaceAllString(regexp.QuoteMeta(pattern), "[^/]+") + "$")
		operation := strings.ToLower(method)
		if _, ok := item[operation]; ok && matches.MatchString(path) {
			return "/paths/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(pattern) + "/" + operation
		}
	}
	return ""
}

var schemas sync.Map // of *jsonschema.Schema by pointer

func conforms(t testing.TB, pointer, body string) {
	t.Helper()
	cached, ok := schemas.Load(pointer)
	if !ok {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(openAPI))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("openapi.json", document); err != nil {
			t.Fatal(err)
		}
		schema, err := compiler.Compile("openapi.json#" + pointer)
		if err != nil {
			t.Fatalf("openapi.json: %v", err)
		}
		cached, _ = schemas.LoadOrStore(pointer, schema)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if err := cached.(*jsonschema.Schema).Validate(value); err != nil {
		t.Errorf("does not conform to openapi.json: %v\n%s", err, body)
	}
}
