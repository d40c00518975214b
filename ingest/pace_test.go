package ingest

import (
	"testing"
	"time"

	"ragagent/store"
)

// script is a job that takes the same time for the same work, every time.
type script struct {
	bytes, chunks, batch int
	resumed              int           // chunks an earlier attempt has embedded
	fixed                time.Duration // of each stage, whatever there is to do
}

const (
	scriptParse = 2 * time.Microsecond // a byte
	scriptCut   = time.Millisecond     // a chunk
	scriptEmbed = 20 * time.Millisecond
	scriptIndex = 5 * time.Millisecond
)

// told is what watchers hear at one moment, and when that was.
type told struct {
	at, ends time.Time
	stage    store.Stage
}

// play runs a job on a scripted clock and returns what was told and its end.
func (c script) play(s *Service, clock *time.Time, id string) (all []told, end time.Time) {
	t := &task{Service: s, job: store.Job{ID: id, Status: store.StatusRunning}}
	report := func(p store.Progress) {
		t.report(p)
		all = append(all, told{*clock, s.watch.live[id].Ends, p.Stage})
	}
	t.course.format, t.course.embedder, t.course.bytes = ".pdf", "ollama/slow", c.bytes
	report(store.Progress{Stage: store.StageParse})
	*clock = clock.Add(c.fixed + time.Duration(c.bytes)*scriptParse)
	report(store.Progress{Stage: store.StageChunk, Total: c.bytes})
	*clock = clock.Add(c.fixed + time.Duration(c.chunks)*scriptCut)
	t.course.chunks = c.chunks
	late := c.fixed
	for done := c.resumed; ; done = min(done+c.batch, c.chunks) {
		report(store.Progress{Stage: store.StageEmbed, Done: done, Total: c.chunks})
		if done == c.chunks {
			break
		}
		*clock = clock.Add(late + time.Duration(min(c.batch, c.chunks-done))*scriptEmbed)
		late = 0
	}
	report(store.Progress{Stage: store.StageIndex, Total: c.chunks})
	*clock = clock.Add(c.fixed + time.Duration(c.chunks)*scriptIndex)
	s.paces.learn(t.course, *clock)
	return all, *clock
}

// TestExpectedEnd: nothing is promised while nothing is known; after one job,
// the end of every other is known from its beginning, and stays what it was,
// also when it goes on in the middle.
func TestExpectedEnd(t *testing.T) {
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := &Service{cfg: Config{Now: func() time.Time { return clock }}, paces: newPaces(), watch: newBoard()}
	first, _ := script{bytes: 1_000_000, chunks: 1000, batch: 100}.play(s, &clock, "job_1")
	for _, told := range first {
		// How long indexing takes is known behind it only.
		if !told.ends.IsZero() {
			t.Errorf("the first job, at %s: it ends at %s, as nobody can know", told.stage, told.ends)
		}
	}
	for name, c := range map[string]script{
		"larger":  {bytes: 7_000_000, chunks: 7000, batch: 128},
		"smaller": {bytes: 3_000, chunks: 3, batch: 128},
		"resumed": {bytes: 10_600_000, chunks: 10_600, batch: 128, resumed: 5400},
	} {
		all, end := c.play(s, &clock, name)
		for _, told := range all {
			if c.resumed > 0 && told.stage != store.StageEmbed && told.stage != store.StageIndex {
				continue // that some of it is done is known when it is cut
			}
			if off := told.ends.Sub(end).Abs(); off > time.Millisecond {
				t.Errorf("%s, %s at %s: it ends at %s, and did at %s", name, told.stage, told.at, told.ends, end)
			}
		}
	}
}

// TestExpectedEndFollows a service that gets slower: the end moves, and what is
// late has no end that lies in the past.
func TestExpectedEndFollows(t *testing.T) {
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := &Service{cfg: Config{Now: func() time.Time { return clock }}, paces: newPaces(), watch: newBoard()}
	script{bytes: 1_000_000, chunks: 1000, batch: 100}.play(s, &clock, "job_1")
	c := course{format: ".pdf", embedder: "ollama/slow", bytes: 1000, chunks: 100, stage: store.StageEmbed, began: clock, total: 100}
	clock = clock.Add(time.Minute)
	if got := s.paces.ends(c, clock); !got.IsZero() {
		t.Errorf("a minute without a chunk: it ends at %s", got)
	}
	c.done = 10
	want := clock.Add(9*time.Minute + 100*scriptIndex)
	if got := s.paces.ends(c, clock); got.Sub(want).Abs() > time.Millisecond {
		t.Errorf("ten chunks a minute: it ends at %s, want %s", got, want)
	}
}

// TestExpectedEndAfterSmallFiles: what small files take is not taken for the
// pace of a large one, of which nobody can tell then; nor do they make forget
// what a large one has taken.
func TestExpectedEndAfterSmallFiles(t *testing.T) {
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := &Service{cfg: Config{Now: func() time.Time { return clock }}, paces: newPaces(), watch: newBoard()}
	const fixed = 50 * time.Millisecond
	small := func() {
		for range 40 {
			script{bytes: 12, chunks: 1, batch: 128, fixed: fixed}.play(s, &clock, "small")
		}
	}
	small()
	large := script{bytes: 15_000_000, chunks: 12_000, batch: 128, fixed: fixed}
	first, _ := large.play(s, &clock, "first")
	for _, told := range first {
		if !told.ends.IsZero() {
			t.Errorf("the first large one, at %s: it ends in %s, as nobody can know", told.stage, told.ends.Sub(told.at))
		}
	}
	small()
	all, end := large.play(s, &clock, "second")
	for _, told := range all {
		left, said := end.Sub(told.at), told.ends.Sub(told.at)
		if off := (said - left).Abs(); off > left/20 {
			t.Errorf("the second, at %s: it ends in %s, and did in %s", told.stage, said, left)
		}
	}
}

// TestIndexingTells how far it is, whenever a part of a long document was taken.
func TestIndexingTells(t *testing.T) {
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const total = 2*longDocument + 1
	s := &Service{cfg: Config{Now: func() time.Time { return clock }}, paces: newPaces(), watch: newBoard()}
	task := &task{Service: s, job: store.Job{ID: "job_1", Status: store.StatusRunning}}
	task.course.chunks = total
	task.report(store.Progress{Stage: store.StageIndex, Total: total})
	n := 0
	for range task.told(total, each(make([]store.Chunk, total))) {
		now := s.watch.live["job_1"].Progress
		if want := n / longDocument * longDocument; now.Done != want || now.Total != total {
			t.Fatalf("chunk %d: told are %d of %d, want %d", n, now.Done, now.Total, want)
		}
		if left := now.Ends.Sub(clock); n >= longDocument && left <= 0 {
			t.Fatalf("chunk %d: it ends in %s", n, left)
		}
		n++
		if n%longDocument == 0 {
			clock = clock.Add(time.Second) // what the part takes
		}
	}
	if n != total {
		t.Errorf("%d chunks, want %d", n, total)
	}
}
