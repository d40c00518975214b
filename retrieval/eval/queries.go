package eval

import (
	"bufio"
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
// "query", "text", the measures by name, "ms", "rewritten", "degraded", and
// "found", the best ten documents with their score and grade.
func (r *Result) WriteQueries(w io.Writer) error {
	out := bufio.NewWriter(w)
	for i, a := range r.Asked {
		o := object{}
		o.add("query", a.ID)
		o.add("text", a.Text)
		for j, m := range r.Measures {
			o.add(m.String(), round(r.Values[i][j], 6))
		}
		o.add("ms", milliseconds(a.Elapsed))
		o.add("rewritten", a.Rewritten)
		o.add("degraded", append([]string{}, a.Degraded...))
		found := []listed{}
		for _, s := range a.Ranking[:min(len(a.Ranking), queriesTop)] {
			found = append(found, listed{s, r.Qrels[a.ID][s.ID]})
		}
		o.add("found", found)
		line, err := o.bytes()
		if err != nil {
			return fmt.Errorf("write query %q: %w", a.ID, err)
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	return out.Flush()
}
