package extractive

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/retrieval/analysis"
)

// question is an analysed query with the weights of its words.
type question struct {
	idf     map[string]float64
	sum     float64 // of idf
	pairs   [][2]string
	words   map[string]bool // normalised words of the question
	unknown float64         // share of its words that no document holds
	kind    kind
	cjk     bool
	years   map[string]bool // that the question names
	names   names
}

// kind is what a question asks for.
type kind int

const (
	anything kind = iota
	figure        // how many, how much, when, what year
	name          // who, where, which company
)

// newQuestion weighs the words of a query. terms are the searched query's
// weights; without them every word weighs the same.
func newQuestion(a *analysis.Analyzer, query string, terms []Term) question {
	tokens := a.Analyze(query)
	q := question{idf: map[string]float64{}, words: map[string]bool{}, kind: kindOf(query), cjk: analysis.HasCJK(query)}
	for _, y := range year.FindAllString(query, -1) {
		if q.years == nil {
			q.years = map[string]bool{}
		}
		q.years[y] = true
	}
	asking := q.asking(a, query)
	unknown := 0
	for _, t := range terms {
		if asking[t.Term] {
			continue
		}
		if t.DF == 0 {
			unknown++
			continue
		}
		q.idf[t.Term] = t.IDF
	}
	if len(terms) > 0 {
		q.unknown = float64(unknown) / float64(len(terms))
	}
	for i, t := range tokens {
		q.words[t.Word] = true
		if len(terms) == 0 && !asking[t.Term] {
			q.idf[t.Term] = 1
		}
		if i > 0 && !t.CJK {
			q.pairs = append(q.pairs, [2]string{tokens[i-1].Term, t.Term})
		}
	}
	q.names = namesOf(query, tokens, terms)
	for _, w := range q.idf {
		q.sum += w
	}
	return q
}

var quantity = regexp.MustCompile(`(?i)\bhow (?:much|many|often)\b`)

// asking are the terms that only say what is asked for: nobody answers "how
// much" with the word "much", which is rare enough to outweigh the rest.
func (q question) asking(a *analysis.Analyzer, query string) map[string]bool {
	return termSet(a, strings.Join(quantity.FindAllString(query, -1), " "))
}

// otherYear says whether a text names years and none of those asked about.
func (q question) otherYear(text string) bool {
	if len(q.years) == 0 {
		return false
	}
	named := year.FindAllString(text, -1)
	for _, y := range named {
		if q.years[y] {
			return false
		}
	}
	return len(named) > 0
}

// coverage is the idf share of the query's known terms that the sets hold
// together, 0..1.
func (q question) coverage(sets ...map[string]bool) float64 {
	if q.sum == 0 {
		return 0
	}
	found := 0.0
	for term, w := range q.idf {
		for _, s := range sets {
			if s[term] {
				found += w
				break
			}
		}
	}
	return found / q.sum
}

// foreign is the share of terms the question does not hold, 0..1.
func (q question) foreign(terms map[string]bool) float64 {
	if len(terms) == 0 {
		return 0
	}
	n := 0
	for t := range terms {
		if _, asked := q.idf[t]; !asked {
			n++
		}
	}
	return float64(n) / float64(len(terms))
}

// termSet analyses a text.
func termSet(a *analysis.Analyzer, text string) map[string]bool {
	return termsOf(a.Analyze(text))
}

// bigrams is the share of the query's adjacent terms that are adjacent in the
// tokens, 0..1.
func (q question) bigrams(tokens []analysis.Token) float64 {
	if len(q.pairs) == 0 {
		return 0
	}
	there := map[[2]string]bool{}
	for i := 1; i < len(tokens); i++ {
		there[[2]string{tokens[i-1].Term, tokens[i].Term}] = true
	}
	n := 0
	for _, p := range q.pairs {
		if there[p] {
			n++
		}
	}
	return float64(n) / float64(len(q.pairs))
}

var (
	asksFigure = regexp.MustCompile(`(?i)\b(how (?:many|much|long|old|far|high|tall|large|big|often|fast)|when|(?:what|which|in what|in which) (?:year|date|day|month|decade|century|percentage|percent|number|amount|age|price|time)|percentage|what was the (?:total|revenue|net)|number of)\b|多少|几[个年月日名人次座]|何时|哪[一]?年|什么时候|什么时间|いつ|いくつ|何年|何人|몇|언제`)
	asksName   = regexp.MustCompile(`(?i)\b(who|whom|whose|where|(?:what|which) (?:person|city|country|company|team|river|state|place|name))\b|谁|哪[里儿位个国]|什么人|何人|何地|誰|どこ|누구|어디`)
)

func kindOf(query string) kind {
	switch {
	case asksFigure.MatchString(query):
		return figure
	case asksName.MatchString(query):
		return name
	}
	return anything
}

// fitsType says whether a sentence holds what the question asks for, beyond
// the question's own words. Where nothing special is asked, none does.
func (q question) fitsType(text string, tokens []analysis.Token) bool {
	switch q.kind {
	case figure:
		for _, t := range tokens {
			if !q.words[t.Word] && strings.ContainsFunc(text[t.Start:t.End], unicode.IsDigit) {
				return true
			}
		}
	case name:
		for i, t := range tokens {
			r, _ := utf8.DecodeRuneInString(text[t.Start:])
			if i > 0 && unicode.IsUpper(r) && !q.words[t.Word] {
				return true
			}
		}
	}
	return false
}
