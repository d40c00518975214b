package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// queryNames are the query parameters of each operation, by method and path as
// openapi.json has them: what it does not describe does not exist.
type queryNames map[string][]string

// parameter is one of openapi.json, or a reference to one.
type parameter struct {
	Ref  string `json:"$ref"`
	Name string `json:"name"`
	In   string `json:"in"`
}

func readQueryNames(document []byte) (queryNames, error) {
	var doc struct {
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Parameters map[string]parameter `json:"parameters"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("read openapi.json: %w", err)
	}
	all := queryNames{}
	for path, operations := range doc.Paths {
		for method, raw := range operations {
			if method == "parameters" { // of the whole path: they stand in it
				continue
			}
			var operation struct {
				Parameters []parameter `json:"parameters"`
			}
			if err := json.Unmarshal(raw, &operation); err != nil {
				return nil, fmt.Errorf("read openapi.json: %s %s: %w", method, path, err)
			}
			key := strings.ToUpper(method) + " " + path
			for _, p := range operation.Parameters {
				if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
					p = doc.Components.Parameters[name]
				}
				if p.In == "query" {
					all[key] = append(all[key], p.Name)
				}
			}
		}
	}
	return all, nil
}

// of are the names for a route, whose variables are written as echo does.
func (q queryNames) of(r route) []string {
	elements := strings.Split(r.path, "/")
	for i, e := range elements {
		if name, ok := strings.CutPrefix(e, ":"); ok {
			elements[i] = "{" + name + "}"
		}
	}
	return q[r.method+" "+strings.Join(elements, "/")]
}

// knownQuery refuses requests with a query parameter that the route does not
// have, or has twice: a misspelt one would be passed over, and of DELETE that
// may be the one that says how little is to go.
func knownQuery(allowed []string, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := checkQuery(c.Request().URL.RawQuery, allowed); err != nil {
			return err
		}
		return next(c)
	}
}

func checkQuery(raw string, allowed []string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return newProblem(http.StatusBadRequest, CodeInvalid, "the query cannot be read: %v", err)
	}
	var found []ProblemField
	for name, values := range query {
		switch {
		case !slices.Contains(allowed, name):
			found = append(found, ProblemField{Field: name, Detail: "is not a query parameter of this address, " + theyAre(allowed)})
		case len(values) > 1:
			found = append(found, ProblemField{Field: name, Detail: "stands in the query twice"})
		}
	}
	if found == nil {
		return nil
	}
	slices.SortFunc(found, func(a, b ProblemField) int { return strings.Compare(a.Field, b.Field) })
	p := newProblem(http.StatusBadRequest, CodeInvalid, "%s: %s", found[0].Field, found[0].Detail)
	p.Errors = found
	return p
}

func theyAre(allowed []string) string {
	if len(allowed) == 0 {
		return "which has none"
	}
	return "which has " + strings.Join(allowed, ", ")
}
