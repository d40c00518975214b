package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"ragagent/retrieval"
	"ragagent/retrieval/eval"
	"ragagent/store"
)

// evalRunCmd is `eval` itself.
type evalRunCmd struct {
	evalData
	evalMeasures
	reachFlags
	KB []string `name:"kb" help:"Ask these knowledge bases, which are loaded, and ingest nothing; judged are documents by id or name. --data or --server says where they are." placeholder:"NAME"`

	TopK     int    `name:"top-k" help:"Depth of the rankings, at least that of the deepest measure." default:"100"`
	Mode     string `help:"hybrid, lexical or dense." default:"hybrid" enum:"hybrid,lexical,dense"`
	RunFile  string `name:"run" help:"Write the rankings as a TREC run file." type:"path" placeholder:"FILE"`
	PerQuery string `help:"Write the figures of every query, one JSON object a line." type:"path" placeholder:"FILE"`
	Against  string `help:"Compare with this TREC run file of an earlier evaluation by a paired test." type:"existingfile" placeholder:"FILE"`
	Report   string `help:"Write report.html, with plots, and queries.jsonl into this folder." type:"path" placeholder:"DIR"`
	Workers  int    `help:"Questions asked at a time; latencies are measured with 1." default:"1"`
}

// Run asks every judged question through the real retrieval path and prints
// the figures.
func (c *evalRunCmd) Run(e *env) error {
	measures, err := c.parse()
	if err != nil {
		return err
	}
	depth := max(c.TopK, measures.deepest())
	if c.TopK < 1 || depth > store.MaxTopK {
		return usagef("--top-k: %d is not from 1 to %d", depth, store.MaxTopK)
	}
	if err := writable(c.RunFile, c.PerQuery); err != nil {
		return err
	}
	set, err := c.open(e)
	if err != nil {
		return err
	}
	if err := measures.known(set.ByPage); err != nil {
		return err
	}
	if len(c.KB) > 0 {
		if c.RunFile != "" || c.Against != "" || c.Keep != "" {
			return usagef("--kb: --run, --against and --keep go with a collection that is ingested")
		}
		return c.onServer(e, set, measures, depth)
	}
	before, err := c.before()
	if err != nil {
		return err
	}
	return c.loaded(e, set, func(app *app, load *evalLoad) error {
		result, err := c.ask(e.ctx, app, set, load, measures, depth)
		if err != nil {
			return err
		}
		done := &evalDone{result: result, summary: result.Summary(), measures: measures, depth: depth}
		if done.summary.Chunks, err = load.chunks(e.ctx); err != nil {
			return err
		}
		done.summary.IndexBytes = app.index.Bytes()
		if err := done.compare(before, c.Against); err != nil {
			return err
		}
		if err := c.write(done); err != nil {
			return err
		}
		return c.print(e, done)
	})
}

// before reads the run to compare with, nil for none.
func (c *evalRunCmd) before() (eval.Run, error) {
	if c.Against == "" {
		return nil, nil
	}
	return readFile(c.Against, eval.ReadRun)
}

func (c *evalRunCmd) ask(ctx context.Context, app *app, set *eval.Dataset, load *evalLoad, measures evalNamed, depth int) (*eval.Result, error) {
	runner, err := eval.NewRunner(eval.Config{
		Retriever:      app.retriever,
		KnowledgeBases: []string{load.kb.ID},
		Mode:           retrieval.Mode(c.Mode),
		Depth:          depth,
		Measures:       measures.measures,
		Workers:        c.Workers,
		Locate:         load.locate(set),
	})
	if err != nil {
		return nil, err
	}
	result, err := runner.Run(ctx, set)
	if err == nil {
		result.Names = measures.names
	}
	return result, err
}

// evalDone is an evaluation with what is told about it.
type evalDone struct {
	result     *eval.Result
	summary    eval.Summary
	measures   evalNamed
	depth      int              // of the rankings
	comparison *eval.Comparison // nil for none
	against    string           // name of the other side
}

// compare tests the first measure against an earlier run.
func (d *evalDone) compare(before eval.Run, name string) error {
	if before == nil {
		return nil
	}
	measure := d.measures.measures[0]
	scores, err := eval.Evaluate(d.result.Qrels, before, []eval.Measure{measure})
	if err != nil {
		return err
	}
	c, err := eval.Compare(scores, d.result.Scores, eval.CompareConfig{Measure: measure})
	d.comparison, d.against = &c, filepath.Base(name)
	return err
}

// write leaves the files that were asked for.
func (c *evalRunCmd) write(done *evalDone) error {
	if c.RunFile != "" {
		err := writeFile(c.RunFile, func(w io.Writer) error { return eval.WriteRun(w, done.result.Run(), "ragagent") })
		if err != nil {
			return err
		}
	}
	if c.PerQuery != "" {
		if err := writeFile(c.PerQuery, done.result.WriteQueries); err != nil {
			return err
		}
	}
	if c.Report == "" {
		return nil
	}
	if err := os.MkdirAll(c.Report, 0o755); err != nil {
		return err
	}
	report := eval.Report{
		Made:       time.Now(),
		Setting:    fmt.Sprintf("ragagent %s, mode %s, top %d", version, c.Mode, done.depth),
		Result:     done.result,
		Summary:    &done.summary,
		Comparison: done.comparison,
		A:          done.against,
		B:          "this evaluation",
	}
	return errors.Join(
		writeFile(filepath.Join(c.Report, "report.html"), report.WriteHTML),
		writeFile(filepath.Join(c.Report, "queries.jsonl"), done.result.WriteQueries),
	)
}

func (c *evalRunCmd) print(e *env, done *evalDone) error {
	if err := printFigures(e.stdout, done.summary, c.JSON); err != nil {
		return err
	}
	if cmp := done.comparison; cmp != nil {
		fmt.Fprintf(e.stderr, "%s against %s: %+.4f (%.4f to %.4f), p = %.4f, %d better, %d equal, %d worse\n",
			cmp.Measure, done.against, cmp.Difference, cmp.Low, cmp.High, cmp.P, cmp.Wins, cmp.Ties, cmp.Losses)
	}
	return done.measures.reached(e, done.summary.Means)
}
