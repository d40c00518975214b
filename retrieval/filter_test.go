package retrieval_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/store"
	"ragagent/store/chromem"
)

// listed are records that can be listed.
type listed struct{ *records }

func (l listed) Documents(_ context.Context, kb string, page store.Page) (out []store.Document, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.documents {
		if d.KnowledgeBaseID == kb && d.ID > page.After {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b store.Document) int { return strings.Compare(a.ID, b.ID) })
	return out[:min(page.Limit, len(out))], nil
}

// tagged is a world whose documents have metadata.
type tagged struct{ *world }

func newTagged(t testing.TB) *tagged {
	t.Helper()
	words, err := bm25.New(bm25.Config{Analyzer: analysis.New()})
	check(t, err)
	w := &world{records: newRecords(), vectors: chromem.New(chromem.Config{})}
	w.index, err = retrieval.NewIndex(retrieval.IndexConfig{Lexical: words, Vectors: w.vectors, Documents: listed{w.records}})
	check(t, err)
	w.pipeline, err = retrieval.NewPipeline(retrieval.PipelineConfig{
		Index: w.index, Records: w, Embedders: []retrieval.Embedder{signEmbedder{}},
	})
	check(t, err)
	for _, id := range []string{"kb_1", "kb_2"} {
		w.bases[id] = store.KnowledgeBase{ID: id, Name: id, Embedder: "test/signs", Fingerprint: "signs"}
	}
	return &tagged{w}
}

// put stores and indexes a document.
func (w *tagged) put(t fataler, kb, document string, meta store.Metadata, texts ...string) {
	var chunks []store.Chunk
	for i, text := range texts {
		vector, _ := signEmbedder{}.EmbedQuery(context.Background(), text)
		chunks = append(chunks, store.Chunk{
			ID: store.ChunkID(document, 1, i, text), KnowledgeBaseID: kb, DocumentID: document,
			Revision: 1, Ordinal: i, Text: text, Vector: vector,
		})
	}
	w.remove(document)
	w.add(chunks...)
	w.describe(document, meta)
	if err := w.index.Replace(context.Background(), w.bases[kb], document, sequence(chunks)); err != nil {
		t.Fatal(err)
	}
}

func (w *tagged) describe(document string, meta store.Metadata) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.documents[document]
	d.Metadata, d.Revision = meta, 1
	w.documents[document] = d
}

func (w *tagged) find(t fataler, q retrieval.Query) retrieval.Result {
	r, err := w.pipeline.Retrieve(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type fataler interface {
	Fatal(args ...any)
}

func parsed(t fataler, raw string) *store.Filter {
	f, err := store.ParseFilter([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What a filter leaves is what a search without it finds, less the rest, with
// the same scores: in every mode, over several knowledge bases, with any
// threshold, after documents came, went and changed.
func TestFilteredIsASubset(t *testing.T) {
	vocabulary := []string{"sun", "moon", "star", "harvest", "night", "tide", "cliff", "gold"}
	rapid.Check(t, func(rt *rapid.T) {
		w := newTagged(t)
		text := func() string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 6).Draw(rt, "words"), " ")
		}
		draw := func() store.Metadata {
			return store.Metadata{
				"year": float64(rapid.IntRange(2020, 2023).Draw(rt, "year")),
				"tags": rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2).Draw(rt, "tags"),
			}
		}
		for i := range rapid.IntRange(1, 20).Draw(rt, "documents") {
			kb := rapid.SampledFrom([]string{"kb_1", "kb_2"}).Draw(rt, "kb")
			id := fmt.Sprintf("%s_%d", kb, i%15)
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				w.remove(id)
				if err := w.index.Remove(context.Background(), kb, []string{id, "doc_none"}); err != nil {
					rt.Fatal(err)
				}
			case 1:
				if _, there := w.documents[id]; there {
					w.describe(id, draw())
					if err := w.index.MetadataChanged(context.Background(), kb, id); err != nil {
						rt.Fatal(err)
					}
				}
			default:
				var texts []string
				for range rapid.IntRange(1, 3).Draw(rt, "chunks") {
					texts = append(texts, text())
				}
				w.put(rt, kb, id, draw(), texts...)
			}
		}
		if rapid.Bool().Draw(rt, "reload") {
			w.reload(rt)
		}
		raw := rapid.SampledFrom([]string{
			`{"year":2021}`, `{"year":{"ge":2021}}`, `{"tags":["a","b"]}`, `{"not":{"tags":{"contains":"a"}}}`,
			`{"or":[{"year":2020},{"tags":"c"}]}`, `{"document_id":"kb_1_3"}`, `{"year":{"gt":0}}`, `{"year":0}`,
		}).Draw(rt, "filter")
		q := retrieval.Query{
			Text: text(), KnowledgeBases: []string{"kb_1", "kb_2"}, TopK: store.MaxTopK,
			Mode:   rapid.SampledFrom([]retrieval.Mode{retrieval.Hybrid, retrieval.Lexical, retrieval.Dense}).Draw(rt, "mode"),
			NoFold: true, // what is equal to one that the filter leaves out is shown
		}
		all := w.find(rt, q)
		q.Filter = parsed(rt, raw)
		q.TopK = rapid.IntRange(1, 10).Draw(rt, "top_k")
		q.ScoreThreshold = rapid.SampledFrom([]float64{0, .3, .6}).Draw(rt, "threshold")
		want := []string{}
		for _, hit := range all.Hits {
			doc := w.documents[hit.DocumentID]
			if hit.Score >= q.ScoreThreshold && q.Filter.Match(doc.Field) && len(want) < q.TopK {
				want = append(want, fmt.Sprintf("%s %.12f", hit.ID, hit.Score))
			}
		}
		got := []string{}
		for _, hit := range w.find(rt, q).Hits {
			got = append(got, fmt.Sprintf("%s %.12f", hit.ID, hit.Score))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%s %s: %s", q.Mode, raw, diff)
		}
	})
}

