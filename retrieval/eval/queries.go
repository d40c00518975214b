package eval

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// queriesTop is how many documents of a ranking WriteQueries lists.
const queriesTop = 10

// listed is one document in a line of WriteQueries.
type listed struct {
	Scored
	Grade int `json:"grade"` // 0 also where it was not judged
}

// WriteQueries writes one JSON object a line and query, ascending by id:
// "query" and the measures by name.
func (s Scores) WriteQueries(w io.Writer) error {
	return s.writeQueries(w, func(int, *object) {}, func(int, *object) {})
}

// WriteQueries writes one JSON object a line and query, ascending by id:
// "query", "text", the measures by name, "ms", "rewritten", "degraded", and
// "found", the best ten documents with their score and grade.
func (r *Result) WriteQueries(w io.Writer) error {
	before := func(i int, o *object) { o.add("text", r.Asked[i].Text) }
	after := func(i int, o *object) {
		a := r.Asked[i]
		o.add("ms", milliseconds(a.Elapsed))
		o.add("rewritten", a.Rewritten)
		o.add("degraded", append([]string{}, a.Degraded...))
		found := []listed{}
		for _, s := range a.Ranking[:min(len(a.Ranking), queriesTop)] {
			found = append(found, listed{s, r.Qrels[a.ID][s.ID]})
		}
		o.add("found", found)
	}
	return r.writeQueries(w, before, after)
}

// writeQueries writes the rows of s with what comes before and after the
// measures of each.
func (s Scores) writeQueries(w io.Writer, before, after func(i int, o *object)) error {
	out := bufio.NewWriter(w)
	for i, query := range s.Queries {
		o := object{}
		o.add("query", query)
		before(i, &o)
		for j := range s.Measures {
			o.add(s.Name(j), round(s.Values[i][j], 6))
		}
		after(i, &o)
		line, err := o.bytes()
		if err != nil {
			return fmt.Errorf("write query %q: %w", query, err)
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	return out.Flush()
}

// WriteDifferences writes one JSON object a line and query, ascending by id:
// "query", "a", "b" and "difference" of what Compare compares.
func WriteDifferences(w io.Writer, a, b Scores, m Measure) error {
	from, to, err := paired(a, b, m)
	if err != nil {
		return err
	}
	out := json.NewEncoder(w)
	for i, d := range differences(from, to) {
		if err := out.Encode(Change{a.Queries[i], from[i], to[i], d}); err != nil {
			return err
		}
	}
	return nil
}
