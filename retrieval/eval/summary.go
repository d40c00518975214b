package eval

import "time"

// Summary are the figures of one evaluation.
type Summary struct {
	Dataset string
	Queries int     // judged queries, the denominator of every mean
	Means   Figures // in the order of the measures
	P50     time.Duration
	P95     time.Duration
	Stages  []StageLatency // in their order; none if the retriever tells of none
	// Chunks that are searched and the bytes their indexes take, which the
	// caller knows; 0 for unknown.
	Chunks     int
	IndexBytes int64
	// Empty counts the queries that returned nothing of the collection.
	Empty int
	// Degraded counts the queries of which a stage was left out.
	Degraded int
	// Unlocated counts the hits from outside the collection.
	Unlocated int
}

// StageLatency is how long a stage of the queries took.
type StageLatency struct {
	Stage    string
	P50, P95 time.Duration
}

// Summary returns the figures of r.
func (r *Result) Summary() Summary {
	s := Summary{Dataset: r.Dataset, Queries: len(r.Queries), P50: r.Latency(.5), P95: r.Latency(.95)}
	s.Stages = r.stages()
	s.Means = r.Figures()
	if r.Files != nil {
		s.Means = append(s.Means, r.Files.figures(FilePrefix)...)
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

// BytesPerChunk is what a chunk takes in the indexes, 0 for unknown.
func (s Summary) BytesPerChunk() int64 {
	if s.Chunks == 0 {
		return 0
	}
	return s.IndexBytes / int64(s.Chunks)
}

// MarshalJSON writes one object in this order: "dataset", "queries", the means
// by name, "p50_ms", "p95_ms", "stages" with both for each, "chunks" and
// "index_bytes_per_chunk" where they are known, "empty", "degraded",
// "unlocated". Means are rounded to six decimals, milliseconds to three.
func (s Summary) MarshalJSON() ([]byte, error) {
	o := object{}
	o.add("dataset", s.Dataset)
	o.add("queries", s.Queries)
	o.figures(s.Means)
	o.add("p50_ms", milliseconds(s.P50))
	o.add("p95_ms", milliseconds(s.P95))
	if len(s.Stages) > 0 {
		stages := object{}
		for _, stage := range s.Stages {
			both := object{}
			both.add("p50_ms", milliseconds(stage.P50))
			both.add("p95_ms", milliseconds(stage.P95))
			stages.nest(stage.Stage, &both)
		}
		o.nest("stages", &stages)
	}
	if s.Chunks > 0 {
		o.add("chunks", s.Chunks)
		o.add("index_bytes_per_chunk", s.BytesPerChunk())
	}
	o.add("empty", s.Empty)
	o.add("degraded", s.Degraded)
	o.add("unlocated", s.Unlocated)
	return o.bytes()
}