// reload loads every knowledge base anew.
func (w *tagged) reload(t fataler) {
	for id, kb := range w.bases {
		var chunks []store.Chunk
		for _, c := range w.chunks {
			if c.KnowledgeBaseID == id {
				chunks = append(chunks, c)
			}
		}
		slices.SortFunc(chunks, func(a, b store.Chunk) int {
			if c := strings.Compare(a.DocumentID, b.DocumentID); c != 0 {
				return c
			}
			return a.Ordinal - b.Ordinal
		})
		if err := w.index.Load(context.Background(), kb, sequence(chunks)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilterTellsUnknownFields(t *testing.T) {
	w := newTagged(t)
	w.put(t, "kb_1", "one", store.Metadata{"year": 2020.}, "moon")
	w.put(t, "kb_2", "two", store.Metadata{"author": "Ada"}, "moon")
	r := w.find(t, retrieval.Query{
		Text: "moon", KnowledgeBases: []string{"kb_1", "kb_2"}, Filter: parsed(t, `{"year":2020,"author":{"ne":"x"},"chapter":{"ne":1},"pages":{"exists":false}}`),
	})
	if diff := cmp.Diff([]string{`filter: no document has the field "chapter"`}, r.Degraded); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"one"}, documents(r)); diff != "" {
		t.Error(diff)
	}
	// The words weigh as in all documents.
	if diff := cmp.Diff([]retrieval.TermWeight{{Term: "moon", DF: 2, IDF: math.Log(1 + .5/2.5)}}, r.Terms, cmp.Comparer(near)); diff != "" {
		t.Error(diff)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// Nothing that the records have changed is shown, even before the index knows.
func TestFilterGoesByTheRecords(t *testing.T) {
	w := newTagged(t)
	w.put(t, "kb_1", "one", store.Metadata{"year": 2020.}, "moon")
	w.describe("one", store.Metadata{"year": 2021.})
	q := retrieval.Query{Text: "moon", KnowledgeBases: []string{"kb_1"}, Filter: parsed(t, `{"year":2020}`)}
	if r := w.find(t, q); len(r.Hits) > 0 {
		t.Errorf("found %v", documents(r))
	}
	check(t, w.index.MetadataChanged(t.Context(), "kb_1", "one"))
	q.Filter = parsed(t, `{"year":2021}`)
	if diff := cmp.Diff([]string{"one"}, documents(w.find(t, q))); diff != "" {
		t.Error(diff)
	}
}

func TestFilterNeedsMetadata(t *testing.T) {
	w := newWorld(t, nil)
	w.put(t, "kb_1", "one", "moon")
	_, err := w.pipeline.Retrieve(t.Context(), retrieval.Query{Text: "moon", KnowledgeBases: []string{"kb_1"}, Filter: parsed(t, `{"a":1}`)})
	if !errors.Is(err, store.ErrInvalid) {
		t.Errorf("%v", err)
	}
}
