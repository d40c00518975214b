package main

import (
	"fmt"
	"path/filepath"

	"ragagent/retrieval/eval"
)

// evalScoreCmd measures rankings that any system made, as trec_eval -c does.
type evalScoreCmd struct {
	evalMeasures
	RunFile  string `arg:"" name:"run" help:"TREC run file." type:"existingfile"`
	Qrels    string `help:"Judgements, as TREC qrels or BEIR TSV." required:"" type:"existingfile" placeholder:"FILE"`
	PerQuery string `help:"Write the figures of every query, one JSON object a line." type:"path" placeholder:"FILE"`
	JSON     bool   `name:"json" help:"Print the figures as one JSON object."`
}

// Run measures the run file.
func (c *evalScoreCmd) Run(e *env) error {
	measures, err := c.parse()
	if err != nil {
		return err
	}
	if err := measures.known(false); err != nil {
		return err
	}
	if err := writable(c.PerQuery); err != nil {
		return err
	}
	qrels, err := readFile(c.Qrels, eval.ReadQrels)
	if err != nil {
		return err
	}
	run, err := readFile(c.RunFile, eval.ReadRun)
	if err != nil {
		return err
	}
	tellUnmatched(e, filepath.Base(c.RunFile), qrels, run)
	scores, err := eval.Evaluate(qrels, run, measures.measures)
	if err != nil {
		return err
	}
	scores.Names = measures.names
	if c.PerQuery != "" {
		if err := writeFile(c.PerQuery, scores.WriteQueries); err != nil {
			return err
		}
	}
	figures := append(eval.Figures{{Name: "queries", Value: float64(len(scores.Queries))}}, scores.Figures()...)
	if err := printFigures(e.stdout, figures, c.JSON); err != nil {
		return err
	}
	return measures.reached(e, figures)
}

// tellUnmatched says which queries stand on one side only: those without a
// ranking count 0, those without judgements nothing.
func tellUnmatched(e *env, name string, qrels eval.Qrels, run eval.Run) {
	silent := 0
	for query := range qrels {
		if len(run[query]) == 0 {
			silent++
		}
	}
	unjudged := 0
	for query := range run {
		if qrels[query] == nil {
			unjudged++
		}
	}
	if silent > 0 {
		fmt.Fprintf(e.stderr, "%s: %d of %d judged queries have no ranking and count 0\n", name, silent, len(qrels))
	}
	if unjudged > 0 {
		fmt.Fprintf(e.stderr, "%s: %d queries without judgements are left out\n", name, unjudged)
	}
}
