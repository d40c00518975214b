package eval

import (
	"cmp"
	"slices"
	"time"

	"ragagent/retrieval"
	"ragagent/store"
)

// Asked is one question and what came back.
type Asked struct {
	Question
	Ranking   []Scored // distinct judged units, best first
	Rewritten string   // what was searched, "" if the text itself
	Degraded  []string // stages that were left out
	Hits      int      // chunks that came back
	Unlocated int      // of these, how many are outside the collection
	Elapsed   time.Duration
	Timings   retrieval.Timings // of Elapsed, by stage
}

// Result is a measured collection. The embedded Scores and Asked have their
// rows in the same order, ascending by query id.
type Result struct {
	Dataset string
	Scores
	Asked []Asked
	// Files are the measures on whole files instead of pages, for a dataset
	// judged by page; nil for others.
	Files *Scores
	Qrels Qrels
}

// FilePrefix stands before the names of measures on whole files.
const FilePrefix = "file_"

// FileMeasures tell whether the right file was found, whatever the page; a
// collection judged by page has them beside its own.
func FileMeasures() []Measure { return []Measure{{Success, 1}, {Success, 10}} }

// result measures what was asked.
func (r *Runner) result(d *Dataset, asked []Asked) (*Result, error) {
	slices.SortFunc(asked, func(a, b Asked) int { return cmp.Compare(a.ID, b.ID) })
	res := &Result{Dataset: d.Name, Asked: asked, Qrels: d.Qrels}
	hits, unlocated := 0, 0
	for _, a := range asked {
		hits += a.Hits
		unlocated += a.Unlocated
	}
	if hits > 0 && hits == unlocated {
		return nil, store.Invalid("dataset", "none of the %d chunks found belongs to %s: was it ingested with its ids?", hits, d.Name)
	}
	run := res.Run()
	var err error
	if res.Scores, err = Evaluate(d.Qrels, run, r.cfg.Measures); err != nil {
		return nil, err
	}
	if d.ByPage {
		files, err := Evaluate(d.Qrels.Fold(File), run.Fold(File), FileMeasures())
		if err != nil {
			return nil, err
		}
		res.Files = &files
	}
	return res, nil
}

// Run returns the rankings, for WriteRun.
func (r *Result) Run() Run {
	run := make(Run, len(r.Asked))
	for _, a := range r.Asked {
		run[a.ID] = a.Ranking
	}
	return run
}

// stages returns the latencies of the stages that took any time.
func (r *Result) stages() []StageLatency {
	var all []StageLatency
	for stage := range (retrieval.Timings{}) {
		times := make([]time.Duration, len(r.Asked))
		for i, a := range r.Asked {
			times[i] = a.Timings[stage]
		}
		if Quantile(times, 1) > 0 {
			all = append(all, StageLatency{retrieval.Stage(stage).String(), Quantile(times, .5), Quantile(times, .95)})
		}
	}
	return all
}

// Latency returns the p-quantile (0..1) of the questions' times by the
// nearest-rank rule of Quantile.
func (r *Result) Latency(p float64) time.Duration {
	times := make([]time.Duration, len(r.Asked))
	for i, a := range r.Asked {
		times[i] = a.Elapsed
	}
	return Quantile(times, p)
}
