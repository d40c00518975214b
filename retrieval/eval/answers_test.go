package eval_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/retrieval/eval"
)

func TestNormalise(t *testing.T) {
	for text, want := range map[string]string{
		"The U.S. paid  $1,577 (an estimate).": "us paid 1577 estimate",
		"A man, a plan: THE canal":             "man plan canal",
		"anthem theory":                        "anthem theory",
		"光荣和ω-force":                           "光 荣 和 ωforce",
		"《战国无双３》":                              "战 国 无 双 3",
		"ラーメン、うまい":                             "ラ ー メ ン う ま い",
		"서울은":                                  "서 울 은",
		"Größe":                                "größe",
		"...":                                  "",
	} {
		if diff := cmp.Diff(want, strings.Join(eval.Normalise(text), " ")); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestContains(t *testing.T) {
	for _, tc := range []struct {
		text    string
		answers []string
		want    bool
	}{
		{"It began in October 1973 when", []string{"october 1973"}, true},
		{"It began in October 1973 when", []string{"November", "1973"}, true},
		{"It began in October 1973 when", []string{"197"}, false},
		{"built in 2012", []string{"12"}, false},
		{"worth $12 a barrel", []string{"nearly $12", "$12"}, true},
		{"a 10-year plan", []string{"10"}, true},
		{"a 10-year plan", []string{"10-year"}, true},
		{"the U.S. army", []string{"US"}, true},
		{"the U.S. army", []string{"U S"}, true},
		{"the end of the war", []string{"end of war"}, true},
		{"由光荣和ω-force开发", []string{"光荣和ω-force"}, true},
		{"由光荣和ω-force开发", []string{"光和"}, false},
		{"anything", []string{"", "the", "..."}, false},
		{"", []string{"x"}, false},
		{"anything", nil, false},
	} {
		if got := eval.Contains(tc.text, tc.answers); got != tc.want {
			t.Errorf("Contains(%q, %q) = %v", tc.text, tc.answers, got)
		}
	}
}

func TestSummariseReplies(t *testing.T) {
	right := eval.Cited{IDs: []string{"d1"}, Text: "It began in October 1973."}
	wrong := eval.Cited{IDs: []string{"d9"}, Text: "Something else."}
	both := map[string]int{"d1": 1, "d2": 2, "d9": 0}
	replies := []eval.Reply{
		{Query: "q1", Answerable: true, Confidence: .9, Answers: []string{"1973"}, Judged: both, Cited: []eval.Cited{right, wrong, right}},
		{Query: "q2", Answerable: true, Confidence: .5, Answers: []string{"1974"}, Judged: both, Cited: []eval.Cited{right, {IDs: []string{"d0", "d2"}}}},
		{Query: "q3", Answerable: true, Confidence: .2, Answers: []string{"Yes."}, Judged: both}, // no citation; no literal answer
		{Query: "q4", Answerable: true, Confidence: .1, Answers: []string{"1973"}, Judged: both, Refused: true, Cited: []eval.Cited{right}},
		{Query: "u1", Confidence: .5},
		{Query: "u2", Confidence: .1, Refused: true},
		{Query: "u3", Confidence: 0, Refused: true},
	}
	s := eval.SummariseReplies(replies)
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	// In cited text: q1 of q1, q2, q4. Precision: 2/3 and 1 of q1, q2. Recall:
	// 1/2, 1 and 0 of q1, q2, q3. Refusals: 2 of 3 due, 2 of 3 came. AUROC: q1
	// beats 3, q2 2.5, q3 2, q4 1.5 of 3 each.
	want := `{"questions":7,"answerable":4,"answered":3,"answer_in_cited_text":0.333333,"citation_precision":0.833333,` +
		`"citation_recall":0.5,"refusal_precision":0.666667,"refusal_recall":0.666667,"refusal_f1":0.666667,"auroc":0.75,"p50_ms":0,"p95_ms":0}`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestSummariseRepliesWithoutUnanswerable(t *testing.T) {
	got, err := json.Marshal(eval.SummariseReplies([]eval.Reply{{Answerable: true, Refused: true}}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"questions":1,"answerable":1,"answered":0,"answer_in_cited_text":null,"citation_precision":null,"citation_recall":null,` +
		`"refusal_precision":null,"refusal_recall":null,"refusal_f1":null,"auroc":null,"p50_ms":0,"p95_ms":0}`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if f1 := eval.SummariseReplies([]eval.Reply{{}}).RefusalF1; f1.N == 0 || f1.Value() != 0 {
		t.Errorf("nothing refused that had to be: F1 %v of %d", f1.Value(), f1.N)
	}
}

func TestAUROCCountsPairs(t *testing.T) {
	few := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 5), func(n int) float64 { return float64(n) }), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		high, low := few.Draw(t, "high"), few.Draw(t, "low")
		want := 0.0
		for _, h := range high {
			for _, l := range low {
				switch {
				case h > l:
					want++
				case h == l:
					want += .5
				}
			}
		}
		got := eval.AUROC(high, low)
		if got.N != len(high)*len(low) || math.Abs(got.Sum-want) > 1e-9 {
			t.Fatalf("%v of %d pairs, want %v", got.Sum, got.N, want)
		}
	})
}
