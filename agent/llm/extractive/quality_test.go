package extractive

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ragagent/rerank/lexical"
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/retrieval/embed"
	"ragagent/retrieval/eval"
	"ragagent/retrieval/rewrite"
	"ragagent/store"
	"ragagent/store/chromem"
)

// TestAnswerQuality measures the answerer on collections whose answers are
// known, over the real retrieval, one chunk a document, and how well it tells
// their questions from those of another collection:
//
//	RAGAGENT_QUALITY=squad-dev go test -v -run TestAnswerQuality ./agent/llm/extractive
//
// RAGAGENT_FEATURES=FILE writes the signals of every question, for fitting.
func TestAnswerQuality(t *testing.T) {
	chosen := os.Getenv("RAGAGENT_QUALITY")
	if chosen == "" {
		t.Skip("RAGAGENT_QUALITY is not set: it takes minutes")
	}
	foreign := map[string]string{ // questions that the set cannot answer
		"squad-dev": "pubmedqa", "squad-mix": "pubmedqa", "pubmedqa": "squad-mix", "hotpotqa-100": "squad-mix",
		"cranfield": "squad-mix", "cmrc2018-dev": "", "xquad/de": "", "xquad/ru": "",
	}
	for _, set := range strings.Split(chosen, ",") {
		t.Run(set, func(t *testing.T) {
			b := newBench(t, openSet(t, set))
			own := b.ask(t, b.data.Queries, 1000, false)
			b.report(t, set, own)
			if other := foreign[set]; other != "" {
				b.reportRefusals(t, own, b.ask(t, openSet(t, other).Queries, 1000, false))
			}
			b.reportRefusals(t, own, b.ask(t, b.data.Queries, 1000, true))
			if hard := b.data.Unanswerable; len(hard) > 0 {
				b.reportRefusals(t, own, b.ask(t, hard, 1000, false))
			}
		})
	}
}

// asked is what came of one question.
type asked struct {
	id     string
	answer answer
	best   []sentence
}

type bench struct {
	data  *eval.Dataset
	find  retrieval.Retriever
	model *Model
}

// ask puts every so many of the questions, most at most. robbed hides the
// relevant documents, so that none of them can be answered.
func (b *bench) ask(t *testing.T, queries []eval.Question, most int, robbed bool) []asked {
	t.Helper()
	step := max(1, len(queries)/most)
	var out []asked
	for i := 0; i < len(queries); i += step {
		result, err := b.find.Retrieve(t.Context(), retrieval.Query{Text: queries[i].Text, KnowledgeBases: []string{"kb"}, TopK: 15})
		check(t, err)
		var o Observation
		for _, term := range result.Terms {
			o.Result.Terms = append(o.Result.Terms, Term(term))
		}
		for n, h := range result.Hits {
			if robbed && b.data.Qrels[queries[i].ID][h.DocumentID] > 0 || len(o.Passages) == 5 {
				continue
			}
			o.Passages = append(o.Passages, Passage{ID: n + 1, Document: h.DocumentID, Title: h.Title, Score: h.Score, Text: h.Text})
		}
		query := queries[i].Text
		if result.Rewritten != "" {
			query = result.Rewritten
		}
		a := b.model.read(t.Context(), query, o)
		out = append(out, asked{queries[i].ID, a, a.best(b.model.cfg.Sentences)})
	}
	return out
}

// report says where the known answers stand.
func (b *bench) report(t *testing.T, set string, all []asked) {
	t.Helper()
	known := b.data.Answers
	n, one, three, said, passages, kept, sentences := 0., 0., 0., 0., 0., 0., 0.
	var precision eval.Ratio
	for _, a := range all {
		answers := known[a.id].Texts
		if a.answer.confident(b.model.cfg.RefuseAt) {
			kept++
		}
		right := 0.
		cited := map[string]bool{}
		for _, s := range a.best {
			cited[s.passage.Document] = true
		}
		for id := range cited {
			if b.data.Qrels[a.id][id] > 0 {
				right++
			}
		}
		if len(cited) > 0 {
			precision.Sum += right / float64(len(cited))
			precision.N++
		}
		sentences += float64(len(a.best))
		if len(answers) == 0 {
			continue
		}
		n++
		in := func(list []sentence) float64 {
			return oneIf(slices.ContainsFunc(list, func(s sentence) bool { return eval.Contains(s.text, answers) }))
		}
		one += in(a.answer.sentences[:min(1, len(a.answer.sentences))])
		three += in(a.answer.sentences[:min(3, len(a.answer.sentences))])
		said += in(a.best)
		passages += oneIf(slices.ContainsFunc(a.answer.sentences, func(s sentence) bool { return eval.Contains(s.passage.Text, answers) }))
	}
	t.Logf("%s: %d questions; answer in best sentence %.3f, best three %.3f, answer given %.3f (%.2f sentences), passages %.3f; citation precision %.3f; kept %.3f",
		set, len(all), one/n, three/n, said/n, sentences/float64(len(all)), passages/n, precision.Value(), kept/float64(len(all)))
}

