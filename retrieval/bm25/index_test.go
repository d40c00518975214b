package bm25

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/store"
)

func newIndex(t testing.TB) *Index {
	t.Helper()
	x, err := New(Config{Analyzer: analysis.New()})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// chunk makes the n-th chunk of a document.
func chunk(document string, n int, title, text string) store.Chunk {
	return store.Chunk{ID: fmt.Sprintf("%s#%d", document, n), DocumentID: document, Ordinal: n, Title: title, Text: text}
}

func sequence(chunks ...store.Chunk) iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func load(t testing.TB, x *Index, collection string, chunks ...store.Chunk) {
	t.Helper()
	if err := x.Load(t.Context(), collection, sequence(chunks...)); err != nil {
		t.Fatal(err)
	}
}

func replace(t testing.TB, x *Index, collection, document string, chunks ...store.Chunk) {
	t.Helper()
	if err := x.Replace(t.Context(), collection, document, sequence(chunks...)); err != nil {
		t.Fatal(err)
	}
}

// result is what a test compares of a search.
type result struct {
	Terms []retrieval.TermWeight
	Text  string
	Hits  []hit
}

type hit struct {
	ID                    string
	Words, Surface, Score float64
}

func search(t testing.TB, x *Index, query string, collections ...string) result {
	t.Helper()
	m, err := x.Search(t.Context(), collections, query)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	r := result{Terms: m.Terms(), Text: m.Text()}
	for _, h := range m.Top(50) {
		r.Hits = append(r.Hits, hit{h.ID, h.Words, h.Surface, h.Score})
		if ref, ok := m.Find(h.ID); !ok || ref != h.Ref {
			t.Errorf("Find(%s) = %d, %v; want %d", h.ID, ref, ok, h.Ref)
		}
		if len(m.Holds(h.Ref)) == 0 && h.Words > .3 {
			t.Errorf("%s holds nothing", h.ID)
		}
		sum := 0.
		for _, node := range m.Explain(h.Ref) {
			sum += node.Value
		}
		if math.Abs(sum-h.Words) > 1e-12 {
			t.Errorf("%s: explained %v, ranked by %v", h.ID, sum, h.Words)
		}
	}
	return r
}

func ids(r result) []string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, h.ID)
	}
	return out
}

