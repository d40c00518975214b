package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ragagent/retrieval/eval"
)

type evalCompareCmd struct {
	A            string  `arg:"" help:"TREC run file of the setting that is there." type:"existingfile"`
	B            string  `arg:"" help:"TREC run file of the setting that may replace it." type:"existingfile"`
	Qrels        string  `help:"Judgements, as TREC qrels or BEIR TSV." required:"" type:"existingfile" placeholder:"FILE"`
	Measure      string  `help:"What to compare." default:"ndcg@10" aliases:"metric"`
	Permutations int     `help:"Of the randomisation test; where there are no more ways than that, all are tried." default:"100000"`
	Resamples    int     `help:"Of the bootstrap, for the confidence interval." default:"10000"`
	Level        float64 `help:"Of the confidence interval." default:"0.95"`
	Seed         uint64  `help:"Of what is drawn at random." default:"0"`
	Changed      int     `help:"How many of the queries that changed most are named." default:"10"`
	PerQuery     string  `help:"Write the difference of every query, one JSON object a line." type:"path" placeholder:"FILE"`
	JSON         bool    `name:"json" help:"Print the comparison as JSON."`
}

// Run compares two runs query by query.
func (c *evalCompareCmd) Run(e *env) error {
	measure, err := eval.ParseMeasure(c.Measure)
	if err != nil {
		return usagef("--measure: %w", err)
	}
	cfg := eval.CompareConfig{
		Measure: measure, Permutations: c.Permutations, Resamples: c.Resamples,
		Level: c.Level, Seed: c.Seed, Changed: c.Changed,
	}
	if c.Changed == 0 {
		cfg.Changed = -1
	}
	if err := cfg.Check(); err != nil {
		return usageError{err}
	}
	if err := writable(c.PerQuery); err != nil {
		return err
	}
	qrels, err := readFile(c.Qrels, eval.ReadQrels)
	if err != nil {
		return err
	}
	a, err := evaluated(e, c.A, qrels, measure)
	if err != nil {
		return err
	}
	b, err := evaluated(e, c.B, qrels, measure)
	if err != nil {
		return err
	}
	cmp, err := eval.Compare(a, b, cfg)
	if err != nil {
		return err
	}
	if c.PerQuery != "" {
		write := func(w io.Writer) error { return eval.WriteDifferences(w, a, b, measure) }
		if err := writeFile(c.PerQuery, write); err != nil {
			return err
		}
	}
	return c.print(e, cmp)
}

func (c *evalCompareCmd) print(e *env, cmp eval.Comparison) error {
	if err := printFigures(e.stdout, cmp, c.JSON); err != nil || c.JSON {
		return err
	}
	if len(cmp.Change) > 0 {
		fmt.Fprintln(e.stdout, "queries that changed most:")
	}
	for _, q := range cmp.Change {
		fmt.Fprintf(e.stdout, "  %-24s %.4f -> %.4f\n", plain(q.Query), q.A, q.B)
	}
	return nil
}

// evaluated measures a run file.
func evaluated(e *env, path string, qrels eval.Qrels, measure eval.Measure) (eval.Scores, error) {
	run, err := readFile(path, eval.ReadRun)
	if err != nil {
		return eval.Scores{}, err
	}
	tellUnmatched(e, filepath.Base(path), qrels, run)
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
