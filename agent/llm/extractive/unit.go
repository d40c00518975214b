package extractive

import (
	"regexp"
	"strings"

	"ragagent/agent/cite"
	"ragagent/retrieval/analysis"
)

// unit is a sentence or a row of a table with what it is about.
type unit struct {
	text   string
	tokens []analysis.Token
	terms  map[string]bool
	first  bool // opens its passage
	before map[string]bool
	// about are the terms the unit speaks of: its own, and for a row those of
	// the table's caption and header, without which its figures mean nothing.
	about       map[string]bool
	aboutTokens []analysis.Token

	row     bool
	heads   bool            // the header of a table: no statement by itself
	lead    []string        // lines to read before a row: what its figures are
	context string          // caption and header of a row's table
	label   map[string]bool // terms before the first figure of a row
	total   bool
}

// units cuts a passage and gives rows the context of their table. The caption
// is the last line of prose above the table, the header its first row if that
// holds years. Of a table the passage goes on with, they stand in context.
func (m *Model) units(context, text string) []unit {
	units, caption, header := m.above(context)
	above := len(units)
	for _, s := range cite.Units(text) {
		i := len(units)
		u := m.newUnit(text[s.Start:s.End])
		u.first = i == above
		if i > 0 {
			u.before = units[i-1].terms
		}
		switch {
		case !u.row:
			if !isAside(u.text) {
				caption = i
			}
			header = -1
		case i > 0 && !units[i-1].row && isHeader(u.text):
			u.heads = true
			header = i
		default:
			m.lend(&u, units, caption, header)
		}
		units = append(units, u)
	}
	return units
}

// above makes units of what stands above a passage, none of them a statement:
// the caption of a table, one line, and the rows that name its columns. It
// tells the index of either, -1 where there is none.
func (m *Model) above(context string) (units []unit, caption, header int) {
	caption, header = -1, -1
	if context == "" {
		return nil, caption, header
	}
	first, rest, _ := strings.Cut(context, "\n")
	if cite.IsRow(first) {
		first, rest = "", context
	}
	if first != "" {
		caption = len(units)
		units = append(units, m.newUnit(first))
	}
	if rest != "" {
		header = len(units)
		units = append(units, m.newUnit(rest))
		units[header].row = true
	}
	for i := range units {
		units[i].heads = true
	}
	return units, caption, header
}

func (m *Model) newUnit(text string) unit {
	u := unit{text: text, tokens: m.analyzer.Analyze(text), row: cite.IsRow(text)}
	u.terms = termsOf(u.tokens)
	u.about, u.aboutTokens = u.terms, u.tokens
	if u.row {
		label, _, _ := strings.Cut(text, "  ")
		if at := firstFigure.FindStringIndex(text); at != nil {
			label = text[:at[0]]
		}
		u.label = termSet(m.analyzer, label)
		u.total = strings.HasPrefix(strings.ToLower(strings.TrimLeft(label, "| ")), "total")
		if u.total {
			u.label = nil
		}
	}
	return u
}

// longestCaption is the most that is said of a table before its row, in bytes.
const longestCaption = 200

// lend gives a row what its table is about.
func (m *Model) lend(u *unit, units []unit, caption, header int) {
	if caption >= 0 {
		u.context = units[caption].text
		if strings.HasSuffix(u.context, ":") && len(u.context) <= longestCaption {
			u.lead = append(u.lead, plain(u.context))
		}
	}
	if header >= 0 {
		u.lead = append(u.lead, plain(units[header].text))
		u.context += "\n" + units[header].text
	}
	if u.context == "" {
		return
	}
	u.aboutTokens = m.analyzer.Analyze(u.context + "\n" + u.text)
	u.about = termsOf(u.aboutTokens)
}

var (
	firstFigure = regexp.MustCompile(`[($€£¥]?\s*\d`)
	year        = regexp.MustCompile(`\b(?:19|20)\d\d\b`)
)

// isHeader says whether the first row of a table names its columns by years.
func isHeader(row string) bool { return len(year.FindAllString(row, -1)) >= 2 }

// isAside recognises "(Dollars in millions)" between a caption and its table.
func isAside(text string) bool {
	return strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") && len(text) < 120
}
