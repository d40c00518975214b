package eval_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"ragagent/retrieval/eval"
)

// Two run files are measured against the same judgements and compared.
func Example() {
	qrels, err := eval.ReadQrels(strings.NewReader("q1 0 a 1\nq2 0 b 1\nq3 0 c 1\n"), "qrels")
	if err != nil {
		panic(err)
	}
	measure, err := eval.ParseMeasure("mrr@10")
	if err != nil {
		panic(err)
	}
	var sides [2]eval.Scores
	for i, text := range []string{
		"q1 Q0 x 1 .9 before\nq1 Q0 a 2 .8 before\nq2 Q0 b 1 .7 before\n",
		"q1 Q0 a 1 .9 after\nq2 Q0 b 1 .7 after\nq3 Q0 c 1 .2 after\n",
	} {
		run, err := eval.ReadRun(strings.NewReader(text), "run")
		if err != nil {
			panic(err)
		}
		if sides[i], err = eval.Evaluate(qrels, run, []eval.Measure{measure}); err != nil {
			panic(err)
		}
	}
	c, err := eval.Compare(sides[0], sides[1], eval.CompareConfig{Measure: measure, Changed: 1})
	if err != nil {
		panic(err)
	}
	changed, err := json.Marshal(c.Change)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f -> %.2f, p = %.2f, %d better, %d worse\n%s\n", c.A, c.B, c.P, c.Wins, c.Losses, changed)
	// Output:
	// 0.50 -> 1.00, p = 0.50, 2 better, 0 worse
	// [{"query":"q3","a":0,"b":1,"difference":1}]
}
