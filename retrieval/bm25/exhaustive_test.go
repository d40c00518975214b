package bm25

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/retrieval"
)

// exhaustive is Top without any shortcut: it adds up every posting of every
// list, list by list, and sorts all chunks.
func exhaustive(m *match, k int) []retrieval.LexicalHit {
	var all []ranked
	words, exact := make([][]float64, len(m.parts)), make([][]float64, len(m.parts))
	most := 0.
	for i := range m.parts {
		words[i], exact[i] = sumsOf(m, i)
		for chunk, sum := range exact[i] {
			if m.parts[i].alive(uint32(chunk)) {
				most = max(most, sum)
			}
		}
	}
	surfaceUnit := 0.
	if most > 0 {
		surfaceUnit = retrieval.SurfaceWeight / most
	}
	own := func(p *part, chunk uint32, ok bool) float64 {
		if !ok {
			return 0
		}
		i := m.index(p)
		return words[i][chunk]*(1/m.most) + exact[i][chunk]*surfaceUnit
	}
	for i := range m.parts {
		p := &m.parts[i]
		for chunk, sum := range words[i] {
			if sum > 0 && p.alive(uint32(chunk)) {
				neighbour := max(own(m.before(p, uint32(chunk))), own(m.after(p, uint32(chunk))))
				all = append(all, ranked{own(p, uint32(chunk), true) + retrieval.NeighbourWeight*neighbour, p, uint32(chunk)})
			}
		}
	}
	slices.SortFunc(all, ranked.compare)
	var hits []retrieval.LexicalHit
	for _, r := range all[:min(k, len(all))] {
		i, _ := m.at(r.part.ref(r.chunk))
		h := retrieval.LexicalHit{
			Ref: r.part.ref(r.chunk), ID: r.part.ids.at(int(r.chunk)), Collection: m.snaps[r.part.snap].name, Score: r.score,
			Words: words[i][r.chunk] * (1 / m.most), Surface: exact[i][r.chunk] * surfaceUnit,
			Before: retrieval.NoChunk, After: retrieval.NoChunk,
		}
		if q, before, ok := m.before(r.part, r.chunk); ok {
			h.Before = q.ref(before)
		}
		if q, after, ok := m.after(r.part, r.chunk); ok {
			h.After = q.ref(after)
		}
		hits = append(hits, h)
	}
	return hits
}

// sumsOf returns the value of every chunk of a part.
func sumsOf(m *match, part int) (words, exact []float64) {
	p := &m.parts[part]
	words, exact = make([]float64, p.chunks()), make([]float64, p.chunks())
	avg := average(m.live.tokens, m.live.chunks)
	addTitles := func(of func(*titleScore) float64) {
		for i := range p.titled {
			for _, chunk := range p.titles.under(p.titled[i].title) {
				words[chunk] += of(&p.titled[i])
			}
		}
	}
	for _, t := range m.stems {
		for q := range t.in[part].all() {
			words[q.doc] += t.idf * bm25L(q.tf, lengthNorm(p.length[q.doc], avg))
		}
	}
	addTitles(func(t *titleScore) float64 { return titleWeight * t.field })
	for _, t := range m.pairs {
		for q := range t.in[part].all() {
			words[q.doc] += pairWeight * t.idf * bm25(q.tf, p.length[q.doc], avg, fieldB)
		}
	}
	addTitles(func(t *titleScore) float64 {
		return titleMatchWeight*t.named + titleCoverWeight*m.cover(p, t)*m.most
	})
	for _, t := range m.surface {
		for q := range t.in[part].all() {
			exact[q.doc] += t.idf * bm25(q.tf, p.length[q.doc], avg, fieldB)
		}
	}
	for _, t := range m.singles {
		for q := range t.in[part].all() {
			words[q.doc] += singleWeight * t.idf * bm25(q.tf, p.singleLength[q.doc], average(m.live.singles, m.live.chunks), fieldB)
		}
	}
	return words, exact
}

// fatal is what testing.T and rapid.T have in common.
type fatal interface{ Fatalf(string, ...any) }

// compareExhaustive asks for the k best both ways.
func compareExhaustive(t fatal, x *Index, query string, k int, collections ...string) {
	m, err := x.Search(context.Background(), collections, query)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer m.Release()
	want := exhaustive(m.(*match), k)
	got := m.Top(k)
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		t.Fatalf("%q, %d best: %s", query, k, diff)
	}
	var refs []retrieval.ChunkRef
	for _, h := range want {
		refs = append(refs, h.Ref)
	}
	if diff := cmp.Diff(want, m.Hits(refs)); diff != "" && len(want) > 0 {
		t.Fatalf("%q, evaluated: %s", query, diff)
	}
	for _, h := range want {
		if own := m.Own(h.Ref); own != h.Words+h.Surface {
			t.Fatalf("%q: own score of %s is %v, not %v", query, h.ID, own, h.Words+h.Surface)
		}
	}
}

// Whatever was written and deleted, in however many collections.
func TestTopEqualsExhaustive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawIndex(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			document := fmt.Sprintf("doc%d", rapid.IntRange(0, 20).Draw(t, "document"))
			kb := rapid.SampledFrom([]string{"a", "b", "b"}).Draw(t, "collection")
			if err := x.Replace(context.Background(), kb, document, sequence(drawChunks(t, document)...)); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			query := drawText(t, "query") + rapid.SampledFrom([]string{"", " catz", " st", " 東"}).Draw(t, "tail")
			compareExhaustive(t, x, query, rapid.IntRange(1, 12).Draw(t, "k"), "a", "b")
		}
	})
}

// The same where lists are long enough to be pruned: 6,000 chunks, of which
// every third document is deleted again, beside a small collection.
func TestTopOfManyEqualsExhaustive(t *testing.T) {
	x := newIndex(t)
	p := newProse(3)
	for kb, n := range map[string]int{"large": 6000, "small": 90} {
		if err := x.Load(t.Context(), kb, chunksOf(p, n)); err != nil {
			t.Fatal(err)
		}
		for d := 0; d < n/10; d += 4 {
			replace(t, x, kb, fmt.Sprintf("doc_%d", d))
		}
		replace(t, x, kb, "doc_1", p.chunk(1, 0), p.chunk(1, 1))
	}
	for i := range 150 {
		query := make([]string, 1+i%7)
		for w := range query {
			query[w] = letters(p.word())
		}
		for _, k := range []int{1, 10, 200} {
			compareExhaustive(t, x, strings.Join(query, " "), k, "large", "small")
		}
	}
}