// reportRefusals says how well answerable questions are told from others.
func (b *bench) reportRefusals(t *testing.T, can, cannot []asked) {
	t.Helper()
	var high, low []float64
	refused := 0.
	for _, at := range []float64{-2, -1, 0, 1, 2} {
		share := func(of []asked, said bool) float64 {
			n := 0.
			for _, a := range of {
				n += oneIf(a.answer.confident(at) == said)
			}
			return n / float64(len(of))
		}
		t.Logf("refusing at %+g: %.3f of the answerable answered, %.3f of the others refused", at, share(can, true), share(cannot, false))
	}
	for _, a := range can {
		high = append(high, a.answer.signals.z())
		writeFeatures(t, 1, b.data.Name, a)
	}
	for _, a := range cannot {
		low = append(low, a.answer.signals.z())
		refused += oneIf(!a.answer.confident(b.model.cfg.RefuseAt))
		writeFeatures(t, 0, b.data.Name, a)
	}
	for name, of := range map[string][]asked{"answerable": can, "others": cannot} {
		strangers, absent, answered := 0., 0., 0.
		for _, a := range of {
			strangers += oneIf(len(a.answer.signals.strangers) > 0)
			absent += oneIf(a.answer.signals.absent)
			answered += oneIf(a.answer.confident(b.model.cfg.RefuseAt) && len(a.answer.signals.strangers) > 0)
		}
		n := float64(len(of))
		t.Logf("%s: unknown names in %.3f (answered with them %.3f), no name in the passages %.3f", name, strangers/n, answered/n, absent/n)
	}
	t.Logf("of %d questions without an answer %.3f are refused; AUROC %.3f", len(cannot), refused/float64(len(cannot)), eval.AUROC(high, low).Value())
}

func writeFeatures(t *testing.T, label int, set string, a asked) {
	t.Helper()
	file := os.Getenv("RAGAGENT_FEATURES")
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(t, err)
	s := a.answer.signals
	fmt.Fprintf(f, "%d\t%s\t%g\t%g\t%g\t%g\n", label, set, s.unknown, s.top, s.passages, oneIf(s.cjk))
	check(t, f.Close())
}

func sharedData() string {
	shared := os.Getenv("RAGAGENT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "..", "shared")
	}
	return filepath.Join(shared, "data")
}

func openSet(t *testing.T, name string) *eval.Dataset {
	t.Helper()
	dir := filepath.Join(sharedData(), filepath.FromSlash(name))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no test collection: %v", err)
	}
	data, err := eval.OpenDataset(dir, "test")
	check(t, err)
	return data
}

func newBench(t *testing.T, data *eval.Dataset) *bench {
	t.Helper()
	embedder, err := embed.NewStatic()
	check(t, err)
	analyzer := analysis.New()
	words, err := bm25.New(bm25.Config{Analyzer: analyzer})
	check(t, err)
	index, err := retrieval.NewIndex(retrieval.IndexConfig{Lexical: words, Vectors: chromem.New(chromem.Config{})})
	check(t, err)
	second, err := lexical.New(lexical.Config{Analyzer: analyzer, Statistics: words})
	check(t, err)
	kb := store.KnowledgeBase{ID: "kb", Name: data.Name, Embedder: embedder.Name(), Fingerprint: embedder.Fingerprint()}
	rec := records{kb: kb, chunks: map[string]store.Chunk{}}
	find, err := retrieval.NewPipeline(retrieval.PipelineConfig{
		Index: index, Records: rec, Embedders: []retrieval.Embedder{embedder},
		Rewriter: rewrite.New(rewrite.Config{Analyzer: analyzer}), Rerankers: []retrieval.Reranker{second},
	})
	check(t, err)
	for doc, err := range data.Corpus().Documents(t.Context()) {
		check(t, err)
		vectors, err := embedder.Embed(t.Context(), []string{strings.TrimSpace(doc.Title + " " + doc.Text)})
		check(t, err)
		rec.chunks[doc.ID] = store.Chunk{
			ID: doc.ID, KnowledgeBaseID: kb.ID, DocumentID: doc.ID, Revision: 1, Title: doc.Title, Text: doc.Text, Vector: vectors[0],
		}
	}
	check(t, index.Load(t.Context(), kb, rec.all()))
	cfg := Config{Embedder: embedder}
	if os.Getenv("RAGAGENT_MODE") == "lexical" {
		cfg.Embedder = nil
	}
	model, err := New(cfg)
	check(t, err)
	return &bench{data: data, find: find, model: model}
}

// records is a record store in memory.
type records struct {
	kb     store.KnowledgeBase
	chunks map[string]store.Chunk
}

func (r records) all() iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		for _, c := range r.chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (r records) KnowledgeBase(context.Context, string) (store.KnowledgeBase, error) {
	return r.kb, nil
}

func (r records) DocumentsByID(_ context.Context, ids []string) (out []store.Document, err error) {
	for _, id := range ids {
		out = append(out, store.Document{ID: id, KnowledgeBaseID: r.kb.ID, Name: id})
	}
	return out, nil
}

func (r records) ChunksByID(_ context.Context, ids []string) ([]store.Chunk, error) {
	var out []store.Chunk
	for _, id := range ids {
		if c, ok := r.chunks[id]; ok {
			out = append(out, c)
		}
	}
	return out, nil
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
