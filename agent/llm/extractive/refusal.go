package extractive

import (
	"ragagent/retrieval/analysis"
)

// signals say how well the passages fit the question.
type signals struct {
	lexical  float64 // BM25 of the best passage relative to its bound, 0..1
	unknown  float64 // share of the query's words that no document holds
	top      float64 // score of the best passage
	sentence float64 // coverage of the best sentence
	passages float64 // coverage of all passages together
}

// Weights of the confidence z, a logistic regression over questions whose
// answer is and is not in the collection.
const (
	zLexical  = 3.42
	zUnknown  = -3.01
	zTop      = 4.10
	zSentence = 3.02
	zPassages = 1.85
	zBias     = -6.81
)

// z is the log-odds that the passages hold the answer.
func (s signals) z() float64 {
	return zLexical*s.lexical + zUnknown*s.unknown + zTop*s.top + zSentence*s.sentence + zPassages*s.passages + zBias
}

// confident says whether to answer at all.
func (a answer) confident(refuseAt float64) bool {
	return len(a.sentences) > 0 && a.sentences[0].coverage > 0 && a.signals.z() > refuseAt
}

// signals measures the passages.
func (q question) signals(a *analysis.Analyzer, passages []Passage, sentences []sentence, union map[string]bool) signals {
	s := signals{unknown: q.unknown, top: passages[0].Score}
	for i := range passages {
		for t := range q.termSet(a, titleOf(&passages[i])) {
			union[t] = true
		}
	}
	s.passages = q.coverage(union)
	for _, c := range sentences {
		s.sentence = max(s.sentence, c.coverage)
	}
	s.lexical = q.bm25(a, &passages[0])
	return s
}

// bm25 is BM25L (Lv and Zhai 2011; k1 .9, delta .5) of a passage of average
// length, divided by its practical bound of 2.2 for each term.
func (q question) bm25(a *analysis.Analyzer, p *Passage) float64 {
	if q.sum == 0 {
		return 0
	}
	tf := map[string]float64{}
	for _, t := range a.Analyze(titleOf(p) + "\n" + p.Text) {
		tf[t.Term]++
	}
	const k, delta, bound = .9, .5, 2.2
	score := 0.0
	for term, idf := range q.idf {
		if c := tf[term]; c > 0 {
			score += idf * (k + 1) * (c + delta) / (k + c + delta)
		}
	}
	return score / (bound * q.sum)
}
