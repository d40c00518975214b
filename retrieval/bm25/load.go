package bm25

import (
	"context"
	"iter"
	"runtime"

	"golang.org/x/sync/errgroup"

	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// batchBytes is how much text makes a segment while loading: at least so much
// of whole documents, or twice as much and a part of one. It bounds what
// building takes of memory beside the index: about ten times as much for each
// core.
const batchBytes = 4 << 20

// maxLexicon is how many words a lexicon may have that is used again.
const maxLexicon = 1 << 19

// buildSegments makes segments of whole documents, on all cores.
func buildSegments(ctx context.Context, a *analysis.Analyzer, chunks iter.Seq2[store.Chunk, error]) ([]*segment, error) {
	workers := runtime.GOMAXPROCS(0)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	lexicons := make(chan *analysis.Lexicon, workers) // to be used again
	var built []*segmentSlot
	for batch, err := range batches(ctx, chunks) {
		if err != nil {
			_ = group.Wait() // the batches' own errors can only be ctx's
			return nil, err
		}
		slot := new(segmentSlot)
		built = append(built, slot)
		group.Go(func() error {
			lexicon := lexiconOf(a, lexicons)
			slot.segment = buildSegment(lexicon, batch)
			lexicons <- lexicon
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	segments := make([]*segment, len(built))
	for i, slot := range built {
		segments[i] = slot.segment
	}
	return joinDocuments(segments), nil
}

// lexiconOf returns a lexicon that nobody uses.
func lexiconOf(a *analysis.Analyzer, free <-chan *analysis.Lexicon) *analysis.Lexicon {
	select {
	case lexicon := <-free:
		if lexicon.Len() < maxLexicon {
			return lexicon
		}
	default:
	}
	return a.NewLexicon()
}

// segmentSlot is where a goroutine leaves the segment it built.
type segmentSlot struct{ segment *segment }

func buildSegment(lexicon *analysis.Lexicon, chunks []store.Chunk) *segment {
	b := newSegmentBuilder(lexicon)
	for i := range chunks {
		b.add(&chunks[i])
	}
	return b.build()
}

// joinDocuments merges neighbouring segments that have parts of one document.
func joinDocuments(segments []*segment) []*segment {
	var joined []*segment
	for from := 0; from < len(segments); {
		to := from + 1
		for to < len(segments) && segments[to-1].lastDocument() == segments[to].documents[0].id {
			to++
		}
		if to-from == 1 {
			joined = append(joined, segments[from])
		} else {
			views := make([]*view, 0, to-from)
			for _, s := range segments[from:to] {
				views = append(views, &view{segment: s, live: s.sizesOf(0, uint32(s.chunks()))})
			}
			joined = append(joined, mergeSegments(views))
		}
		from = to
	}
	return joined
}

func (s *segment) lastDocument() string { return s.documents[len(s.documents)-1].id }

// batches cuts a sequence of chunks.
func batches(ctx context.Context, chunks iter.Seq2[store.Chunk, error]) iter.Seq2[[]store.Chunk, error] {
	return func(yield func([]store.Chunk, error) bool) {
		var batch []store.Chunk
		size := 0
		for chunk, err := range chunks {
			if err == nil && len(batch)%256 == 0 {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if size >= 2*batchBytes || size >= batchBytes && chunk.DocumentID != batch[len(batch)-1].DocumentID {
				if !yield(batch, nil) {
					return
				}
				batch, size = nil, 0
			}
			chunk.Vector = nil
			batch = append(batch, chunk)
			size += len(chunk.Text)
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}
