package main

import (
	"fmt"
	"slices"

	"ragagent/retrieval/eval"
)

// evalMeasures are the flags that say what is measured and what it must reach.
type evalMeasures struct {
	Metrics   []string `help:"What to measure: ndcg, recall, precision (p), mrr, map, success or complete, each with @CUT or without." placeholder:"NAME,..."`
	FailUnder []string `help:"Exit with 1 if a figure is lower, for example ndcg@10=0.41." placeholder:"NAME=X"`
}

// evalNamed are the measures of an evaluation under the names the user gave
// them, and the bars they have to reach.
type evalNamed struct {
	measures []eval.Measure
	names    []string
	bars     []eval.Bar
}

// parse reads the flags; no --metrics means the default ones. What only a bar
// names is measured too. Errors are of usage.
func (f evalMeasures) parse() (n evalNamed, err error) {
	for _, name := range f.Metrics {
		m, err := eval.ParseMeasure(name)
		if err != nil {
			return n, usagef("--metrics: %w", err)
		}
		n.add(m, name)
	}
	if len(f.Metrics) == 0 {
		for _, m := range eval.DefaultMeasures() {
			n.add(m, m.String())
		}
	}
	for _, text := range f.FailUnder {
		bar, err := eval.ParseBar(text)
		if err != nil {
			return n, usageError{err}
		}
		if m, err := eval.ParseMeasure(bar.Name); err == nil {
			n.add(m, bar.Name)
			bar.Name = n.names[slices.Index(n.measures, m)]
		}
		n.bars = append(n.bars, bar)
	}
	return n, nil
}

// add takes a measure in, the first time.
func (n *evalNamed) add(m eval.Measure, name string) {
	if !slices.Contains(n.measures, m) {
		n.measures, n.names = append(n.measures, m), append(n.names, name)
	}
}

// deepest is the largest cut, 0 if there is none.
func (n evalNamed) deepest() (cut int) {
	for _, m := range n.measures {
		cut = max(cut, m.Cut)
	}
	return cut
}

// known refuses bars on figures that the evaluation will not have.
func (n evalNamed) known(byPage bool) error {
	figures := slices.Clone(n.names)
	if byPage {
		for _, m := range eval.FileMeasures() {
			figures = append(figures, eval.FilePrefix+m.String())
		}
	}
	for _, b := range n.bars {
		if !slices.Contains(figures, b.Name) {
			return usagef("--fail-under: %q is no figure of this evaluation", b.Name)
		}
	}
	return nil
}

// reached tells which bars were missed; that is an error which has been told.
func (n evalNamed) reached(e *env, figures eval.Figures) error {
	missed := figures.Under(n.bars)
	for _, b := range missed {
		v, ok := figures.Figure(b.Name)
		if !ok {
			fmt.Fprintf(e.stderr, "%s is undefined here: there was nothing to measure it on\n", b.Name)
			continue
		}
		fmt.Fprintf(e.stderr, "%s is %.4f, below %g\n", b.Name, v, b.Min)
	}
	if len(missed) > 0 {
		return errSilent
	}
	return nil
}
