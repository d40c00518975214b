package api

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"ragagent/retrieval"
)

// Values told of a field.
const (
	defaultFieldValues = 20
	maxFieldValues     = 100
)

type fieldsAnswer struct {
	Fields []fieldAnswer `json:"fields"`
}

type fieldAnswer struct {
	Name      string        `json:"name"`
	Type      string        `json:"type"`
	BuiltIn   bool          `json:"built_in"`
	Documents int           `json:"documents"`
	Distinct  int           `json:"distinct"`
	Least     any           `json:"least,omitempty"`
	Most      any           `json:"most,omitempty"`
	Values    []valueAnswer `json:"values"`
}

type valueAnswer struct {
	Value     any `json:"value"`
	Documents int `json:"documents"`
}

// listFields tells what the documents of a knowledge base can be filtered by.
func (s *Server) listFields(c echo.Context) error {
	kb, err := s.knowledgeBase(c)
	if err != nil {
		return err
	}
	values := defaultFieldValues
	if given := c.QueryParam("values"); given != "" {
		if values, err = strconv.Atoi(given); err != nil || values < 1 || values > maxFieldValues {
			return invalidField("values", "must be a whole number from 1 to %d", maxFieldValues)
		}
	}
	if err := s.wantReady(); err != nil {
		return err
	}
	return reply(c, http.StatusOK, fieldsOf(s.cfg.Fields(kb.ID, values)))
}

func fieldsOf(fields []retrieval.Field) fieldsAnswer {
	out := fieldsAnswer{Fields: make([]fieldAnswer, len(fields))}
	for i, f := range fields {
		a := fieldAnswer{
			Name: f.Name, Type: f.Type, BuiltIn: f.BuiltIn, Documents: f.Documents, Distinct: f.Distinct,
			Least: f.Least, Most: f.Most, Values: make([]valueAnswer, len(f.Values)),
		}
		for j, v := range f.Values {
			a.Values[j] = valueAnswer{v.Value, v.Documents}
		}
		out.Fields[i] = a
	}
	return out
}
