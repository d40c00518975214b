package retrieval

import "time"

// Stage is a part of answering a query that takes time of its own.
type Stage int

// The stages, in their order. Words and the two after it go side by side.
const (
	StageRewrite Stage = iota // the question becomes the query
	StageRoute                // the knowledge bases are chosen
	StageWords                // spelling is repaired, the best chunks by words are found
	StageEmbed                // the query gets its vector
	StageVectors              // the nearest chunks are found
	StageFuse                 // cosines and words become one order
	StageFetch                // texts, documents and sections are read from the records
	StageRerank               // all rerankers together
	stages
)

var stageNames = [stages]string{"rewrite", "route", "words", "embed", "vectors", "fuse", "fetch", "rerank"}

func (s Stage) String() string { return stageNames[s] }

// Timings is how long each Stage of a query took by the clock; 0 for one that
// was left out. A query that had to be searched again counts every time. The
// sum may exceed Result.Elapsed, because words and vectors are searched at the
// same time, and may fall short of it by what belongs to no stage.
type Timings [stages]time.Duration

// stopwatch times stages that follow one another.
type stopwatch struct {
	now   func() time.Time
	times *Timings
	begun time.Time
}

func startWatch(now func() time.Time, times *Timings) stopwatch {
	return stopwatch{now: now, times: times, begun: now()}
}

// lap adds the time since the last lap to a stage.
func (w *stopwatch) lap(s Stage) {
	now := w.now()
	w.times[s] += now.Sub(w.begun)
	w.begun = now
}
