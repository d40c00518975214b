package eval_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval/eval"
)

func TestWriteReplies(t *testing.T) {
	replies := []eval.Reply{
		{
			Query: "q1", Text: "How <old>?", Answerable: true, Confidence: .75, Elapsed: 1500 * time.Microsecond, Answer: "Ten. [1]", Answers: []string{"ten"},
			Cited:  []eval.Cited{{IDs: []string{"d1", "d2"}, Text: "It is ten years old."}, {Text: "elsewhere"}},
			Judged: map[string]int{"d1": 1, "d3": 2},
		},
		{Query: "q2", Text: "Why?", Refused: true},
	}
	var b bytes.Buffer
	if err := eval.WriteReplies(&b, replies); err != nil {
		t.Fatal(err)
	}
	want := `{"query":"q1","text":"How \u003cold\u003e?","answerable":true,"refused":false,"confidence":0.75,"answer":"Ten. [1]","ms":1.5,` +
		`"answer_in_cited_text":1,"citation_precision":0.5,"citation_recall":0.5,"cited":[["d1","d2"],[]]}
{"query":"q2","text":"Why?","answerable":false,"refused":true,"confidence":0,"answer":"","ms":0,` +
		`"answer_in_cited_text":null,"citation_precision":null,"citation_recall":null,"cited":[]}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// Only figures that are defined can be held against a bar.
func TestFiguresOfAnswers(t *testing.T) {
	s := eval.SummariseReplies([]eval.Reply{
		{Answerable: true, Confidence: .9, Answers: []string{"x"}, Cited: []eval.Cited{{Text: "x"}}},
		{Refused: true, Confidence: .1},
	})
	want := eval.Figures{
		{Name: "answer_in_cited_text", Value: 1}, {Name: "citation_precision"}, {Name: "refusal_precision", Value: 1},
		{Name: "refusal_recall", Value: 1}, {Name: "refusal_f1", Value: 1}, {Name: "auroc", Value: 1},
	}
	if diff := cmp.Diff(want, s.Figures()); diff != "" {
		t.Error(diff)
	}
	if missed := s.Figures().Under([]eval.Bar{{Name: "citation_recall", Min: 0}, {Name: "auroc", Min: 1}}); len(missed) != 1 {
		t.Errorf("missed %v", missed)
	}
}
