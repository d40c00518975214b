package eval_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragagent/retrieval/eval"
)

// trecNames maps trec_eval's names to measures. recip_rank has no cut there:
// recip_rank_10 was computed with -M 10.
func trecNames() map[string]eval.Measure {
	return map[string]eval.Measure{
		"ndcg_cut_1": {Kind: eval.NDCG, Cut: 1}, "ndcg_cut_3": {Kind: eval.NDCG, Cut: 3},
		"ndcg_cut_10": {Kind: eval.NDCG, Cut: 10}, "ndcg_cut_100": {Kind: eval.NDCG, Cut: 100}, "ndcg": {Kind: eval.NDCG},
		"recall_5": {Kind: eval.Recall, Cut: 5}, "recall_10": {Kind: eval.Recall, Cut: 10}, "recall_100": {Kind: eval.Recall, Cut: 100},
		"P_1": {Kind: eval.Precision, Cut: 1}, "P_5": {Kind: eval.Precision, Cut: 5}, "P_10": {Kind: eval.Precision, Cut: 10},
		"set_P":      {Kind: eval.Precision},
		"recip_rank": {Kind: eval.MRR}, "recip_rank_10": {Kind: eval.MRR, Cut: 10},
		"map": {Kind: eval.MAP}, "map_cut_10": {Kind: eval.MAP, Cut: 10},
		"success_1": {Kind: eval.Success, Cut: 1}, "success_5": {Kind: eval.Success, Cut: 5}, "success_10": {Kind: eval.Success, Cut: 10},
	}
}

// The stored figures come from the ranking and measure functions of trec_eval
// 9 (form_res_rels.c, m_*.c) in a driver that reads the files and takes means
// as -c does, on the small run beside them: ties, negative scores, unjudged
// documents, grades from -1 to 3, a query that returns nothing (q07), one with
// nothing relevant (q19) and one without judgements (q99).
func TestFiguresOfTrecEval(t *testing.T) {
	dir := filepath.Join("testdata", "trec_eval")
	qrels := read(t, filepath.Join(dir, "qrels.txt"), eval.ReadQrels)
	run := read(t, filepath.Join(dir, "run.txt"), eval.ReadRun)
	names := trecNames()
	var measures []eval.Measure
	for _, m := range names {
		measures = append(measures, m)
	}
	scores, err := eval.Evaluate(qrels, run, measures)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, m := range names {
		got[name+" all"] = fmt.Sprintf("%.4f", scores.Mean(m))
		for i, v := range scores.Of(m) {
			got[name+" "+scores.Queries[i]] = fmt.Sprintf("%.4f", v)
		}
	}
	f, err := os.Open(filepath.Join(dir, "out.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	compared := 0
	for lines := bufio.NewScanner(f); lines.Scan(); compared++ {
		field := strings.Fields(lines.Text())
		if key := field[0] + " " + field[1]; got[key] != field[2] {
			t.Errorf("%s = %s, trec_eval says %s", key, got[key], field[2])
		}
	}
	if want := len(names) * 20; compared != want { // 19 queries with results, and all
		t.Errorf("%d figures compared, want %d", compared, want)
	}
}

func read[T any](t *testing.T, path string, parse func(r io.Reader, name string) (T, error)) T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := parse(f, path)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
