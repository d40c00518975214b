package eval

import (
	"bytes"
	"encoding/json"
	"math"
	"time"
)

// Figure is a named number of a summary.
type Figure struct {
	Name  string // "ndcg@10", "map", "file_success@1"
	Value float64
}

// Summary are the figures of one evaluation.
type Summary struct {
	Dataset string
	Queries int      // judged queries, the denominator of every mean
	Means   []Figure // in the order of the measures
	P50     time.Duration
	P95     time.Duration
	// Empty counts the queries that returned nothing of the collection.
	Empty int
	// Degraded counts the queries of which a stage was left out.
	Degraded int
	// Unlocated counts the hits from outside the collection.
	Unlocated int
}

// Summary returns the figures of r.
func (r *Result) Summary() Summary {
	s := Summary{Dataset: r.Dataset, Queries: len(r.Queries), P50: r.Latency(.5), P95: r.Latency(.95)}
	s.Means = r.means("")
	if r.Files != nil {
		s.Means = append(s.Means, r.Files.means("file_")...)
	}
	for _, a := range r.Asked {
		if len(a.Ranking) == 0 {
			s.Empty++
		}
		if len(a.Degraded) > 0 {
			s.Degraded++
		}
		s.Unlocated += a.Unlocated
	}
	return s
}

// means names every mean of s.
func (s Scores) means(prefix string) []Figure {
	figures := make([]Figure, len(s.Measures))
	for i, m := range s.Measures {
		figures[i] = Figure{Name: prefix + m.String(), Value: s.Mean(m)}
	}
	return figures
}

// Figure returns the mean with that name.
func (s Summary) Figure(name string) (float64, bool) {
	for _, f := range s.Means {
		if f.Name == name {
			return f.Value, true
		}
	}
	return 0, false
}

// MarshalJSON writes one flat object in this order: "dataset", "queries", the
// means by name, "p50_ms", "p95_ms", "empty", "degraded", "unlocated". Means
// are rounded to six decimals, milliseconds to three.
func (s Summary) MarshalJSON() ([]byte, error) {
	o := object{}
	o.add("dataset", s.Dataset)
	o.add("queries", s.Queries)
	for _, f := range s.Means {
		o.add(f.Name, round(f.Value, 6))
	}
	o.add("p50_ms", milliseconds(s.P50))
	o.add("p95_ms", milliseconds(s.P95))
	o.add("empty", s.Empty)
	o.add("degraded", s.Degraded)
	o.add("unlocated", s.Unlocated)
	return o.bytes()
}

// object writes a JSON object with its keys in the order they were added.
type object struct {
	buf bytes.Buffer
	err error
}

func (o *object) add(key string, value any) {
	k, err := json.Marshal(key)
	if err == nil {
		var v []byte
		if v, err = json.Marshal(value); err == nil {
			o.buf.WriteByte(',')
			o.buf.Write(k)
			o.buf.WriteByte(':')
			o.buf.Write(v)
		}
	}
	if o.err == nil {
		o.err = err
	}
}

func (o *object) bytes() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	return append(append([]byte{'{'}, bytes.TrimPrefix(o.buf.Bytes(), []byte{','})...), '}'), nil
}

func round(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(v*scale) / scale
}

func milliseconds(d time.Duration) float64 {
	return round(float64(d)/float64(time.Millisecond), 3)
}