// Three chunks without titles of 3, 2 and 1 words: average 2.
//
//	idf(cat) = ln(1 + 1.5/2.5) = .470004, idf(dog) = ln(1 + 2.5/1.5) = .980829
//	a: cat cat sun   c = 2/(.25+.75*1.5) = 1.454545; 1.9*1.954545/2.854545 = 1.300955
//	b: cat dog       c = 1 for both;                 1.9*1.5/2.4           = 1.1875
func TestBM25LByHand(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb",
		chunk("a", 0, "", "cat cat sun"), chunk("b", 0, "", "cat, then a dog"), chunk("c", 0, "", "sun"))
	got := search(t, x, "dogs cats", "kb")

	idfCat, idfDog := math.Log(1+1.5/2.5), math.Log(1+2.5/1.5)
	most := 2.2 * (idfCat + idfDog)
	words := map[string]float64{
		"a#0": idfCat * 1.9 * (16./11 + .5) / (.9 + 16./11 + .5) / most,
		"b#0": (idfCat + idfDog) * 1.1875 / most,
	}
	want := []hit{{"b#0", words["b#0"], 0, words["b#0"]}, {"a#0", words["a#0"], 0, words["a#0"]}}
	if diff := cmp.Diff(want, got.Hits, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	wantTerms := []retrieval.TermWeight{{Term: "dog", IDF: idfDog, DF: 1}, {Term: "cat", IDF: idfCat, DF: 2}}
	if diff := cmp.Diff(wantTerms, got.Terms, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

// The headings above a chunk and its context, a table's header, are searched as
// its text is, each by itself: no pair reaches from one into the other.
func TestHeadingsAndContextAreSearched(t *testing.T) {
	const before = "Net sales by region"
	plain, heading, context := chunk("a", 0, "", "North 17 South 12"), chunk("a", 0, "", "North 17 South 12"), chunk("a", 0, "", "North 17 South 12")
	heading.Headings = []string{before}
	context.Context = before
	results := make([]result, 3)
	for i, c := range []store.Chunk{plain, heading, context} {
		x := newIndex(t)
		load(t, x, "kb", c, chunk("b", 0, "", "Something else"))
		results[i] = search(t, x, "net sales region north", "kb")
	}
	if len(results[0].Hits) != 1 || len(results[2].Hits) != 1 || results[2].Hits[0].Words <= results[0].Hits[0].Words {
		t.Errorf("with a context %v, without %v", results[2].Hits, results[0].Hits)
	}
	if diff := cmp.Diff(results[1], results[2]); diff != "" {
		t.Errorf("as a heading and as context: %s", diff)
	}
}

// All fields of one chunk: title "Red fox", text "A red fox runs" against a
// chunk "Blue sky" without a title; query "red fox".
func TestFieldsByHand(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb", chunk("a", 0, "Red fox", "A red fox runs"), chunk("b", 0, "", "Blue sky"))
	got := search(t, x, "red fox", "kb")

	// 5 tokens (red fox red fox run) and 2: average 3.5. Title tokens: 2 and 0, average 1.
	idf := math.Log(2) // ln(1 + 1.5/1.5): one of two chunks: of each word, and of the pair
	most := 2 * 2.2 * idf
	c := 2/(.25+.75*5/3.5) + .5
	text := 2 * idf * 1.9 * c / (.9 + c)
	title := 2 * idf * 2.2 / (1 + 1.2*(.7+.3*2)) // tf 1, b .3, length 2 of average 1
	pair := idf * 2 * 2.2 / (2 + 1.2*(.25+.75*5/3.5))
	idfTitle := math.Log(1 + .5/1.5) // one of one title
	words := (text+.3*title+.2*pair+.15*2*idfTitle)/most + .05
	want := []hit{{"a#0", words, .05, words + .05}}
	if diff := cmp.Diff(want, got.Hits, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

func TestNeighboursHandOn(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb",
		chunk("a", 0, "", "zebra river"), chunk("a", 1, "", "zebra mountain cloud"), chunk("b", 0, "", "zebra river"))
	got := search(t, x, "zebra mountain", "kb")
	if diff := cmp.Diff([]string{"a#1", "a#0", "b#0"}, ids(got)); diff != "" {
		t.Fatal(diff)
	}
	first, next, last := got.Hits[0], got.Hits[1], got.Hits[2]
	if want := last.Score + .05*(first.Words+first.Surface); math.Abs(next.Score-want) > 1e-12 {
		t.Errorf("score %v, want %v", next.Score, want)
	}
	if want := first.Words + first.Surface + .05*(next.Words+next.Surface); math.Abs(first.Score-want) > 1e-12 {
		t.Errorf("score %v, want %v", first.Score, want)
	}
}

func TestSpellingIsRepaired(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb",
		chunk("a", 0, "", "supersonic flow"), chunk("b", 0, "", "supersonic wings"), chunk("c", 0, "", "flaw glow"))
	for query, want := range map[string]result{
		"supersnic":      {Text: "supersonic", Hits: []hit{{ID: "a#0"}, {ID: "b#0"}}},
		"the Supresonic": {Text: "the Supersonic", Hits: []hit{{ID: "a#0"}, {ID: "b#0"}}},
		"a wingz, fxow.": {Text: "a wings, flow.", Hits: []hit{{ID: "a#0"}, {ID: "b#0"}}},
		"flo":            {Text: "flo"}, // too short
		"wing":           {Text: "wing", Hits: []hit{{ID: "b#0"}}},
		"whhich wing":    {Text: "which wing", Hits: []hit{{ID: "b#0"}}},
		"glew flaw":      {Text: "glow flaw", Hits: []hit{{ID: "c#0"}}},
	} {
		got := search(t, x, query, "kb")
		if diff := cmp.Diff(want.Text, got.Text); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
		if diff := cmp.Diff(ids(want), ids(got)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
		for _, term := range got.Terms {
			if term.DF == 0 && query != "flo" {
				t.Errorf("%s: %q is still searched", query, term.Term)
			}
		}
	}
}

// "luter" is one letter away from both; company decides against frequency.
func TestSpellingFitsTheRest(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb",
		chunk("a", 0, "", "martin luther of wittenberg"), chunk("b", 0, "", "later came rain"),
		chunk("c", 0, "", "later still"), chunk("d", 0, "", "and later snow"))
	for query, want := range map[string]string{"martin luter": "martin luther", "luter": "later"} {
		if got := search(t, x, query, "kb"); got.Text != want {
			t.Errorf("%q became %q", query, got.Text)
		}
	}
}

func TestTitleMatch(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb",
		chunk("a", 0, "BestBuy 2022", "annual figures"), chunk("b", 0, "Boeing 2022", "annual figures"),
		chunk("c", 0, "Walmart 2022", "annual figures"))
	for query, first := range map[string]string{
		"annual figures of Best Buy": "a#0",
		"annual figures of boe":      "b#0",
		"walmart annual figures":     "c#0",
	} {
		got := search(t, x, query, "kb")
		if len(got.Hits) != 3 || got.Hits[0].ID != first || got.Hits[0].Score == got.Hits[1].Score {
			t.Errorf("%s: %v", query, got.Hits)
		}
	}
}

func TestCharactersOfCJK(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb", chunk("a", 0, "", "東京大学の歴史"), chunk("b", 0, "", "京都の大きな寺"), chunk("c", 0, "", "雪"))
	if diff := cmp.Diff([]string{"a#0", "b#0"}, ids(search(t, x, "大学の京", "kb"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"c#0"}, ids(search(t, x, "雪", "kb"))); diff != "" {
		t.Error(diff)
	}
}

// Searching two collections gives what one collection of all their chunks gives.
func TestUnionOfCollections(t *testing.T) {
	x := newIndex(t)
	a := []store.Chunk{chunk("a", 0, "", "cat sun"), chunk("b", 0, "", "cat dog moon")}
	b := []store.Chunk{chunk("c", 0, "", "dog dog"), chunk("d", 0, "", "moon landing site")}
	load(t, x, "one", a...)
	load(t, x, "two", b...)
	load(t, x, "both", append(slices.Clone(a), b...)...)
	for _, query := range []string{"cat", "dog moon", "moon landing", "nothing"} {
		if diff := cmp.Diff(search(t, x, query, "both"), search(t, x, query, "one", "two")); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

func TestUnknownAndEmpty(t *testing.T) {
	x := newIndex(t)
	if got := search(t, x, "anything", "nowhere"); len(got.Hits) != 0 {
		t.Error(got)
	}
	load(t, x, "kb")
	load(t, x, "kb", chunk("a", 0, "", "the of and"), chunk("b", 0, "", ""))
	for _, query := range []string{"", "the", "cat", "?!"} {
		if got := search(t, x, query, "kb"); len(got.Hits) != 0 {
			t.Errorf("%q: %v", query, got)
		}
	}
	x.Drop("kb")
	if got := x.DocumentChunks("kb", "a"); got != nil {
		t.Error(got)
	}
}

func TestFailedLoadChangesNothing(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb", chunk("a", 0, "", "cat"))
	broken := errors.New("broken")
	failing := func(yield func(store.Chunk, error) bool) {
		if yield(chunk("b", 0, "", "dog"), nil) {
			yield(store.Chunk{}, broken)
		}
	}
	if err := x.Load(t.Context(), "kb", failing); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := x.Replace(t.Context(), "kb", "a", failing); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Load(ctx, "kb", sequence(chunk("b", 0, "", "dog"))); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"a#0"}, ids(search(t, x, "cat dog", "kb"))); diff != "" {
		t.Error(diff)
	}
}

// drawIndex makes an index, which may have segments so small that documents are
// in pieces.
func drawIndex(t *rapid.T) *Index {
	x, err := New(Config{Analyzer: analysis.New()})
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "small") {
		x.shop.batchBytes = rapid.IntRange(1, 100).Draw(t, "batch")
		x.shop.segmentTokens = rapid.Int64Range(1, 200).Draw(t, "tokens")
	}
	return x
}

// drawn is a document as a property draws it.
var drawnWords = []string{"cat", "cats", "dog", "dogs", "sun", "moon", "moons", "star", "flow", "flows", "1957", "東京都", "大学"}

func drawText(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(drawnWords), 0, 12).Draw(t, label), " ")
}

