package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// collection writes a small BEIR folder and returns its path.
func collection(t *testing.T) string {
	t.Helper()
	return writeFolder(t, map[string]string{
		"corpus.jsonl": `{"_id": "tomato", "title": "Tomatoes", "text": "Tomatoes are watered every second evening."}
{"_id": "bean", "title": "Beans", "text": "Runner beans climb up strings in the greenhouse."}
{"_id": "bee", "title": "Bees", "text": "The hive stands behind the shed and faces south."}
`,
		"queries.jsonl": `{"_id": "q1", "text": "how often are tomatoes watered?"}
{"_id": "q2", "text": "where does the hive stand?"}
{"_id": "q3", "text": "what climbs up strings?", "accepted": false}
`,
		"qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\ttomato\t1\nq2\tbean\t1\nq3\tbean\t1\n",
	})
}

func writeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestEval measures a collection whose figures are known: the first question
// finds its document, the second asks for one that it does not judge, the third
// is struck out.
func TestEval(t *testing.T) {
	dir, out := collection(t), t.TempDir()
	perQuery, run := filepath.Join(out, "queries.jsonl"), filepath.Join(out, "a.run")
	code, stdout, msg := command(t, "eval", "--dataset", dir, "--mode", "lexical", "--json", "--metrics", "P@1,recall@1,success@1",
		"--fail-under", "success@1=0.5", "--fail-under", "ndcg@1=0.6", "--per-query", perQuery, "--run", run, "--report", filepath.Join(out, "new", "report"))
	if code != exitFailed || !strings.Contains(msg, "ndcg@1 is 0.5000, below 0.6") || strings.Contains(msg, "success@1 is") {
		t.Errorf("exit %d\n%s", code, msg)
	}
	if !strings.Contains(msg, "1 questions are struck out") {
		t.Errorf("nothing said of the question that is struck out:\n%s", msg)
	}
	var sum struct {
		Queries   int     `json:"queries"`
		Precision float64 `json:"P@1"`
		Recall    float64 `json:"recall@1"`
		NDCG      float64 `json:"ndcg@1"`
		Chunks    int     `json:"chunks"`
		Bytes     int     `json:"index_bytes_per_chunk"`
		Stages    map[string]struct {
			P50 float64 `json:"p50_ms"`
			P95 float64 `json:"p95_ms"`
		} `json:"stages"`
	}
	if err := json.Unmarshal([]byte(stdout), &sum); err != nil {
		t.Fatal(err)
	}
	if sum.Queries != 2 || sum.Precision != .5 || sum.Recall != .5 || sum.NDCG != .5 || sum.Chunks != 3 || sum.Bytes <= 0 {
		t.Errorf("%s", stdout)
	}
	if s := sum.Stages["words"]; s.P95 <= 0 || s.P50 > s.P95 {
		t.Errorf("stages: %s", stdout)
	}
	var rows []map[string]any
	for _, line := range strings.Split(strings.TrimSpace(fileText(t, perQuery)), "\n") {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if len(rows) != 2 || rows[0]["query"] != "q1" || rows[0]["P@1"] != 1.0 || rows[1]["query"] != "q2" || rows[1]["P@1"] != 0.0 {
		t.Errorf("per query: %v", rows)
	}
	if html := fileText(t, filepath.Join(out, "new", "report", "report.html")); !strings.Contains(html, "<svg") || strings.Contains(html, "src=") || strings.Contains(html, "href=") {
		t.Error("the report has no plot, or refers to other files")
	}
	if !strings.HasPrefix(fileText(t, run), "q1 Q0 tomato 1 ") {
		t.Errorf("run file:\n%s", fileText(t, run))
	}
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestEvalScoreAndCompare work on run files alone.
func TestEvalScoreAndCompare(t *testing.T) {
	dir := writeFolder(t, map[string]string{
		"qrels": "q1 0 d1 2\nq1 0 d2 1\nq2 0 d3 1\nq3 0 d9 1\n",
		"a.run": "q1 Q0 d2 1 9 a\nq1 Q0 d1 2 8 a\nq2 Q0 d4 1 2 a\nq2 Q0 d3 2 2 a\nq9 Q0 d1 1 1 a\n",
		"b.run": "q1 Q0 d1 1 9 b\nq1 Q0 d2 2 8 b\nq2 Q0 d3 1 3 b\n",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	perQuery := filepath.Join(dir, "per.jsonl")
	code, out, msg := command(t, "eval", "score", at("a.run"), "--qrels", at("qrels"), "--metrics", "recip_rank,ndcg@10,p@2", "--json", "--per-query", perQuery)
	// q1: (1/log2(2) + 2/log2(3)) / (2 + 1/log2(3)) = .859719; q2: d4 before d3,
	// the larger id first at equal scores, 1/log2(3) = .630930; q3 has nothing.
	if want := `{"queries":3,"recip_rank":0.5,"ndcg@10":0.496883,"p@2":0.5}`; code != exitOK || strings.TrimSpace(out) != want {
		t.Errorf("exit %d, %s, want %s\n%s", code, out, want, msg)
	}
	for _, want := range []string{"1 of 3 judged queries have no ranking and count 0", "1 queries without judgements"} {
		if !strings.Contains(msg, want) {
			t.Errorf("not said: %s\n%s", want, msg)
		}
	}
	if diff := cmp.Diff("{\"query\":\"q1\",\"recip_rank\":1,\"ndcg@10\":0.859719,\"p@2\":1}\n"+
		"{\"query\":\"q2\",\"recip_rank\":0.5,\"ndcg@10\":0.63093,\"p@2\":0.5}\n"+
		"{\"query\":\"q3\",\"recip_rank\":0,\"ndcg@10\":0,\"p@2\":0}\n", fileText(t, perQuery)); diff != "" {
		t.Error(diff)
	}
	code, out, msg = command(t, "eval", "compare", at("a.run"), at("b.run"), "--qrels", at("qrels"), "--json", "--measure", "mrr", "--seed", "7", "--per-query", perQuery)
	var c struct {
		P                            float64 `json:"p_value"`
		Exact                        bool
		Wins, Ties, Losses, Seed     int
		Permutations, Queries        int
		Difference                   float64
		Changed                      []struct{ Query string }
		A, B, CILow, CIHigh, Unknown float64
	}
	if err := json.Unmarshal([]byte(out), &c); code != exitOK || err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, msg)
	}
	if c.Wins != 1 || c.Ties != 2 || c.Losses != 0 || c.P != 1 || !c.Exact || c.Permutations != 2 || c.Seed != 7 || len(c.Changed) != 1 || c.Changed[0].Query != "q2" {
		t.Errorf("%s", out)
	}
	if want := `{"query":"q2","a":0.5,"b":1,"difference":0.5}`; strings.Split(fileText(t, perQuery), "\n")[1] != want {
		t.Errorf("per query:\n%s", fileText(t, perQuery))
	}
}

// TestEvalUsage: what cannot be measured is said before anything is ingested.
func TestEvalUsage(t *testing.T) {
	dir := collection(t)
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	qrels, run := file("qrels", "q1 0 d1 1\n"), file("run", "q1 Q0 d1 1 1 t\n")
	twice := file("twice.run", "q1 Q0 d1 1 1 t\nq1 Q0 d1 2 .5 t\n")
	for _, tc := range []struct {
		args []string
		code int
		say  string
	}{
		{[]string{"--dataset", dir, "--metrics", "bpref"}, exitUsage, "none of ndcg, recall"},
		{[]string{"--dataset", dir, "--fail-under", "speed=3"}, exitUsage, `"speed" is no figure`},
		{[]string{"--dataset", dir, "--fail-under", "file_success@1=.5"}, exitUsage, "is no figure"},
		{[]string{"--dataset", dir, "--fail-under", "ndcg@10=high"}, exitUsage, "ndcg@10=0.41"},
		{[]string{"--dataset", dir, "--metrics", "ndcg@2000"}, exitUsage, "--top-k"},
		{[]string{"--dataset", dir, "--top-k", "0"}, exitUsage, "--top-k"},
		{[]string{"--dataset", dir, "--run", filepath.Join(dir, "nowhere", "x")}, exitUsage, "its folder is not there"},
		{[]string{"--dataset", dir, "--split", "dev"}, exitFailed, "dev.tsv: the file is missing; its folder has test.tsv"},
		{[]string{"--dataset", filepath.Join(dir, "none")}, exitUsage, "none"},
		{[]string{"compare", run, run, "--qrels", qrels, "--measure", "magic"}, exitUsage, "none of ndcg"},
		{[]string{"compare", run, run, "--qrels", qrels, "--level", "2"}, exitUsage, "level"},
		{[]string{"compare", run, twice, "--qrels", qrels}, exitFailed, `twice.run:2: document "d1" a second time`},
		{[]string{"score", run, "--qrels", run}, exitFailed, "run:1: 6 fields"},
		{[]string{"score", run, "--qrels", qrels, "--fail-under", "p@1=2"}, exitFailed, "p@1 is 1.0000, below 2"},
		{[]string{"answers", "--dataset", dir, "--fail-under", "auroc=.5", "--fail-under", "magic=1"}, exitUsage, `"magic" is no figure`},
	} {
		if code, _, msg := command(t, append([]string{"eval"}, tc.args...)...); code != tc.code || !strings.Contains(msg, tc.say) {
			t.Errorf("%v: exit %d, want %d and %q\n%s", tc.args, code, tc.code, tc.say, msg)
		}
	}
}

// TestEvalLeavesNothingBehind: neither when it ends nor when it is interrupted.
func TestEvalLeavesNothingBehind(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dir := collection(t)
	var corpus strings.Builder
	for i := range 300 {
		fmt.Fprintf(&corpus, "{\"_id\": \"d%d\", \"text\": \"number %d\"}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "corpus.jsonl"), []byte(corpus.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	w := &writerFunc{f: func(p []byte) {
		if strings.Contains(string(p), "judged documents are not") { // the corpus was read: jobs run
			stop()
		}
	}}
	go func() { ended <- run(ctx, []string{"eval", "--dataset", dir}, w, w) }()
	if code := <-ended; code != exitFailed {
		t.Errorf("interrupted: exit %d", code)
	}
	stop()
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

type writerFunc struct{ f func([]byte) }

func (w *writerFunc) Write(p []byte) (int, error) { w.f(p); return len(p), nil }
