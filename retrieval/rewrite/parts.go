package rewrite

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/retrieval"
)

// parts splits a question that is several in one, nil if it is not: questions
// one after the other, questions joined by "and", and comparisons of two things.
func (r *Rules) parts(question string) []string {
	question = strings.TrimSpace(question)
	for _, split := range []func(string) []string{sentences, joined, r.compared} {
		parts := split(question)
		if len(parts) < 2 || len(parts) > maxParts {
			continue
		}
		if whole := r.whole(parts); whole != nil {
			return whole
		}
	}
	return nil
}

// whole gives each part what it needs of the first to be understood, nil if a
// part has nothing to search for.
func (r *Rules) whole(parts []string) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		p = strings.Trim(p, " ,;")
		if i > 0 && r.dependent(p) {
			if topic := r.topic(p, []retrieval.Turn{{Role: "user", Text: out[0]}}); topic != "" {
				p += " " + topic
			}
		}
		if len(r.analyzer.Terms(p)) == 0 {
			return nil
		}
		out[i] = p
	}
	return out
}

// sentences cuts behind question marks.
func sentences(question string) (parts []string) {
	for {
		at := strings.IndexAny(question, "?？")
		if at < 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(question[at:])
		if part := strings.TrimSpace(question[:at+size]); len(part) > size {
			parts = append(parts, part)
		}
		question = question[at+size:]
	}
	return parts
}

// again is where a second question begins behind "and".
var again = regexp.MustCompile(`(?i)[,;]?\s+and\s+((?:also\s+)?(?:(?:in|at|on|by|to|for|from|with)\s+)?(?:who|whom|whose|what|when|where|which|why|how)\b)`)

// joined cuts before "and" and a question word.
func joined(question string) (parts []string) {
	from := 0
	for _, m := range again.FindAllStringSubmatchIndex(question, -1) {
		parts = append(parts, question[from:m[0]])
		from = m[2]
	}
	if from == 0 {
		return nil
	}
	return append(parts, question[from:])
}

// comparing are words of questions that set two things beside each other.
var comparing = wordSet(`
both same compare compared comparison comparing differ differs difference differences different versus vs
older younger taller shorter larger bigger smaller longer earlier later first last more less fewer higher lower
better worse closer nearer newer common either
`)

// between is a comparison that names its two things at once.
var between = regexp.MustCompile(`(?i)^(?:what (?:is|are|was|were) the |list the |explain the )?(?:compare|differences? between|comparison (?:of|between)|how (?:does|do|did) )\s*(.+?)\s+(?:and|with|to|versus|vs\.?|differ from|compare (?:to|with))\s+(.+?)((?:\s+(?:in terms of|with respect to|regarding|as to|in|on|for|by|during)\s+.+?)?)[?.]?$`)

// compared makes two questions of a comparison, each with one of the things.
func (r *Rules) compared(question string) []string {
	if m := between.FindStringSubmatch(question); m != nil {
		return []string{m[1] + m[3], m[2] + m[3]}
	}
	compares := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(question), func(c rune) bool { return !unicode.IsLetter(c) }) {
		compares = compares || comparing[word]
	}
	if !compares {
		return nil
	}
	return eachOfPair(question)
}

// eachOfPair finds two names joined by "and", "or" or "vs", and returns the
// question with one of them, and with the other.
func eachOfPair(question string) []string {
	words := strings.Fields(question)
	for i, w := range words {
		switch strings.ToLower(strings.Trim(w, ".,")) {
		case "and", "or", "vs", "versus":
		default:
			continue
		}
		start, end := i, i+1
		for start > 0 && ofName(words, start-1, start < i) {
			start--
		}
		for end < len(words) && ofName(words, end, end > i+1) && !strings.ContainsAny(lastRune(words[end-1]), ",?;") {
			end++
		}
		for start < i && !isName(words[start]) { // "of the Nile": a name begins with a name
			start++
		}
		for end > i+1 && !isName(words[end-1]) {
			end--
		}
		if start == i || end == i+1 {
			continue
		}
		before, after := strings.Join(words[:start], " "), strings.Join(words[end:], " ")
		with := func(name []string) string {
			return strings.TrimSpace(before + " " + strings.Trim(strings.Join(name, " "), ",;?") + " " + after)
		}
		return []string{with(words[start:i]), with(words[i+1 : end])}
	}
	return nil
}

// ofName says whether the word at a place may belong to a name: it begins with a
// capital or a digit, and is not the first of the question; or it is a small
// word within one.
func ofName(words []string, at int, within bool) bool {
	if at == 0 {
		return false
	}
	if isName(words[at]) {
		return true
	}
	switch words[at] {
	case "of", "the", "de", "la", "von", "van", "for", "in":
		return within
	}
	return false
}

func isName(word string) bool {
	c, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, `"'“(`))
	return unicode.IsUpper(c) || unicode.IsDigit(c)
}

func lastRune(word string) string {
	_, size := utf8.DecodeLastRuneInString(word)
	return word[len(word)-size:]
}
