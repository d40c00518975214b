package lsa

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ragagent/retrieval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// list is a part that was written down.
type list struct {
	ids   []string
	texts [][]string
	dead  map[int]bool
}

func (l *list) Key() any             { return l }
func (l *list) Chunks() int          { return len(l.ids) }
func (l *list) Living() int          { return len(l.ids) - len(l.dead) }
func (l *list) ID(chunk int) string  { return l.ids[chunk] }
func (l *list) Alive(chunk int) bool { return !l.dead[chunk] }
func (l *list) Find(id string) int   { return slices.Index(l.ids, id) }

func (l *list) Terms() iter.Seq2[string, []retrieval.Occurrence] {
	counts := make(map[string]map[int]uint32)
	for chunk, words := range l.texts {
		for _, w := range words {
			if counts[w] == nil {
				counts[w] = make(map[int]uint32)
			}
			if l.Alive(chunk) {
				counts[w][chunk]++
			}
		}
	}
	return func(yield func(string, []retrieval.Occurrence) bool) {
		for term, chunks := range counts {
			var out []retrieval.Occurrence
			for chunk, n := range chunks {
				out = append(out, retrieval.Occurrence{Chunk: uint32(chunk), Count: n})
			}
			slices.SortFunc(out, func(a, b retrieval.Occurrence) int { return int(a.Chunk) - int(b.Chunk) })
			if len(out) > 0 && !yield(term, out) {
				return
			}
		}
	}
}

// shelf are the words of some collections.
type shelf struct {
	mu    sync.Mutex
	parts map[string][]*list
}

func (s *shelf) Collections() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.parts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *shelf) Parts(name string) (parts []retrieval.LexicalPart) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts[name] {
		parts = append(parts, p)
	}
	return parts
}

func (s *shelf) put(name string, parts ...*list) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[name] = parts
}

// subjects writes n chunks about one of 100 subjects each: five of the ten words
// that its subject has, and five that any may have.
func subjects(from, n int, seed uint64) *list {
	r := rand.New(rand.NewPCG(seed, 1))
	l := new(list)
	for i := range n {
		var words []string
		subject := (from + i) % 100
		for range 5 {
			words = append(words, fmt.Sprintf("s%dw%d", subject, r.IntN(10)), fmt.Sprintf("any%d", r.IntN(200)))
		}
		l.ids = append(l.ids, fmt.Sprintf("c%05d", from+i))
		l.texts = append(l.texts, words)
	}
	return l
}

func settled(t *testing.T, s *shelf) *Index {
	t.Helper()
	x, err := New(Config{Words: s})
	check(t, err)
	check(t, x.Settle(t.Context()))
	return x
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func terms(words ...string) (out []retrieval.TermWeight) {
	for _, w := range words {
		out = append(out, retrieval.TermWeight{Term: w})
	}
	return out
}

func locations(parts ...*list) (at []retrieval.Location) {
	for _, p := range parts {
		for i, id := range p.ids {
			at = append(at, retrieval.Location{Collection: "kb", ID: id, Part: p, Chunk: i})
		}
	}
	return at
}

// Chunks of a subject are found by a word of the subject that they do not have.
func TestFindsWhatHasOtherWordsOfTheSubject(t *testing.T) {
	l := subjects(0, 2000, 7)
	s := &shelf{parts: map[string][]*list{"kb": {l}}}
	cosines := settled(t, s).Cosines(terms("s42w1"), locations(l))
	if len(cosines) != 2000 {
		t.Fatalf("%d cosines", len(cosines))
	}
	order := make([]int, 2000)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, cosines[b]-cosines[a])) })
	about, without := 0, 0
	for _, chunk := range order[:20] { // as many as are about it
		if chunk%100 == 42 {
			about++
			if !slices.Contains(l.texts[chunk], "s42w1") {
				without++
			}
		}
	}
	if about < 18 || without == 0 {
		t.Errorf("of the best 20 %d are about it, %d of them without the word", about, without)
	}
}

func TestNothingIsKnown(t *testing.T) {
	l, small := subjects(0, 2000, 7), subjects(0, 100, 7)
	s := &shelf{parts: map[string][]*list{"kb": {l}, "small": {small}}}
	x := settled(t, s)
	at := locations(l)
	for name, got := range map[string][]float64{
		"unknown words": x.Cosines(terms("never"), at),
		"characters":    x.Cosines(terms("s42w1", "彗星"), at),
		"no words":      x.Cosines(nil, at),
		"small":         x.Cosines(terms("s42w1"), []retrieval.Location{{Collection: "small", ID: "c00042", Part: small, Chunk: 42}}),
	} {
		if got != nil {
			t.Errorf("%s: %v", name, got[:min(3, len(got))])
		}
	}
	s.put("kb")
	check(t, x.Settle(t.Context()))
	if x.Bytes() != 0 || x.Cosines(terms("s42w1"), at) != nil {
		t.Errorf("%d bytes of nothing", x.Bytes())
	}
}

