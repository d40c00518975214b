package rewrite

import (
	"strings"

	"ragagent/retrieval"
)

// references are words that stand for something said before.
var references = wordSet(`
it its itself they them their theirs he him his she her hers this that these those there then
one ones former latter same such
`)

// openings are how a question begins that only changes one thing of the one before.
var openings = []string{"and ", "or ", "but ", "what about", "how about", "why", "how so", "how come", "which one", "since when", "what else", "who else", "where else"}

// maxBack is how many of the user's earlier questions are looked at.
const maxBack = 4

// dependent says whether a question needs the one before it to be understood:
// it begins like a continuation, has next to no words of its own, or refers to
// something it does not name.
func (r *Rules) dependent(question string) bool {
	lower := strings.ToLower(question)
	words := r.analyzer.Terms(question)
	if len(words) <= 1 {
		return true
	}
	for _, opening := range openings {
		if strings.HasPrefix(lower, opening) && len(words) <= 4 {
			return true
		}
	}
	if namesSomething(question) {
		return false
	}
	for word := range strings.FieldsFuncSeq(lower, func(c rune) bool { return strings.ContainsRune(" ,.;:?!\"'()", c) }) {
		if references[word] {
			return true
		}
	}
	return false
}

// namesSomething says whether a word after the first begins with a capital
// letter A to Z and is not "I": a question with a name of its own is about that.
func namesSomething(question string) bool {
	fields := strings.Fields(question)
	for i, f := range fields {
		c := f[0]
		if i > 0 && f != "I" && ('A' <= c && c <= 'Z') {
			return true
		}
	}
	return false
}

// topic returns the words of the user's earlier questions that the question
// may refer to: those of the last one that stands by itself and of all since,
// without words that the question has.
func (r *Rules) topic(question string, history []retrieval.Turn) string {
	have := make(map[string]bool)
	for _, term := range r.analyzer.Terms(question) {
		have[term] = true
	}
	var parts []string
	for i, back := len(history)-1, 0; i >= 0 && back < maxBack; i-- {
		if history[i].Role != "user" {
			continue
		}
		back++
		earlier := stripCourtesy(history[i].Text)
		if words := r.newWords(earlier, have); words != "" {
			parts = append([]string{words}, parts...)
		}
		if !r.dependent(earlier) {
			break
		}
	}
	return strings.Join(parts, " ")
}

// newWords returns the words of text, as written, whose terms are not in have,
// and adds them to it.
func (r *Rules) newWords(text string, have map[string]bool) string {
	var words []string
	end := 0
	for _, token := range r.analyzer.Analyze(text) {
		if have[token.Term] {
			continue
		}
		have[token.Term] = true
		if start := max(token.Start, end); start < token.End {
			if token.CJK && token.Start < end && len(words) > 0 {
				words[len(words)-1] += text[start:token.End]
			} else {
				words = append(words, text[start:token.End])
			}
			end = token.End
		}
	}
	return strings.Join(words, " ")
}

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}
