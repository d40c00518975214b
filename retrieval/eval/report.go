package eval

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strconv"
	"time"

	"ragagent/store"
)

//go:embed report.html
var reportHTML string

// reportWorst is how many of the worst queries a report shows.
const reportWorst = 50

// Report is an evaluation as one HTML file without references to other files.
type Report struct {
	Title   string    // "" means the dataset's name
	Made    time.Time // printed if not zero
	Setting string    // what was evaluated, in the caller's words; may be empty
	Result  *Result   // required
	// Summary of Result with what the caller adds; nil: as Result tells it.
	Summary *Summary
	// Comparison with another setting, nil if there is none. A and B name them.
	Comparison *Comparison
	A, B       string
}

// WriteHTML writes the report. The texts of queries and ids are escaped.
func (r Report) WriteHTML(w io.Writer) error {
	if r.Result == nil || len(r.Result.Queries) == 0 {
		return store.Invalid("report", "no result to report on")
	}
	page, err := template.New("report").Funcs(template.FuncMap{
		"fixed": func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) },
		"ms":    milliseconds,
	}).Parse(reportHTML)
	if err != nil {
		return err
	}
	return page.Execute(w, r.page())
}

// reportPage is what report.html shows.
type reportPage struct {
	Report
	Heading string
	Summary Summary // hides that of Report
	Primary Measure // the first one: queries are ordered by it
	Charts  []chart
	Worst   []worstQuery
	Texts   map[string]string // of the questions, by id
}

func (r Report) page() reportPage {
	primary, sum := r.Result.Measures[0], r.Summary
	if sum == nil {
		own := r.Result.Summary()
		sum = &own
	}
	return reportPage{
		Report:  r,
		Heading: cmp.Or(r.Title, r.Result.Dataset),
		Summary: *sum,
		Primary: primary,
		Charts:  r.Result.charts(primary),
		Worst:   r.Result.worst(primary, reportWorst),
		Texts:   r.Result.texts(),
	}
}

// charts are the plots of a report.
func (r *Result) charts(primary Measure) []chart {
	ks, recall := r.recallCurve()
	share, ms := r.latencyCurve()
	return []chart{
		histogram(primary.String()+" of the queries", primary.String(), r.Of(primary)),
		curve("recall by depth", "documents looked at", "mean recall", ks, recall, 1),
		curve("latency", "percent of the queries", "milliseconds at most", share, ms, niceTop(ms[len(ms)-1])),
	}
}

// recallCurve is the mean recall at every depth from 0 to the longest ranking.
func (r *Result) recallCurve() (ks, means []float64) {
	deepest := 1
	for _, a := range r.Asked {
		deepest = max(deepest, len(a.Ranking))
	}
	gained := make([]float64, deepest+1) // by rank
	for _, a := range r.Asked {
		judged := r.Qrels[a.ID]
		share := 1 / float64(max(len(r.Qrels.Relevant(a.ID)), 1))
		for _, rank := range foundRanks(a.Ranking, judged) {
			gained[rank] += share
		}
	}
	sum := 0.0
	for k, g := range gained {
		sum += g
		ks, means = append(ks, float64(k)), append(means, sum/float64(len(r.Asked)))
	}
	return ks, means
}

// latencyCurve is the latency that a percentage of the queries does not exceed.
func (r *Result) latencyCurve() (percent, ms []float64) {
	times := make([]float64, len(r.Asked))
	for i, a := range r.Asked {
		times[i] = milliseconds(a.Elapsed)
	}
	slices.Sort(times)
	for p := 0; p <= 100; p++ {
		percent = append(percent, float64(p))
		ms = append(ms, Quantile(times, float64(p)/100))
	}
	return percent, ms
}

// worstQuery is one row of a report's table.
type worstQuery struct {
	Asked
	Value    float64
	Relevant []rankedID // at most worstIDs
	Top      []gradedID // at most worstTop
}

type rankedID struct {
	ID   string
	Rank int // from 1; 0 if it was not found
}

type gradedID struct {
	ID    string
	Grade int
}

const (
	worstIDs = 10
	worstTop = 3
)

// worst returns the n queries with the lowest value of m, equal ones by id.
func (r *Result) worst(m Measure, n int) []worstQuery {
	values := r.Of(m)
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	var rows []worstQuery
	for _, i := range order[:min(n, len(order))] {
		rows = append(rows, r.worstQuery(r.Asked[i], values[i]))
	}
	return rows
}

func (r *Result) worstQuery(a Asked, value float64) worstQuery {
	row := worstQuery{Asked: a, Value: value}
	relevant := r.Qrels.Relevant(a.ID)
	for _, id := range relevant[:min(len(relevant), worstIDs)] {
		rank := 1 + slices.IndexFunc(a.Ranking, func(s Scored) bool { return s.ID == id })
		row.Relevant = append(row.Relevant, rankedID{id, rank})
	}
	for _, s := range a.Ranking[:min(len(a.Ranking), worstTop)] {
		row.Top = append(row.Top, gradedID{s.ID, max(r.Qrels[a.ID][s.ID], 0)})
	}
	return row
}

// texts returns the questions by id.
func (r *Result) texts() map[string]string {
	texts := make(map[string]string, len(r.Asked))
	for _, a := range r.Asked {
		texts[a.ID] = a.Text
	}
	return texts
}