func drawChunks(t *rapid.T, document string) []store.Chunk {
	title := rapid.SampledFrom([]string{"", "Cat stars", "Moon flows", "Cats star", "東京", document}).Draw(t, "title")
	var chunks []store.Chunk
	for n := range rapid.IntRange(0, 9).Draw(t, "chunks") {
		chunks = append(chunks, chunk(document, n, title, drawText(t, "text")))
	}
	return chunks
}

// After any sequence of additions, replacements and deletions a search finds
// the same with the same scores, to the last bit, as in an index built afresh.
func TestEqualsFreshBuild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawIndex(t)
		held := make(map[string][]store.Chunk)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			document := fmt.Sprintf("doc%d", rapid.IntRange(0, 11).Draw(t, "document"))
			chunks := drawChunks(t, document)
			if err := x.Replace(context.Background(), "kb", document, sequence(chunks...)); err != nil {
				t.Fatal(err)
			}
			held[document] = chunks
			if rapid.IntRange(0, 5).Draw(t, "remove") == 0 {
				removeGroup(t, x, held)
			}
		}
		var all []store.Chunk
		for d := range 12 {
			all = append(all, held[fmt.Sprintf("doc%d", d)]...)
		}
		x.shop.batchBytes, x.shop.segmentTokens = batchBytes, segmentTokens
		if err := x.Load(context.Background(), "fresh", sequence(all...)); err != nil {
			t.Fatal(err)
		}
		query := drawText(t, "query") + rapid.SampledFrom([]string{"", " catz", " st", " 東"}).Draw(t, "tail")
		compare(t, x, query)
	})
}

