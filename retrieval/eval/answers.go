package eval

import (
	"encoding/json"
	"slices"
	"time"
)

// Reply is what a system answered to one question, with what is known of it.
type Reply struct {
	Query string // id
	Text  string // of the question
	// Answer is what was said, for people to read.
	Answer string
	// Answerable says that the documents hold the answer; a question that is
	// not must be refused.
	Answerable bool
	Refused    bool // the system said that the documents do not tell
	// Confidence grows with how sure the system was that it can answer, on any
	// scale that is the same for all questions.
	Confidence float64
	Elapsed    time.Duration
	Cited      []Cited
	Answers    []string       // right answers, any of them; nil if unknown
	Judged     map[string]int // grades of documents or pages
}

// Cited is one citation of an answer.
type Cited struct {
	// IDs are the judged units it points into, as a Locate names them.
	IDs  []string
	Text string // the cited passage
}

// Ratio is a mean or a share of N; without any it is undefined, null in JSON.
type Ratio struct {
	Sum float64
	N   int
}

func (r *Ratio) add(v float64) { r.Sum += v; r.N++ }

func (r *Ratio) count(yes bool) {
	r.N++
	if yes {
		r.Sum++
	}
}

// Value returns Sum/N, 0 if it is undefined.
func (r Ratio) Value() float64 {
	if r.N == 0 {
		return 0
	}
	return r.Sum / float64(r.N)
}

// MarshalJSON writes the value to six decimals, or null.
func (r Ratio) MarshalJSON() ([]byte, error) {
	if r.N == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(round(r.Value(), 6))
}

// AnswerSummary are the figures of a set of replies.
type AnswerSummary struct {
	Questions  int `json:"questions"`
	Answerable int `json:"answerable"`
	Answered   int `json:"answered"` // answerable questions that were not refused
	// InCited is the share of the answerable questions whose known answer
	// Contains finds in a passage that the reply cites. A refusal is a miss.
	// Questions of which only yes, no or maybe is known are left out.
	InCited Ratio `json:"answer_in_cited_text"`
	// CitationPrecision is the mean, over answered questions with a citation,
	// of the share of citations that point to a relevant document or page.
	CitationPrecision Ratio `json:"citation_precision"`
	// CitationRecall is the mean, over answered questions with something
	// relevant, of the share of relevant documents or pages that are cited.
	CitationRecall Ratio `json:"citation_recall"`
	// RefusalPrecision is the share of refusals that were due, RefusalRecall
	// the share of due refusals that came, RefusalF1 their harmonic mean; all
	// undefined where nothing had to be refused.
	RefusalPrecision Ratio `json:"refusal_precision"`
	RefusalRecall    Ratio `json:"refusal_recall"`
	RefusalF1        Ratio `json:"refusal_f1"`
	// AUROC is the probability that an answerable question has a higher
	// Confidence than one that is not.
	AUROC Ratio `json:"auroc"`
	// P50 and P95 are quantiles of Elapsed, in milliseconds.
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
}

// SummariseReplies computes the figures of replies.
func SummariseReplies(replies []Reply) AnswerSummary {
	s := AnswerSummary{Questions: len(replies)}
	var can, cannot []float64
	for _, r := range replies {
		if !r.Answerable {
			cannot = append(cannot, r.Confidence)
			continue
		}
		can = append(can, r.Confidence)
		s.Answerable++
		if literal(r.Answers) {
			s.InCited.count(!r.Refused && r.answerCited())
		}
		if !r.Refused {
			s.Answered++
			s.addCitations(r)
		}
	}
	s.RefusalPrecision, s.RefusalRecall, s.RefusalF1 = refusals(replies)
	s.AUROC = AUROC(can, cannot)
	times := make([]time.Duration, len(replies))
	for i, r := range replies {
		times[i] = r.Elapsed
	}
	s.P50, s.P95 = milliseconds(Quantile(times, .5)), milliseconds(Quantile(times, .95))
	return s
}

func (r Reply) answerCited() bool {
	return slices.ContainsFunc(r.Cited, func(c Cited) bool { return Contains(c.Text, r.Answers) })
}

func (s *AnswerSummary) addCitations(r Reply) {
	right, found := r.citations()
	if right.N > 0 {
		s.CitationPrecision.add(right.Value())
	}
	if found.N > 0 {
		s.CitationRecall.add(found.Value())
	}
}

// citations returns the share of citations that point to something relevant,
// and the share of what is relevant that is cited.
func (r Reply) citations() (right, found Ratio) {
	cited := map[string]bool{}
	for _, c := range r.Cited {
		right.count(slices.ContainsFunc(c.IDs, func(id string) bool { return r.Judged[id] > 0 }))
		for _, id := range c.IDs {
			cited[id] = true
		}
	}
	for id, grade := range r.Judged {
		if grade > 0 {
			found.count(cited[id])
		}
	}
	return right, found
}

// refusals returns precision, recall and F1 of refusing.
func refusals(replies []Reply) (precision, recall, f1 Ratio) {
	for _, r := range replies {
		if r.Refused {
			precision.count(!r.Answerable)
		}
		if !r.Answerable {
			recall.count(r.Refused)
		}
	}
	if recall.N == 0 {
		return Ratio{}, Ratio{}, Ratio{}
	}
	// 2PR/(P+R) with the common numerator cancelled: defined without refusals.
	f1 = Ratio{Sum: 2 * recall.Sum, N: precision.N + recall.N}
	return precision, recall, f1
}

// AUROC is the probability that a value of high, picked at random, is above
// one of low, equal ones counting half (Mann and Whitney 1947); N is the
// number of pairs. It is undefined if either is empty.
func AUROC(high, low []float64) Ratio {
	sorted := slices.Sorted(slices.Values(low))
	r := Ratio{N: len(high) * len(low)}
	for _, v := range high {
		under, _ := slices.BinarySearch(sorted, v)
		upTo, _ := slices.BinarySearchFunc(sorted, v, func(e, v float64) int {
			if e <= v {
				return -1
			}
			return 1
		})
		r.Sum += float64(under+upTo) / 2
	}
	return r
}
