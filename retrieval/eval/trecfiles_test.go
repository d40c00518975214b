package eval_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/retrieval/eval"
	"ragagent/store"
)

func TestReadQrelsInBothFormats(t *testing.T) {
	want := eval.Qrels{"q1": {"d 1": 1, "d2": 0}, "q2": {"d3": 2}}
	beir := "\xef\xbb\xbfquery-id\tcorpus-id\tscore\r\nq1\td 1\t1\r\n\nq1\td2\t0\nq2\td3\t2\nq2\td3\t2.0"
	got, err := eval.ReadQrels(strings.NewReader(beir), "test.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("BEIR: %s", diff)
	}
	if got, err := eval.ReadQrels(strings.NewReader("#q1\td1\t1"), "test.tsv"); err != nil || got["#q1"]["d1"] != 1 {
		t.Errorf("a BEIR query id that begins with #: %v, %v", got, err)
	}
	trec := "# a comment\nq1 0 d1 1\nq1\t0\td2\t0\nq2 Q0 d3 -1\n"
	got, err = eval.ReadQrels(strings.NewReader(trec), "qrels")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(eval.Qrels{"q1": {"d1": 1, "d2": 0}, "q2": {"d3": -1}}, got); diff != "" {
		t.Errorf("TREC: %s", diff)
	}
	for name, text := range map[string]string{
		"three fields, spaces": "query-id corpus-id score\nq1 d1 1\nq1  d2 0\nq2 d3 -1\n",
		"four fields, tabs":    "qid\titer\tdocno\trel\nq1\t0\td1\t1\nq1\t0\td2\t0\nq2\t0\td3\t-1",
		"mixed":                "q1 0 d1 1\r\nq1\td2\t0\r\nq2 d3 -1",
	} {
		got, err := eval.ReadQrels(strings.NewReader(text), "qrels")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(eval.Qrels{"q1": {"d1": 1, "d2": 0}, "q2": {"d3": -1}}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestReadQrelsRejects(t *testing.T) {
	for text, want := range map[string]string{
		"q1 0 d1":                                `f:1: the grade "d1" is not a whole number`,
		"q1\td1\t1\nq1 d1":                       "f:2: 2 fields",
		"q1\td1\t1\nq1 d1 1 x y":                 "f:2: 5 fields",
		"q1\td1\t1\nq1\td2\tyes":                 `f:2: the grade "yes" is not a whole number`,
		"q1 0 d1 1.5":                            `f:1: the grade "1.5"`,
		"q1 0 d1 99999999999":                    `f:1: the grade`,
		"q1 0 d1 NaN":                            `f:1: the grade "NaN"`,
		"a\tb\tc\nq1 0 d1 1\nq1 0 d1 2":          "f:3: query \"q1\" judges document \"d1\" a second time, 2 after 1",
		"q1\t \t1":                               "f:1: an empty id",
		"":                                       "f: no judgement in it",
		"query-id\tcorpus-id\tscore\n":           "f: no judgement in it",
		"q1 0 d1 0\nq2 0 d1 -1":                  "f: no judgement with a grade above 0 in it",
		strings.Repeat("x", eval.MaxLineBytes+1): "f:1: the line is longer",
	} {
		_, err := eval.ReadQrels(strings.NewReader(text), "f")
		if !errors.Is(err, store.ErrInvalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q", text, err, want)
		}
	}
}

func TestReadRunOrdersAsTrecEval(t *testing.T) {
	text := `q1 Q0 d1 9 0.5 tag
q1 Q0 d10 1 0.5 tag
q1 Q0 d9 2 0.5 tag
q2	Q0	a	1	-1e-3
# comment
q1 Q0 top 4 7 tag more
`
	run, err := eval.ReadRun(strings.NewReader(text), "run")
	if err != nil {
		t.Fatal(err)
	}
	want := eval.Run{
		"q1": {{ID: "top", Score: 7}, {ID: "d9", Score: .5}, {ID: "d10", Score: .5}, {ID: "d1", Score: .5}},
		"q2": {{ID: "a", Score: -.001}},
	}
	if diff := cmp.Diff(want, run); diff != "" {
		t.Error(diff)
	}
}

// trec_eval keeps scores in single precision: what is one number there is a tie.
func TestReadRunTiesInSinglePrecision(t *testing.T) {
	run, err := eval.ReadRun(strings.NewReader("q Q0 a 1 16777217.5 t\nq Q0 b 2 16777217.25 t\nq Q0 c 3 1e300 t\nq Q0 d 4 1e200 t\n"), "run")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, s := range run["q"] {
		order = append(order, s.ID)
	}
	if diff := cmp.Diff([]string{"d", "c", "b", "a"}, order); diff != "" {
		t.Error(diff)
	}
}

// The order of the lines of either file changes no figure, and every figure is
// within 0..1.
func TestFiguresDoNotDependOnTheOrderOfLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zé]{1,4}`), 1, 12, rapid.ID[string]).Draw(t, "ids")
		qrels, run := []string{"q0 0 always 1"}, []string{"q0 Q0 other 1 0 t"}
		for _, q := range []string{"q0", "q1", "q2"} {
			for i, id := range ids {
				if rapid.Bool().Draw(t, "judged") {
					qrels = append(qrels, fmt.Sprintf("%s 0 %s %d", q, id, rapid.IntRange(-2, 4).Draw(t, "grade")))
				}
				if rapid.Bool().Draw(t, "found") {
					run = append(run, fmt.Sprintf("%s Q0 %s %d %d t", q, id, i, rapid.IntRange(0, 3).Draw(t, "score")))
				}
			}
		}
		measures := []eval.Measure{{Kind: eval.NDCG, Cut: 3}, {Kind: eval.NDCG}, {Kind: eval.Recall, Cut: 2}, {Kind: eval.Precision, Cut: 5},
			{Kind: eval.Precision}, {Kind: eval.MRR}, {Kind: eval.MAP}, {Kind: eval.MAP, Cut: 2}, {Kind: eval.Success, Cut: 1}, {Kind: eval.Complete}}
		scores := func(qrels, run []string) eval.Scores {
			q, err := eval.ReadQrels(strings.NewReader(strings.Join(qrels, "\n")), "qrels")
			if err != nil {
				t.Fatal(err)
			}
			r, err := eval.ReadRun(strings.NewReader(strings.Join(run, "\n")), "run")
			if err != nil {
				t.Fatal(err)
			}
			s, err := eval.Evaluate(q, r, measures)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		want := scores(qrels, run)
		for _, row := range want.Values {
			for j, v := range row {
				if !(v >= 0 && v <= 1+1e-12) {
					t.Fatalf("%s is %v", measures[j], v)
				}
			}
		}
		got := scores(rapid.Permutation(qrels).Draw(t, "qrels"), rapid.Permutation(run).Draw(t, "run"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestReadRunRejects(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "run:1: no result in it",
		"q1 Q0 d1 1":                        "run:1: 4 fields",
		"q1 Q0 d1 1 x t":                    `run:1: the score "x"`,
		"q1 Q0 d1 1 NaN t":                  `run:1: the score "NaN"`,
		"q1 Q0 d1 1 1 t\n\nq1 Q0 d1 2 .5 t": `run:3: document "d1" a second time for query "q1"`,
	} {
		_, err := eval.ReadRun(strings.NewReader(text), "run")
		if !errors.Is(err, store.ErrInvalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestWriteRunPrintsScoresThatDecrease(t *testing.T) {
	run := eval.Run{
		"q2": {{ID: "a", Score: .1}},
		"q1": {{ID: "a", Score: 1}, {ID: "z", Score: 1}, {ID: "b", Score: .25}, {ID: "c", Score: .9}},
	}
	var out bytes.Buffer
	if err := eval.WriteRun(&out, run, "mine"); err != nil {
		t.Fatal(err)
	}
	want := `q1 Q0 a 1 1 mine
q1 Q0 z 2 0.99999994 mine
q1 Q0 b 3 0.25 mine
q1 Q0 c 4 0.24999999 mine
q2 Q0 a 1 0.1 mine
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteRunRejects(t *testing.T) {
	for name, err := range map[string]error{
		"space in id":    eval.WriteRun(&bytes.Buffer{}, eval.Run{"q": {{ID: "a b"}}}, "t"),
		"space in query": eval.WriteRun(&bytes.Buffer{}, eval.Run{"q ": {{ID: "a"}}}, "t"),
		"comment":        eval.WriteRun(&bytes.Buffer{}, eval.Run{"#q": {{ID: "a"}}}, "t"),
		"empty tag":      eval.WriteRun(&bytes.Buffer{}, eval.Run{"q": {{ID: "a"}}}, ""),
		"NaN":            eval.WriteRun(&bytes.Buffer{}, eval.Run{"q": {{ID: "a", Score: math.NaN()}}}, "t"),
		"infinite":       eval.WriteRun(&bytes.Buffer{}, eval.Run{"q": {{ID: "a", Score: math.Inf(-1)}}}, "t"),
		"qrels":          eval.WriteQrels(&bytes.Buffer{}, eval.Qrels{"q": {"a\n": 1}}),
	} {
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

// What is written and read again has the same order, whatever the scores, in
// double precision and in the single precision of older trec_evals.
func TestRunsKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := drawRanking(t, 12)
		for i := range ranks {
			if rapid.Bool().Draw(t, "any score") {
				ranks[i].Score = rapid.Float64Range(-1e30, 1e30).Draw(t, "score")
			}
		}
		if len(ranks) == 0 {
			t.Skip("a TREC file has no word for nothing")
		}
		var out bytes.Buffer
		if err := eval.WriteRun(&out, eval.Run{"q": ranks}, "t"); err != nil {
			t.Fatal(err)
		}
		back, err := eval.ReadRun(&out, "run")
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range back["q"] {
			if s.ID != ranks[i].ID {
				t.Fatalf("rank %d is %s, was %s", i+1, s.ID, ranks[i].ID)
			}
			if i > 0 && float32(s.Score) >= float32(back["q"][i-1].Score) {
				t.Fatalf("rank %d does not score below the one above in single precision", i+1)
			}
		}
	})
}

func TestWriteQrelsCanBeRead(t *testing.T) {
	want := eval.Qrels{"q1": {"d1": 1, "d2": 0}, "q2": {"d3": -2}}
	var out bytes.Buffer
	if err := eval.WriteQrels(&out, want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 -2\n", out.String()); diff != "" {
		t.Error(diff)
	}
	got, err := eval.ReadQrels(&out, "qrels")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFolding(t *testing.T) {
	qrels := eval.Qrels{"q": {"a#p1": 0, "a#p2": 2, "b#p1": -1, "c": 1}}
	if diff := cmp.Diff(eval.Qrels{"q": {"a": 2, "b": -1, "c": 1}}, qrels.Fold(eval.File)); diff != "" {
		t.Error(diff)
	}
	run := eval.Run{"q": {{ID: "b#p9", Score: 3}, {ID: "a#p1", Score: 2}, {ID: "b#p1", Score: 1}}}
	if diff := cmp.Diff(eval.Run{"q": {{ID: "b", Score: 3}, {ID: "a", Score: 2}}}, run.Fold(eval.File)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a#p2", "c"}, qrels.Relevant("q")); diff != "" {
		t.Error(diff)
	}
}

// What can be read as a run can be written, unless an id or score cannot stand
// in a file, and reads the same way again.
func FuzzReadRun(f *testing.F) {
	f.Add([]byte("q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 1e-3 tag\n# x\n\nq2 Q0 d1 1 -7 tag"))
	f.Add([]byte("\xef\xbb\xbf#q Q0 d 1 1e40 t\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := eval.ReadRun(bytes.NewReader(data), "run")
		if err != nil {
			if !errors.Is(err, store.ErrInvalid) {
				t.Fatalf("%v is no ErrInvalid", err)
			}
			return
		}
		var out bytes.Buffer
		if err := eval.WriteRun(&out, run, "t"); err != nil {
			if !errors.Is(err, store.ErrInvalid) {
				t.Fatalf("%v is no ErrInvalid", err)
			}
			return
		}
		back, err := eval.ReadRun(&out, "back")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ids(run), ids(back)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// ids drops the scores of a run.
func ids(run eval.Run) map[string][]string {
	all := map[string][]string{}
	for query, ranking := range run {
		for _, s := range ranking {
			all[query] = append(all[query], s.ID)
		}
	}
	return all
}

func FuzzReadQrels(f *testing.F) {
	f.Add([]byte("query-id\tcorpus-id\tscore\nq1\td 1\t1\n"))
	f.Add([]byte("# x\nq1 0 d1 1\nq1 0 d2 -1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		qrels, err := eval.ReadQrels(bytes.NewReader(data), "qrels")
		if err != nil {
			if !errors.Is(err, store.ErrInvalid) {
				t.Fatalf("%v is no ErrInvalid", err)
			}
			return
		}
		var out bytes.Buffer
		if err := eval.WriteQrels(&out, qrels); err != nil {
			return // an id with white space, which TREC files cannot hold
		}
		back, err := eval.ReadQrels(&out, "back")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(qrels, back); diff != "" {
			t.Fatal(diff)
		}
	})
}
