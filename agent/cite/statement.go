package cite

import (
	"strings"
	"unicode"

	"ragagent/retrieval/analysis"
)

// Statement is a sentence of an answer with the citations that stand in it or
// right behind it.
type Statement struct {
	Text string // without markers
	IDs  []int  // ascending by place, an id at most once
}

// Statements cuts a filtered answer into its sentences. known is as in Filter.
func Statements(answer string, known func(id int) bool) []Statement {
	type marker struct{ id, at int }
	var markers []marker
	filter := Filter{Known: known, Cited: func(id, at int) { markers = append(markers, marker{id, at}) }}
	clean := filter.Write(answer) + filter.Flush()
	plain, offsets := strings.Builder{}, make([]int, len(markers))
	at := 0
	for i, m := range markers {
		plain.WriteString(strings.TrimRight(clean[at:m.at], " \t"))
		offsets[i] = plain.Len()
		at = m.at + strings.IndexByte(clean[m.at:], ']') + 1
	}
	plain.WriteString(clean[at:])
	text := plain.String()

	units := Units(text)
	statements := make([]Statement, len(units))
	for i, u := range units {
		statements[i].Text = text[u.Start:u.End]
	}
	if len(units) == 0 && len(markers) > 0 { // nothing but citations
		statements = make([]Statement, 1)
		units = []analysis.Span{{}}
	}
	for i, m := range markers {
		if u := owner(text, units, offsets[i]); u >= 0 {
			statements[u].add(m.id)
		}
	}
	return statements
}

func (s *Statement) add(id int) {
	for _, have := range s.IDs {
		if have == id {
			return
		}
	}
	s.IDs = append(s.IDs, id)
}

// owner returns the unit a marker at offset at belongs to: the one that holds
// the last character before it, or the first if it stands before everything.
func owner(text string, units []analysis.Span, at int) int {
	before := len(strings.TrimRightFunc(text[:at], unicode.IsSpace))
	found := -1
	for i, u := range units {
		if u.Start < before || found < 0 {
			found = i
		}
	}
	return found
}