// removeGroup removes documents together, some of which are not there.
func removeGroup(t *rapid.T, x *Index, held map[string][]store.Chunk) {
	group := rapid.SliceOfN(rapid.IntRange(0, 14), 1, 8).Draw(t, "group")
	var documents, want []string
	for _, d := range group {
		document := fmt.Sprintf("doc%d", d)
		documents = append(documents, document)
		for _, c := range held[document] {
			want = append(want, c.ID)
		}
		delete(held, document)
	}
	got := x.Remove("kb", documents)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("removed %v (-want +got):\n%s", documents, diff)
	}
}

func compare(t *rapid.T, x *Index, query string) {
	var results [2][]retrieval.LexicalHit
	for i, name := range []string{"kb", "fresh"} {
		m, err := x.Search(context.Background(), []string{name}, query)
		if err != nil {
			t.Fatal(err)
		}
		results[i] = m.Top(100)
		m.Release()
	}
	plain := cmpopts.IgnoreFields(retrieval.LexicalHit{}, "Ref", "Before", "After", "Collection")
	if diff := cmp.Diff(results[1], results[0], plain); diff != "" {
		t.Fatalf("%q differs from a fresh build: %s", query, diff)
	}
}

// Tiers stay few, and merging forgets what was deleted.
func TestSegmentsAreMerged(t *testing.T) {
	x := newIndex(t)
	for i := range 500 {
		replace(t, x, "kb", fmt.Sprint(i), chunk(fmt.Sprint(i), 0, "", fmt.Sprintf("word%d common", i)))
	}
	snap := x.collection("kb").snapshot.Load()
	if len(snap.views) > 9 {
		t.Errorf("%d segments for 500 documents", len(snap.views))
	}
	for i := range 490 {
		replace(t, x, "kb", fmt.Sprint(i))
	}
	chunks, terms := 0, 0
	for _, v := range x.collection("kb").snapshot.Load().views {
		chunks += v.chunks()
		terms += v.stems.len()
	}
	if chunks > 15 || terms > 20 {
		t.Errorf("%d chunks and %d terms are kept for 10 documents", chunks, terms)
	}
	if diff := cmp.Diff([]string{"495#0"}, ids(search(t, x, "word495", "kb"))); diff != "" {
		t.Error(diff)
	}
}

// A search sees all of a change or nothing of it: the two chunks of a document
// always come with the same word.
func TestSearchesSeeWholeChanges(t *testing.T) {
	x := newIndex(t)
	revision := func(word string) []store.Chunk {
		return []store.Chunk{chunk("a", 0, "", "shared "+word), chunk("a", 1, "", "shared "+word)}
	}
	load(t, x, "kb", revision("even")...)
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for i := range 300 {
			replace(t, x, "kb", "a", revision([]string{"odd", "even"}[i%2])...)
		}
	})
	for range 2 {
		wg.Go(func() {
			for running := true; running; {
				select {
				case <-done:
					running = false
				default:
				}
				r := search(t, x, "shared even", "kb")
				if len(r.Hits) != 2 || r.Hits[0].Words != r.Hits[1].Words {
					t.Errorf("half a change: %v", r.Hits)
					return
				}
			}
		})
	}
	wg.Wait()
}
