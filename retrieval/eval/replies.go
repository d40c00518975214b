package eval

import (
	"bufio"
	"fmt"
	"io"
)

// AnswerFigures are the names of the figures of an AnswerSummary that a Bar can
// be set on.
func AnswerFigures() []string {
	var names []string
	for _, r := range (AnswerSummary{}).ratios() {
		names = append(names, r.name)
	}
	return names
}

type namedRatio struct {
	name string
	Ratio
}

func (s AnswerSummary) ratios() []namedRatio {
	return []namedRatio{
		{"answer_in_cited_text", s.InCited},
		{"citation_precision", s.CitationPrecision},
		{"citation_recall", s.CitationRecall},
		{"refusal_precision", s.RefusalPrecision},
		{"refusal_recall", s.RefusalRecall},
		{"refusal_f1", s.RefusalF1},
		{"auroc", s.AUROC},
	}
}

// Figures returns those that are defined.
func (s AnswerSummary) Figures() Figures {
	var all Figures
	for _, r := range s.ratios() {
		if r.N > 0 {
			all = append(all, Figure{r.name, r.Value()})
		}
	}
	return all
}

// WriteReplies writes one JSON object a line and reply, in their order:
// "query", "text", "answerable", "refused", "confidence", "answer", "ms", the figures
// of AnswerSummary for this one reply, null where they are undefined, and
// "cited", the ids that its citations point into.
func WriteReplies(w io.Writer, replies []Reply) error {
	out := bufio.NewWriter(w)
	for _, r := range replies {
		line, err := r.line()
		if err != nil {
			return fmt.Errorf("write the reply to %q: %w", r.Query, err)
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	return out.Flush()
}

func (r Reply) line() ([]byte, error) {
	o := object{}
	o.add("query", r.Query)
	o.add("text", r.Text)
	o.add("answerable", r.Answerable)
	o.add("refused", r.Refused)
	o.add("confidence", round(r.Confidence, 6))
	o.add("answer", r.Answer)
	o.add("ms", milliseconds(r.Elapsed))
	s := SummariseReplies([]Reply{r})
	o.add("answer_in_cited_text", s.InCited)
	o.add("citation_precision", s.CitationPrecision)
	o.add("citation_recall", s.CitationRecall)
	cited := [][]string{}
	for _, c := range r.Cited {
		cited = append(cited, append([]string{}, c.IDs...))
	}
	o.add("cited", cited)
	return o.bytes()
}