// New chunks are folded in, old ones keep their codes through a merge, and one
// that is not folded in yet counts as the mean.
func TestFoldingIn(t *testing.T) {
	first, second := subjects(0, 2000, 7), subjects(2000, 500, 8)
	s := &shelf{parts: map[string][]*list{"kb": {first}}}
	x := settled(t, s)
	model := x.known("kb").model
	query := terms("s42w1", "s42w2")
	before := x.Cosines(query, append(locations(first)[:3], locations(second)[42]))
	if mean := (before[0] + before[1] + before[2]) / 3; math.Abs(before[3]-mean) > 1e-12 {
		t.Errorf("not folded in: %v, mean %v", before[3], mean)
	}
	s.put("kb", first, second)
	check(t, x.follow(t.Context(), grown))
	if x.known("kb").model != model {
		t.Error("a quarter more chunks made a new model")
	}
	folded := x.Cosines(query, locations(first, second))
	if folded[2042] < .5 { // chunk 42 of second
		t.Errorf("a chunk about it has %v", folded[2042])
	}
	merged := &list{ids: slices.Concat(first.ids, second.ids), texts: slices.Concat(first.texts, second.texts)}
	s.put("kb", merged)
	unfolded := x.Cosines(query, locations(merged)) // found by id
	check(t, x.follow(t.Context(), grown))
	if !slices.Equal(folded, unfolded) || !slices.Equal(folded, x.Cosines(query, locations(merged))) {
		t.Error("a merge changed cosines")
	}
	s.put("kb", merged, subjects(2500, 1000, 9))
	check(t, x.follow(t.Context(), grown))
	if x.known("kb").model == model {
		t.Error("three quarters more chunks made no new model")
	}
}

// However chunks are spread over parts, the model is the same within rounding.
func TestPartsDoNotMatter(t *testing.T) {
	for seed, cut := range map[uint64]int{11: 1, 12: 300, 13: 599} {
		whole := subjects(0, 600, seed)
		front := &list{ids: whole.ids[:cut], texts: whole.texts[:cut]}
		back := &list{ids: whole.ids[cut:], texts: whole.texts[cut:]}
		query := terms("s42w1", "any7")
		one := settled(t, &shelf{parts: map[string][]*list{"kb": {whole}}}).Cosines(query, locations(whole))
		two := settled(t, &shelf{parts: map[string][]*list{"kb": {back, front}}}).Cosines(query, locations(front, back))
		for i := range one {
			if math.Abs(one[i]-two[i]) > .02 { // two steps of a code
				t.Fatalf("chunk %d: %v in one part, %v in two", i, one[i], two[i])
			}
			if one[i] < 0 || one[i] > 1 {
				t.Fatalf("chunk %d: %v", i, one[i])
			}
		}
	}
}

func TestOrthonormal(t *testing.T) {
	m := newMatrix(500)
	r := rand.New(rand.NewPCG(3, 3))
	for i := range m.values {
		m.values[i] = float32(r.NormFloat64())
	}
	m.orthonormalise()
	g := m.gram()
	for i := range Dim {
		for j := range i + 1 {
			want := 0.
			if i == j {
				want = 1
			}
			if math.Abs(g[i][j]-want) > 1e-5 {
				t.Fatalf("columns %d and %d: %v", i, j, g[i][j])
			}
		}
	}
}

// It follows by itself, while questions are asked and parts change, and ends.
func TestFollows(t *testing.T) {
	l := subjects(0, 600, 7)
	s := &shelf{parts: map[string][]*list{}}
	called := make(chan struct{})
	x, err := New(Config{Words: s, Every: time.Millisecond, Worker: func() { close(called) }})
	check(t, err)
	x.Start()
	<-called
	s.put("kb", l)
	for deadline := time.Now().Add(30 * time.Second); x.Cosines(terms("s42w1"), locations(l)) == nil; {
		if time.Now().After(deadline) {
			t.Fatal("nothing is known")
		}
		time.Sleep(time.Millisecond)
	}
	s.put("kb", l, subjects(600, 600, 8))
	check(t, x.Close())
	check(t, x.Close())
}

func TestCancelled(t *testing.T) {
	x, err := New(Config{Words: &shelf{parts: map[string][]*list{"kb": {subjects(0, 600, 7)}}}})
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if x.Settle(ctx) == nil {
		t.Error("settled in no time")
	}
	check(t, x.Close())
	if _, err := New(Config{}); err == nil {
		t.Error("an index of nothing")
	}
}

// BenchmarkCosines compares 300 chunks of eight parts with a question.
func BenchmarkCosines(b *testing.B) {
	var parts []*list
	for i := range 8 {
		parts = append(parts, subjects(i*500, 500, uint64(i)))
	}
	x, err := New(Config{Words: &shelf{parts: map[string][]*list{"kb": parts}}})
	if err == nil {
		err = x.Settle(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	var at []retrieval.Location
	for i, l := range locations(parts...) {
		if i%13 == 0 && len(at) < 300 {
			at = append(at, l)
		}
	}
	query := terms("s42w1", "s42w2", "any3", "any4", "any5", "any6", "any7", "any8")
	for b.Loop() {
		if len(x.Cosines(query, at)) != len(at) {
			b.Fatal("nothing is known")
		}
	}
	b.ReportMetric(float64(x.Bytes())/4000, "B/chunk")
}
