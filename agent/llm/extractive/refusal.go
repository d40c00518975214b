package extractive

import (
	"strings"

	"ragagent/retrieval/analysis"
)

// signals say how well the passages fit the question.
type signals struct {
	unknown  float64 // share of the query's words that no document holds, 0..1
	top      float64 // evidence of the best passage, about 0..1
	passages float64 // coverage of all passages together, 0..1
	cjk      bool    // the query is Chinese, Japanese or Korean
	// strangers are the names in the query that no document has; absent says
	// that none of those that documents have is in the passages.
	strangers []string
	absent    bool
}

// Weights of the confidence z: a logistic regression over 4,645 questions of
// six collections, answered from their collection, from another one, and from
// their own with the right documents hidden. The bias is set so that about 97
// of 100 questions with an answer are answered; of questions to another
// collection some 90 of 100 are refused then (see docs/quality.md). A question
// in CJK has less evidence, for the built-in embedder says nothing about it.
const (
	zUnknown  = -7.8
	zTop      = 9.3
	zPassages = 2.9
	zCJK      = 2.1
	zBias     = -6.3
	// A name that no document has, and known names that no passage has, stand in
	// .3 % of the questions with an answer, and in up to 40 % and 4 % of others.
	// The first is refused however well the rest fits, unless RefuseAt is lower.
	zStranger    = -3
	mostStranger = -.5
	zAbsent      = -4
)

// z is the log-odds that the passages hold the answer.
func (s signals) z() float64 {
	z := zUnknown*s.unknown + zTop*s.top + zPassages*s.passages + zCJK*oneIf(s.cjk) + zBias + zAbsent*oneIf(s.absent)
	if len(s.strangers) > 0 {
		z = min(z+zStranger, mostStranger)
	}
	return z
}

// maxStrangers bounds the names that an answer says are unknown.
const maxStrangers = 3

// unheard says which names no document has, "" if there is none.
func (s signals) unheard() string {
	if len(s.strangers) == 0 {
		return ""
	}
	return "None of them mentions “" + strings.Join(s.strangers[:min(maxStrangers, len(s.strangers))], "” or “") + "”."
}

// confident says whether to answer at all.
func (a answer) confident(refuseAt float64) bool {
	return len(a.sentences) > 0 && a.sentences[0].coverage > 0 && a.signals.z() > refuseAt
}

// signals measures the passages. found are the terms of their sentences.
func (q question) signals(a *analysis.Analyzer, passages []Passage, found map[string]bool) signals {
	for i := range passages {
		for t := range termSet(a, titleOf(&passages[i])) {
			found[t] = true
		}
	}
	return signals{unknown: q.unknown, top: evidence(passages[0].Score), passages: q.coverage(found), cjk: q.cjk, strangers: q.names.unknown, absent: q.names.absent(found)}
}
