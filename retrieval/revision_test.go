package retrieval_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/store"
)

// meanwhile are records in which something happens before a fetch of chunks, or
// before documents are read.
type meanwhile struct {
	*world
	fetches, reads int
	happens        func(fetch int)
	before         func(read int)
}

func (m *meanwhile) DocumentsByID(ctx context.Context, ids []string) ([]store.Document, error) {
	m.reads++
	if m.before != nil {
		m.before(m.reads)
	}
	return m.world.DocumentsByID(ctx, ids)
}

func (m *meanwhile) ChunksByID(ctx context.Context, ids []string) ([]store.Chunk, error) {
	m.fetches++
	m.happens(m.fetches)
	return m.world.ChunksByID(ctx, ids)
}

// TestRevisionAfterSearch: what was found, and is kept in memory, has gone, and
// something else is there.
func TestRevisionAfterSearch(t *testing.T) {
	m := &meanwhile{happens: func(int) {}}
	m.world = newWorld(t, func(cfg *retrieval.PipelineConfig) { cfg.Records = m })
	m.revise(t, "report", 1, "old sales figures", true)
	m.before = func(read int) {
		if read == 1 {
			m.revise(t, "report", 2, "new sales figures", true)
		}
	}
	r := m.retrieve(t, retrieval.Query{Text: "sales figures"})
	if len(r.Hits) != 1 || r.Hits[0].Text != "new sales figures" || m.fetches != 1 || m.reads != 2 {
		t.Errorf("after %d fetches and %d reads: %+v", m.fetches, m.reads, r.Hits)
	}
}

// TestWhatIsGoneForGood: an index that does not follow is asked three times.
func TestWhatIsGoneForGood(t *testing.T) {
	m := &meanwhile{happens: func(int) {}}
	m.world = newWorld(t, func(cfg *retrieval.PipelineConfig) { cfg.Records = m })
	m.put(t, "kb_1", "report", "sales figures")
	m.put(t, "kb_1", "plan", "sales plans")
	m.remove("report")
	r := m.retrieve(t, retrieval.Query{Text: "sales"})
	if diff := cmp.Diff([]string{"plan"}, documents(r)); diff != "" || m.fetches != 3 {
		t.Errorf("after %d fetches (-want +got):\n%s", m.fetches, diff)
	}
}
