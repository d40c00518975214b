package cite

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/retrieval/analysis"
)

// Quoter finds the words of a passage that support a statement. It may be used
// concurrently.
type Quoter struct {
	analyzer *analysis.Analyzer
}

// NewQuoter returns a Quoter.
func NewQuoter() *Quoter { return &Quoter{analyzer: analysis.New()} }

// Quote is a place in a passage.
type Quote struct {
	analysis.Span
	// Support is the share of a statement's words that the quote holds, 0..1,
	// numbers counting twice; 1 for words the statement itself puts in
	// quotation marks.
	Support float64
}

// pairGain is how much more support a second sentence has to bring to be
// quoted along.
const pairGain = .25

// littleSupport is what a statement's quote has to bring to be part of the
// whole: below it, the words in common are those of any two texts.
const littleSupport = .3

// Find returns the stretch of the passage that holds the quotes of all
// statements: whoever looks it up finds each of them there. A statement's quote
// is what it quotes literally, or itself if it stands there word for word, else
// the sentence or row that shares most with it, with its successor where that
// brings much. A statement the passage hardly supports adds nothing; if that
// holds for all, it is the best of them. Support is that of the weakest
// statement that counts. The span is empty only if the passage is.
func (q *Quoter) Find(passage string, statements []string) Quote {
	units := Units(passage)
	if len(units) == 0 {
		return Quote{}
	}
	terms := make([]map[string]bool, len(units))
	for i, u := range units {
		terms[i] = q.terms(passage[u.Start:u.End])
	}
	whole := Quote{Span: units[0]}
	found := false
	for _, s := range statements {
		switch one := q.quote(passage, s, units, terms); {
		case one.Support < littleSupport && (found || one.Support <= whole.Support):
		case !found:
			whole, found = one, one.Support >= littleSupport
		default:
			whole.Start, whole.End = min(whole.Start, one.Start), max(whole.End, one.End)
			whole.Support = min(whole.Support, one.Support)
		}
	}
	return whole
}

// quote finds the quote of one statement.
func (q *Quoter) quote(passage, statement string, units []analysis.Span, terms []map[string]bool) Quote {
	if span, ok := literal(passage, statement); ok {
		return Quote{Span: span, Support: 1}
	}
	if span, ok := findFolded(passage, statement); ok {
		return Quote{Span: span, Support: 1}
	}
	want := q.terms(statement)
	var best Quote
	rank := -1.0
	for i := range units {
		quote := Quote{Span: units[i], Support: support(want, terms[i])}
		if i+1 < len(units) {
			if both := support(want, terms[i], terms[i+1]); both >= quote.Support+pairGain {
				quote = Quote{Span: analysis.Span{Start: units[i].Start, End: units[i+1].End}, Support: both}
			}
		}
		// Of equally good ones the shorter says it more to the point.
		if r := quote.Support - .1*excess(want, terms[i]); r > rank {
			rank, best = r, quote
		}
	}
	return best
}

func (q *Quoter) terms(text string) map[string]bool {
	out := map[string]bool{}
	for _, t := range q.analyzer.Analyze(text) {
		out[t.Term] = true
	}
	return out
}

// support is the weighted share of want that the sets hold together.
func support(want map[string]bool, have ...map[string]bool) float64 {
	var sum, found float64
	for term := range want {
		w := weight(term)
		sum += w
		for _, h := range have {
			if h[term] {
				found += w
				break
			}
		}
	}
	if sum == 0 {
		return 0
	}
	return found / sum
}

// excess is the share of have that is not wanted.
func excess(want, have map[string]bool) float64 {
	if len(have) == 0 {
		return 1
	}
	n := 0
	for term := range have {
		if !want[term] {
			n++
		}
	}
	return float64(n) / float64(len(have))
}

func weight(term string) float64 {
	if strings.ContainsFunc(term, unicode.IsDigit) {
		return 2
	}
	return 1
}

// literal finds what a statement puts in quotation marks, at least minLiteral
// characters of it, in the passage: letter by letter, white space aside.
func literal(passage, statement string) (analysis.Span, bool) {
	const minLiteral = 12
	for _, marks := range [][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}} {
		rest := statement
		for {
			_, after, ok := strings.Cut(rest, marks[0])
			if !ok {
				break
			}
			quoted, tail, ok := strings.Cut(after, marks[1])
			if !ok {
				break
			}
			quoted = strings.TrimRight(strings.TrimSpace(quoted), ".,")
			if utf8.RuneCountInString(quoted) >= minLiteral {
				if span, ok := findFolded(passage, quoted); ok {
					return span, true
				}
			}
			rest = tail
		}
	}
	return analysis.Span{}, false
}

// findFolded finds want in text where any run of white space equals any other.
func findFolded(text, want string) (analysis.Span, bool) {
	words := strings.Fields(want)
	if len(words) == 0 {
		return analysis.Span{}, false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], words[0])
		if i < 0 {
			return analysis.Span{}, false
		}
		start := from + i
		if end, ok := matchWords(text, start, words); ok {
			return analysis.Span{Start: start, End: end}, true
		}
		from = start + len(words[0])
	}
}

func matchWords(text string, at int, words []string) (int, bool) {
	for i, w := range words {
		if i > 0 {
			trimmed := strings.TrimLeftFunc(text[at:], unicode.IsSpace)
			if len(trimmed) == len(text[at:]) {
				return 0, false
			}
			at = len(text) - len(trimmed)
		}
		if !strings.HasPrefix(text[at:], w) {
			return 0, false
		}
		at += len(w)
	}
	return at, true
}
