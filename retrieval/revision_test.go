package retrieval_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/store"
)

// meanwhile are records in which something happens before a fetch.
type meanwhile struct {
	*world
	fetches int
	happens func(fetch int)
}

func (m *meanwhile) ChunksByID(ctx context.Context, ids []string) ([]store.Chunk, error) {
	m.fetches++
	m.happens(m.fetches)
	return m.world.ChunksByID(ctx, ids)
}

// TestRevisionBetweenSearchAndFetch: what was found has gone, and something else
// is there.
func TestRevisionBetweenSearchAndFetch(t *testing.T) {
	m := &meanwhile{}
	m.world = newWorld(t, func(cfg *retrieval.PipelineConfig) { cfg.Records = m })
	m.put(t, "kb_1", "report", "old sales figures")
	m.happens = func(fetch int) {
		if fetch == 1 {
			m.put(t, "kb_1", "report", "new sales figures")
		}
	}
	r := m.retrieve(t, retrieval.Query{Text: "sales figures"})
	if len(r.Hits) != 1 || r.Hits[0].Text != "new sales figures" || m.fetches != 2 {
		t.Errorf("after %d fetches: %+v", m.fetches, r.Hits)
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
