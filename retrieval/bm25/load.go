package bm25

import (
	"context"
	"iter"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// workshop is what the collections of an index build segments with.
type workshop struct {
	analyzer *analysis.Analyzer
	// batchBytes is how much text makes a segment at first: at least so much of
	// whole documents, or twice as much and a piece of one.
	batchBytes int
	// segmentTokens is how many tokens a segment that is made of several may
	// have. Together these bound what building takes of memory beside the index:
	// about ten times a batch for each core, and twice what the largest segment
	// takes.
	segmentTokens int64
	building      atomic.Int64 // bytes that this takes now, about
}

const (
	batchBytes    = 2 << 20
	segmentTokens = 16 << 20
	// workBytes is about what building a segment takes for each byte of text.
	workBytes = 10
	// maxLexicon is how many words a lexicon may have that is used again.
	maxLexicon = 1 << 18
)

func newWorkshop(a *analysis.Analyzer) *workshop {
	return &workshop{analyzer: a, batchBytes: batchBytes, segmentTokens: segmentTokens}
}

// build makes segments of chunks that come by document and ordinal, on all
// cores, as few as their size allows. They count as being built until done is
// called.
func (w *workshop) build(ctx context.Context, chunks iter.Seq2[store.Chunk, error]) (segments []*segment, done func(), err error) {
	workers := runtime.GOMAXPROCS(0)
	var builders errgroup.Group
	builders.SetLimit(workers)
	benches := make(chan *bench, workers)      // that nobody uses
	built := make(chan chan *segment, workers) // in order
	a := assembly{shop: w}
	var assembler errgroup.Group
	assembler.Go(func() error {
		for segment := range built {
			a.add(<-segment)
		}
		return nil
	})
	for b, failed := range w.batches(ctx, chunks) {
		if err = failed; err != nil {
			break
		}
		out := make(chan *segment, 1)
		built <- out
		builders.Go(func() error {
			bench := w.benchOf(benches)
			out <- w.buildSegment(bench, b)
			benches <- bench
			return nil
		})
	}
	close(built)
	_ = assembler.Wait() // neither fails
	_ = builders.Wait()
	if err != nil {
		w.building.Add(-a.bytes)
		return nil, nil, err
	}
	a.flush()
	return a.whole, func() { w.building.Add(-a.bytes) }, nil
}

// assembly merges segments that come in the order of their chunks.
type assembly struct {
	shop   *workshop
	parts  []*segment // to be merged
	tokens int64      // of parts
	whole  []*segment
	bytes  int64 // of parts and whole, and counted as being built
}

func (a *assembly) add(s *segment) {
	a.count(s.bytes())
	tokens := s.sizesOf(0, uint32(s.chunks())).tokens
	if a.tokens+tokens > a.shop.segmentTokens {
		a.flush()
	}
	a.parts = append(a.parts, s)
	a.tokens += tokens
}

func (a *assembly) count(bytes int64) {
	a.bytes += bytes
	a.shop.building.Add(bytes)
}

// flush merges what has come.
func (a *assembly) flush() {
	switch len(a.parts) {
	case 0:
		return
	case 1:
		a.whole = append(a.whole, a.parts[0])
	default:
		views := make([]*view, len(a.parts))
		for i, s := range a.parts {
			views[i] = &view{segment: s}
		}
		merged := mergeSegments(views)
		a.count(merged.bytes())
		for _, s := range a.parts {
			a.count(-s.bytes())
		}
		a.whole = append(a.whole, merged)
	}
	a.parts, a.tokens = nil, 0
}

// bench is what one builder at a time works with, kept for the next.
type bench struct {
	lexicon     *analysis.Lexicon
	occurrences []occurrence
	sorting     sorting
}

// benchOf returns one that nobody uses.
func (w *workshop) benchOf(free <-chan *bench) *bench {
	select {
	case b := <-free:
		if b.lexicon.Len() >= maxLexicon {
			b.lexicon = w.analyzer.NewLexicon()
		}
		return b
	default:
		return &bench{lexicon: w.analyzer.NewLexicon()}
	}
}

func (w *workshop) buildSegment(on *bench, b batch) *segment {
	w.building.Add(int64(b.text) * workBytes)
	defer w.building.Add(-int64(b.text) * workBytes)
	builder := newSegmentBuilder(on, b.offset)
	for i := range b.chunks {
		builder.add(&b.chunks[i])
	}
	on.occurrences = builder.occurrences
	return builder.build()
}

// batch is what a segment is made of at first.
type batch struct {
	chunks []store.Chunk
	text   int // bytes
	offset int // chunks of the first document in the batches before
}

// batches cuts a sequence of chunks.
func (w *workshop) batches(ctx context.Context, chunks iter.Seq2[store.Chunk, error]) iter.Seq2[batch, error] {
	return func(yield func(batch, error) bool) {
		var b batch
		document, n := "", 0 // of the latest chunk, and its chunks so far
		for chunk, err := range chunks {
			if err == nil && len(b.chunks)%256 == 0 {
				err = ctx.Err()
			}
			if err != nil {
				yield(batch{}, err)
				return
			}
			if chunk.DocumentID != document {
				document, n = chunk.DocumentID, 0
			}
			if b.text >= 2*w.batchBytes || b.text >= w.batchBytes && n == 0 {
				if !yield(b, nil) {
					return
				}
				b = batch{offset: n}
			}
			chunk.Vector = nil
			b.chunks = append(b.chunks, chunk)
			b.text += len(chunk.Context) + len(chunk.Text)
			n++
		}
		if len(b.chunks) > 0 {
			yield(b, nil)
		}
	}
}
