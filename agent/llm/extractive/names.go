package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/retrieval/analysis"
)

// names are the words of a question that are written like names: with a capital
// letter that neither the beginning of a sentence nor the language asks for.
type names struct {
	unknown []string // as written: those that no document has
	known   []string // terms: the others
}

// minStopShare tells English, where a capital within a sentence makes a name,
// from languages that capitalise more (German nouns): of an English question so
// many words at least are English stop words.
const minStopShare = .3

// namesOf finds the names in a query. Without terms, which tell what the
// documents know, there are none.
func namesOf(query string, tokens []analysis.Token, terms []Term) names {
	df := make(map[string]int, len(terms))
	for _, t := range terms {
		df[t.Term] = t.DF
	}
	if len(df) == 0 || !capitalsName(query) {
		return names{}
	}
	var n names
	for _, t := range tokens {
		written := query[t.Start:t.End]
		if t.CJK || !startsUpper(written) || opensSentence(query, t.Start) {
			continue
		}
		switch found, searched := df[t.Term]; {
		case found > 0:
			n.known = append(n.known, t.Term)
		case searched || !respelled(t.Word, df):
			n.unknown = append(n.unknown, written)
		}
	}
	return n
}

// absent says that there are known names, and none of them among the terms.
func (n names) absent(found map[string]bool) bool {
	for _, term := range n.known {
		if found[term] {
			return false
		}
	}
	return len(n.known) > 0
}

// capitalsName says whether a capital letter within this query makes a name.
func capitalsName(query string) bool {
	words, stops, capitals := 0, 0, 0
	for word := range strings.FieldsSeq(query) {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if word == "" {
			continue
		}
		words++
		if startsUpper(word) {
			capitals++
		}
		if analysis.IsStopWord(strings.ToLower(strings.ReplaceAll(word, "'", ""))) {
			stops++
		}
	}
	return float64(stops) >= minStopShare*float64(words) && 2*capitals <= words+1
}

// respelled says whether the search took another word for one it did not know:
// one of its terms begins alike and is about as long.
func respelled(word string, df map[string]int) bool {
	for term, n := range df {
		if n > 0 && differByOne(word, term) {
			return true
		}
	}
	return false
}

// differByOne says whether a term is what a word one letter away from word may
// have as its stem: all but one letter of the shorter agree in order.
func differByOne(word, term string) bool {
	a, b := []rune(word), []rune(term)
	front := 0
	for front < len(a) && front < len(b) && a[front] == b[front] {
		front++
	}
	back := 0
	for back < len(a)-front && back < len(b)-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	const ending = 3 // letters that a stem may lack
	return front+back+1 >= min(len(a), len(b)) && front+1 >= len(b)-ending && len(b)-len(a) <= 1 && len(a)-len(b) <= ending
}

// opensSentence says whether nothing but space and signs stands before a place,
// back to the beginning or the end of a sentence.
func opensSentence(text string, at int) bool {
	before := strings.TrimRightFunc(text[:at], func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".?!:", r)
	})
	return before == "" || strings.HasSuffix(before, ".") || strings.HasSuffix(before, "?") || strings.HasSuffix(before, "!") || strings.HasSuffix(before, ":")
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}
