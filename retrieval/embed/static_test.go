package embed

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/retrieval"
)

var _ retrieval.Embedder = (*Static)(nil)

func static(t testing.TB) *Static {
	t.Helper()
	s, err := NewStatic()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tokens returns the ids of a whole text.
func (s *Static) tokens(text string) []uint16 {
	var w word
	return s.tokenizer.end(s.tokenizer.encode(nil, &w, text), &w)
}

func TestPublishedVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var published []struct {
		Text string
		IDs  []uint16
		Vec  []float64
	}
	if err := json.Unmarshal(data, &published); err != nil {
		t.Fatal(err)
	}
	if len(published) != 20 {
		t.Fatalf("%d texts, want 20", len(published))
	}
	s := static(t)
	var texts []string
	for _, p := range published {
		texts = append(texts, p.Text)
	}
	vectors, err := s.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range published {
		if diff := cmp.Diff(p.IDs, append([]uint16{}, s.tokens(p.Text)...)); diff != "" {
			t.Errorf("%q: ids (-want +got):\n%s", p.Text, diff)
		}
		if len(p.IDs) == 0 {
			if vectors[i] != nil {
				t.Errorf("%q: has a vector, want nil", p.Text)
			}
			continue
		}
		if len(vectors[i]) != s.Dim() || len(p.Vec) != s.Dim() {
			t.Fatalf("%q: %d components, published %d, want %d", p.Text, len(vectors[i]), len(p.Vec), s.Dim())
		}
		for j, want := range p.Vec {
			if got := float64(vectors[i][j]); math.Abs(got-want) > 1e-6 {
				t.Errorf("%q: component %d is %v, want %v", p.Text, j, got, want)
			}
		}
	}
}

func TestStaticDescribesItself(t *testing.T) {
	s := static(t)
	if s.Dim() != 256 || s.Name() != "builtin/ste2" {
		t.Errorf("Dim %d, Name %q", s.Dim(), s.Name())
	}
	const want = "ste2-cebbf0f44f46d22a"
	if got := s.Fingerprint(); got != want {
		t.Errorf("fingerprint %s, want %s: stored vectors would have to be made anew", got, want)
	}
	other, err := newStatic(modelFile, vocabFile, strings.Replace(foldFile, "\tth\n", "\tt\n", 1))
	if err != nil {
		t.Fatal(err)
	}
	if other.Fingerprint() == want {
		t.Error("another fold, the same fingerprint")
	}
}

func TestTextWithoutTokens(t *testing.T) {
	s := static(t)
	for _, text := range []string{"", " \n\t", "—…!?", "中文文本", "текст", "\xff\xfe\x80", "×÷", "\u0301\u0302"} {
		v, err := s.EmbedQuery(t.Context(), text)
		if err != nil || v != nil {
			t.Errorf("%q: %d components, %v; want nil, nil", text, len(v), err)
		}
	}
}

func TestNormIsOne(t *testing.T) {
	s := static(t)
	rapid.Check(t, func(t *rapid.T) {
		v, err := s.EmbedQuery(context.Background(), rapid.String().Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		if v == nil {
			return
		}
		var sum float64
		for _, c := range v {
			sum += float64(c) * float64(c)
		}
		if math.Abs(math.Sqrt(sum)-1) > 1e-7 {
			t.Fatalf("norm %v", math.Sqrt(sum))
		}
	})
}

// The order of words and everything between them must not matter, and the
// scratch memory must not carry anything from one text to the next.
func TestEmbeddingDependsOnCountsAlone(t *testing.T) {
	s := static(t)
	want, err := s.EmbedQuery(t.Context(), "alpha beta alpha unrotatable")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"unrotatable", "Alpha, BETA; alpha — unrotatable!", strings.Repeat("noise ", 1000)} {
		got, err := s.EmbedQuery(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if same := cmp.Equal(got, want); same != strings.HasPrefix(text, "Alpha") {
			t.Errorf("%.20q: same vector: %v", text, same)
		}
	}
}

// A text longer than a window is embedded as if it were read at once: words
// and code points on the seam are not cut.
func TestWindowsJoin(t *testing.T) {
	s := static(t)
	for shift := range 8 {
		text := strings.Repeat("x", shift) + strings.Repeat("naïve αβ unrotatable e\u0301te\u0301 中 ", 6000)
		var got []uint16
		var w word
		for rest := text; rest != ""; {
			n := cut(rest)
			if n > window {
				t.Fatalf("window of %d bytes", n)
			}
			got = s.tokenizer.encode(got, &w, rest[:n])
			rest = rest[n:]
		}
		got = s.tokenizer.end(got, &w)
		if diff := cmp.Diff(s.tokens(text), got); diff != "" {
			t.Fatalf("shift %d: %s", shift, diff)
		}
	}
	if n := cut(strings.Repeat("\x80", window+1)); n != window {
		t.Errorf("no code point to cut at: %d", n)
	}
}

func TestEmbedHonoursContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := static(t).Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestEmbedConcurrently(t *testing.T) {
	s := static(t)
	texts := []string{"one two three", "four five", "", "six six six seven"}
	want, err := s.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				got, err := s.Embed(context.Background(), texts)
				if err != nil || !cmp.Equal(got, want) {
					t.Errorf("other vectors, %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestOneAllocationPerText(t *testing.T) {
	s := static(t)
	text := strings.Repeat("The unrotatable keys of Crigler-Najjar, naïvely. ", 40)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := s.EmbedQuery(context.Background(), text); err != nil {
			t.Fatal(err)
		}
	}); n > 1 && !raceEnabled {
		t.Errorf("%v allocations, want 1: the vector", n)
	}
}

func TestDamagedFiles(t *testing.T) {
	flip := func(s string, at int) string {
		b := []byte(s)
		b[at] ^= 1
		return string(b)
	}
	for name, files := range map[string][3]string{
		"empty model":          {"", vocabFile, foldFile},
		"short header":         {modelFile[:15], vocabFile, foldFile},
		"magic":                {flip(modelFile, 0), vocabFile, foldFile},
		"rows":                 {flip(modelFile, 4), vocabFile, foldFile},
		"dimensions":           {flip(modelFile, 8), vocabFile, foldFile},
		"group size":           {flip(modelFile, 12), vocabFile, foldFile},
		"model cut":            {modelFile[:len(modelFile)-1], vocabFile, foldFile},
		"model too long":       {modelFile + "x", vocabFile, foldFile},
		"empty vocabulary":     {modelFile, "", foldFile},
		"vocabulary cut":       {modelFile, vocabFile[:len(vocabFile)-1], foldFile},
		"other vocabulary":     {modelFile, vocabFile + "zzzzzzzzzzz\n", foldFile},
		"piece twice":          {modelFile, strings.Replace(vocabFile, "\nb\n", "\na\n", 1), foldFile},
		"empty piece":          {modelFile, "\n" + vocabFile, foldFile},
		"piece too long":       {modelFile, strings.Repeat("x", maxWord+1) + "\n" + vocabFile, foldFile},
		"fold without field":   {modelFile, vocabFile, "U+00C0\n"},
		"fold out of range":    {modelFile, vocabFile, "U+0041\tA\ta\n"},
		"fold to no lowercase": {modelFile, vocabFile, "U+00C0\tÀ\tA\n"},
	} {
		if _, err := newStatic(files[0], files[1], files[2]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
