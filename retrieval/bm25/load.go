package bm25

import (
	"context"
	"iter"
	"runtime"

	"golang.org/x/sync/errgroup"

	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// batchBytes is how much text makes a segment while loading. It bounds what
// building takes of memory beside the index: about ten times as much for each
// core.
const batchBytes = 4 << 20

// buildSegments makes segments of whole documents, on all cores.
func buildSegments(ctx context.Context, a *analysis.Analyzer, chunks iter.Seq2[store.Chunk, error]) ([]*segment, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	var built []*segmentSlot
	for batch, err := range batches(ctx, chunks) {
		if err != nil {
			_ = group.Wait() // the batches' own errors can only be ctx's
			return nil, err
		}
		slot := new(segmentSlot)
		built = append(built, slot)
		group.Go(func() error {
			slot.segment = buildSegment(a, batch)
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
	return segments, nil
}

// segmentSlot is where a goroutine leaves the segment it built.
type segmentSlot struct{ segment *segment }

func buildSegment(a *analysis.Analyzer, chunks []store.Chunk) *segment {
	b := newSegmentBuilder(a)
	for i := range chunks {
		b.add(&chunks[i])
	}
	return b.build()
}

// batches cuts a sequence of chunks between documents.
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
			if size >= batchBytes && chunk.DocumentID != batch[len(batch)-1].DocumentID {
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
