package main

import (
	"fmt"
	"io"
	"os"

	"ragagent/retrieval/eval"
)

type evalCompareCmd struct {
	A       string `arg:"" help:"TREC run file of the setting that is there." type:"existingfile"`
	B       string `arg:"" help:"TREC run file of the setting that may replace it." type:"existingfile"`
	Qrels   string `help:"Judgements, as TREC qrels or BEIR TSV." required:"" type:"existingfile" placeholder:"FILE"`
	Measure string `help:"What to compare." default:"ndcg@10"`
	JSON    bool   `name:"json" help:"Print the comparison as JSON."`
}

// Run compares two runs query by query.
func (c *evalCompareCmd) Run(e *env) error {
	measure, err := eval.ParseMeasure(c.Measure)
	if err != nil {
		return err
	}
	qrels, err := readFile(c.Qrels, eval.ReadQrels)
	if err != nil {
		return err
	}
	a, err := evaluated(c.A, qrels, measure)
	if err != nil {
		return err
	}
	b, err := evaluated(c.B, qrels, measure)
	if err != nil {
		return err
	}
	cmp, err := eval.Compare(a, b, eval.CompareConfig{Measure: measure})
	if err != nil {
		return err
	}
	if err := printFigures(e.stdout, cmp, c.JSON); err != nil || c.JSON {
		return err
	}
	fmt.Fprintln(e.stdout, "queries that changed most:")
	for _, q := range cmp.Change {
		fmt.Fprintf(e.stdout, "  %-24s %.4f -> %.4f\n", q.Query, q.A, q.B)
	}
	return nil
}

// evaluated measures a run file.
func evaluated(path string, qrels eval.Qrels, measure eval.Measure) (eval.Scores, error) {
	run, err := readFile(path, eval.ReadRun)
	if err != nil {
		return eval.Scores{}, err
	}
	return eval.Evaluate(qrels, run, []eval.Measure{measure})
}

// readFile reads a file by one of eval's readers.
func readFile[T any](path string, read func(r io.Reader, name string) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return read(f, path)
}
