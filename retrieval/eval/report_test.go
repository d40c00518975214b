package eval_test

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/retrieval/eval"
	"ragagent/store"
)

// reported evaluates three queries: found first, found second, not found.
func reported(t *testing.T) *eval.Result {
	t.Helper()
	d := collection()
	d.Queries[2].Text = `three <script>alert("x")</script>`
	f := &fakeRetriever{hits: map[string][]retrieval.Hit{
		"one": {hit("a", .9), hit("x", .8)},
		"two": {hit("x", .9), hit("b", .5)},
	}}
	r, err := eval.NewRunner(eval.Config{
		Retriever: f, KnowledgeBases: []string{"kb"}, Workers: 1, Now: ticker(2 * time.Millisecond),
		Measures: []eval.Measure{{Kind: eval.MRR, Cut: 10}, {Kind: eval.Recall, Cut: 100}},
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestReport(t *testing.T) {
	res := reported(t)
	better := scores(0, 0, 0)
	better.Queries, better.Measures = res.Queries, []eval.Measure{res.Measures[0]}
	comparison, err := eval.Compare(better, res.Scores, eval.CompareConfig{Measure: res.Measures[0]})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	report := eval.Report{
		Result: res, Setting: "lexical & dense", Made: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC),
		Comparison: &comparison, A: "before", B: "after",
	}
	if err := report.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{
		"<title>small: retrieval evaluation</title>",
		"3 judged queries · lexical &amp; dense · 2026-01-02 03:04 UTC",
		"<li><b>0.5000</b><span>mrr@10</span></li>",
		"<li><b>2 ms</b><span>p95</span></li>",
		"Queries that returned nothing and count 0: 1.",
		"<h2>after against before</h2>",
		`<td class="n">2 / 1 / 0</td>`,
		`<td><code>q1</code> one</td><td class="n">0.0000</td><td class="n">1.0000</td><td class="n up">1.0000</td>`,
		`three &lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;<br>`,
		`<td><code>d</code> <span class="miss">not found</span><br></td>`,
		`<td><code>b</code> <span class="hit">2</span><br><code>c</code> <span class="miss">not found</span><br></td>`,
		`<title>queries from 0.5 to 0.6: 1</title>`,
		// Mean recall: 0 at depth 0, 1/3 at 1, (1 + 1/2)/3 at 2; 194 pixels high.
		`<polyline class="curve" points="56,228 250,163.3 444,131"/>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the report does not hold %q", want)
		}
	}
	if found := regexp.MustCompile(`(?i)<script|https?:|src=|href=|ZgotmplZ`).FindString(page); found != "" {
		t.Errorf("the report holds %q", found)
	}
	if got := strings.Count(page, "<svg"); got != 3 {
		t.Errorf("%d plots, want 3", got)
	}
}

func TestReportWithoutResult(t *testing.T) {
	if err := (eval.Report{}).WriteHTML(&bytes.Buffer{}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("%v, want ErrInvalid", err)
	}
}

func TestWriteQueries(t *testing.T) {
	var out bytes.Buffer
	if err := reported(t).WriteQueries(&out); err != nil {
		t.Fatal(err)
	}
	want := `{"query":"q1","text":"one","mrr@10":1,"recall@100":1,"ms":2,"rewritten":"re one","degraded":[],"found":[{"id":"a","score":0.9,"grade":1},{"id":"x","score":0.8,"grade":0}]}
{"query":"q2","text":"two","mrr@10":0.5,"recall@100":0.5,"ms":2,"rewritten":"re two","degraded":[],"found":[{"id":"x","score":0.9,"grade":0},{"id":"b","score":0.5,"grade":1}]}
{"query":"q3","text":"three \u003cscript\u003ealert(\"x\")\u003c/script\u003e","mrr@10":0,"recall@100":0,"ms":2,"rewritten":"re three \u003cscript\u003ealert(\"x\")\u003c/script\u003e","degraded":[],"found":[]}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
