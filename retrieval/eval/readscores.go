package eval

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"ragagent/store"
)

// ReadScores reads the values of one measure from what WriteQueries wrote,
// under whichever of its names. name stands for r in errors. A query without
// the measure is store.ErrInvalid.
func ReadScores(r io.Reader, name string, m Measure) (Scores, error) {
	type row struct {
		query string
		value float64
	}
	var rows []row
	for l, err := range lines(r, name) {
		if err != nil {
			return Scores{}, err
		}
		var fields map[string]json.RawMessage
		var query string
		if err := json.Unmarshal(l.text, &fields); err != nil {
			return Scores{}, l.invalid("not a JSON object: %v", err)
		}
		if err := json.Unmarshal(fields["query"], &query); err != nil {
			return Scores{}, l.invalid("no \"query\"")
		}
		value, ok := valueOf(fields, m)
		if !ok {
			return Scores{}, l.invalid("%s was not measured", m)
		}
		rows = append(rows, row{query, value})
	}
	if len(rows) == 0 {
		return Scores{}, store.Invalid(name, "no query in it")
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.query, b.query) })
	s := Scores{Measures: []Measure{m}}
	for _, r := range rows {
		s.Queries, s.Values = append(s.Queries, r.query), append(s.Values, []float64{r.value})
	}
	return s, nil
}

// valueOf finds the number that stands under a name of m.
func valueOf(fields map[string]json.RawMessage, m Measure) (v float64, ok bool) {
	for name, raw := range fields {
		if parsed, err := ParseMeasure(name); err == nil && parsed == m {
			return v, json.Unmarshal(raw, &v) == nil
		}
	}
	return 0, false
}
