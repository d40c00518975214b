package retrieval_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/store"
)

// revise stores a revision of a document, and indexes it if indexed is true.
func (w *world) revise(t *testing.T, document string, revision int, text string, indexed bool) {
	t.Helper()
	vector, err := signEmbedder{}.EmbedQuery(t.Context(), text)
	check(t, err)
	chunks := []store.Chunk{{
		ID: store.ChunkID(document, revision, 0, text), KnowledgeBaseID: "kb_1", DocumentID: document,
		Revision: revision, Text: text, Vector: vector,
	}}
	w.replace(document, chunks...)
	if indexed {
		check(t, w.index.Replace(t.Context(), w.bases["kb_1"], document, sequence(chunks)))
	}
}

// What is kept of chunks saves reading them again, and shows nothing that has
// gone.
func TestKeptChunksAreConfirmed(t *testing.T) {
	m := &meanwhile{happens: func(int) {}}
	m.world = newWorld(t, func(cfg *retrieval.PipelineConfig) { cfg.Records = m })
	m.revise(t, "plan", 1, "sales plans", true)
	m.revise(t, "report", 1, "sales figures of may", true)
	ask := func(wantFetches int, want ...string) {
		t.Helper()
		m.fetches = 0
		texts := []string{}
		for _, h := range m.retrieve(t, retrieval.Query{Text: "sales figures"}).Hits {
			texts = append(texts, h.Text)
		}
		if diff := cmp.Diff(want, texts); diff != "" || m.fetches != wantFetches {
			t.Errorf("after %d fetches, not %d (-want +got):\n%s", m.fetches, wantFetches, diff)
		}
	}
	ask(0, "sales figures of may", "sales plans") // kept since they were indexed

	// The truth has a new revision that the index does not know: each search
	// asks once whether the old one is there, and the second and third read it.
	m.revise(t, "report", 2, "sales figures of june", false)
	ask(3, "sales plans")
	m.revise(t, "report", 2, "sales figures of june", true)
	ask(0, "sales figures of june", "sales plans")

	m.remove("report") // not yet from the index
	ask(3, "sales plans")
	check(t, m.index.Remove(t.Context(), "kb_1", []string{"report"}))
	ask(0, "sales plans")
}

// While documents are replaced and deleted, a question finds nothing older than
// what was there when it was asked.
func TestNothingStaleWhileDocumentsChange(t *testing.T) {
	w := newWorld(t, nil)
	const documents, changes = 8, 300
	var least [documents]atomic.Int64 // revision that is there at least
	for d := range documents {
		w.revise(t, fmt.Sprint("doc", d), 1, fmt.Sprintf("sun %d.1", d), true)
		least[d].Store(1)
	}
	var askers sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		askers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				var floor [documents]int64
				for d := range floor {
					floor[d] = least[d].Load()
				}
				result, err := w.pipeline.Retrieve(t.Context(), retrieval.Query{Text: "sun", KnowledgeBases: []string{"kb_1"}, TopK: documents})
				if err != nil {
					t.Error(err)
					return
				}
				for _, h := range result.Hits {
					var d, revision int64
					if _, err := fmt.Sscanf(h.Text, "sun %d.%d", &d, &revision); err != nil || h.Revision != int(revision) || revision < floor[d] {
						t.Errorf("%q of revision %d, at least %d was there", h.Text, h.Revision, floor[d])
						return
					}
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for revision := int64(2); revision < changes; revision++ {
		d := r.IntN(documents)
		name := fmt.Sprint("doc", d)
		if r.IntN(3) > 0 {
			w.revise(t, name, int(revision), fmt.Sprintf("sun %d.%d", d, revision), true)
		} else {
			w.remove(name)
			check(t, w.index.Remove(t.Context(), "kb_1", []string{name}))
		}
		least[d].Store(revision)
	}
	close(stop)
	askers.Wait()
}
