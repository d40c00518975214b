package eval

import (
	"slices"

	"ragagent/store"
)

// Scores are the values of some measures for every judged query.
type Scores struct {
	Measures []Measure   // as asked for
	Names    []string    // of the measures where they are printed; nil: their own
	Queries  []string    // ids in ascending order
	Values   [][]float64 // one row per query, one column per measure
}

// Evaluate measures run against qrels. Every judged query has a row; one that
// run does not hold counts 0. Queries of run without judgements are ignored.
// No measure at all is store.ErrInvalid.
func Evaluate(qrels Qrels, run Run, measures []Measure) (Scores, error) {
	if len(measures) == 0 {
		return Scores{}, store.Invalid("measures", "none given")
	}
	if err := qrels.check("qrels"); err != nil {
		return Scores{}, err
	}
	s := Scores{Measures: slices.Clone(measures), Queries: qrels.Queries()}
	s.Values = make([][]float64, len(s.Queries))
	for i, query := range s.Queries {
		row := make([]float64, len(measures))
		for j, m := range measures {
			row[j] = m.Of(run[query], qrels[query])
		}
		s.Values[i] = row
	}
	return s, nil
}

// Name returns what measure j is called where it is printed.
func (s Scores) Name(j int) string {
	if j < len(s.Names) {
		return s.Names[j]
	}
	return s.Measures[j].String()
}

// Of returns the column of m, one value per query in the order of Queries, or
// nil if m was not measured.
func (s Scores) Of(m Measure) []float64 {
	j := slices.Index(s.Measures, m)
	if j < 0 {
		return nil
	}
	column := make([]float64, len(s.Values))
	for i, row := range s.Values {
		column[i] = row[j]
	}
	return column
}

// Mean returns the mean of m over the queries, 0 if m was not measured.
func (s Scores) Mean(m Measure) float64 { return mean(s.Of(m)) }

// mean is the arithmetic mean, 0 for no values.
func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
