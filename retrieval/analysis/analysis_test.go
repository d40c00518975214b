package analysis

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTerms(t *testing.T) {
	a := New()
	for text, want := range map[string]string{
		"":                                      "",
		"The cats' eyes":                        "cat eye",
		"Boeing's 1,577 aircraft":               "boe 1577 aircraft",
		"FY18 and FY2018, 2023Q2":               "2018 2018 2023 q2",
		"1,2,3 and 12,34":                       "1 2 3 12 34",
		"pi is 3.14, not 3.":                    "pi 3.14 3",
		"café Ångström naïve":                   "cafe angstrom naiv",
		"the U.S. and the U.K.":                 "us uk",
		"node.js example.com snake_case":        "node js exampl com snake case",
		"é_B'S_":                                "e b",
		"don't L'avion O’Neill’s":               "avion oneil",
		"full-width ＡＢＣ１２ and ﬁne":              "full width abc12 fine",
		"Привет, ёлка мой":                      "привет елк мо",
		"全文检索。好":                                "全文 文检 检索 好",
		"東京タワー2023年":                            "東京 京タ タワ ワー 2023 年",
		"한국어 검색":                                "한국 국어 검색",
		"مَدْرَسَة والكتاب":                     "مدرس كتاب",
		strings.Repeat("x", 100):                strings.Repeat("x", 64),
		"running runner ran easily connections": "run runner ran easili connect",
	} {
		if got := strings.Join(a.Terms(text), " "); got != want {
			t.Errorf("Terms(%q)\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestOffsets(t *testing.T) {
	text := "The Émile’s cat saw 2023Q2 in 東京都."
	got := New().Analyze(text)
	type view struct {
		Term, Word, Text string
		Position         int
		CJK              bool
	}
	var views []view
	for _, token := range got {
		views = append(views, view{token.Term, token.Word, text[token.Start:token.End], token.Position, token.CJK})
	}
	want := []view{
		{"emil", "emile", "Émile’s", 0, false},
		{"cat", "cat", "cat", 1, false},
		{"saw", "saw", "saw", 2, false},
		{"2023", "2023", "2023Q2", 3, false},
		{"q2", "q2", "2023Q2", 4, false},
		{"東京", "東京", "東京", 5, true},
		{"京都", "京都", "京都", 6, true},
	}
	if diff := cmp.Diff(want, views); diff != "" {
		t.Error(diff)
	}
}

// A word gives the same terms whether its neighbours are ASCII or not: the
// fast path must not differ from the one by Unicode's rules.
func TestPathsAgree(t *testing.T) {
	a := New()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.StringMatching(`[a-zA-Z0-9'.,_-]{1,12}`).Draw(t, "piece")
		ascii := a.Terms(piece)
		mixed := a.Terms(piece + "\u00a0") // not ASCII, and no word
		if diff := cmp.Diff(ascii, mixed); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAnalyzeProperties(t *testing.T) {
	a := New()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		end := 0
		for i, token := range a.Analyze(text) {
			if token.Position != i || token.Term == "" || token.Start >= token.End || token.End > len(text) {
				t.Fatalf("token %d: %+v", i, token)
			}
			if token.End < end {
				t.Fatalf("token %d goes backwards: %+v", i, token)
			}
			end = token.End
		}
	})
}

func TestSingles(t *testing.T) {
	got := AppendSingles(nil, "a 東京 is 大")
	if diff := cmp.Diff([]string{"東", "京", "大"}, got); diff != "" {
		t.Error(diff)
	}
	if HasCJK("naïve ёлка") || !HasCJK("a東") {
		t.Error("HasCJK")
	}
}

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"":                 nil,
		" \n":              nil,
		"One. Two! Three?": {"One.", "Two!", "Three?"},
		"Dr. Smith of the U.S. Navy paid $3.14 to J. Doe. He left.": {"Dr. Smith of the U.S. Navy paid $3.14 to J. Doe.", "He left."},
		"He said “No.” Then he left.":                               {"He said “No.”", "Then he left."},
		"See p. 3 (e.g. this). Next":                                {"See p. 3 (e.g. this).", "Next"},
		"It rose approx. ten percent.":                              {"It rose approx. ten percent."},
		"今天很好。明天呢？「好！」他说。":                                          {"今天很好。", "明天呢？", "「好！」", "他说。"},
		"A heading\n\nThe text goes\non here. Done":                 {"A heading", "The text goes\non here.", "Done"},
		"Items:\n- one\n- two\n3. three":                            {"Items:", "- one", "- two", "3. three"},
		"all lower case . no capitals . here":                       {"all lower case .", "no capitals .", "here"},
		"Wait... what? Yes.":                                        {"Wait... what?", "Yes."},
		"Visit example.com. Now.":                                   {"Visit example.com.", "Now."},
	} {
		var got []string
		for _, span := range Sentences(text) {
			got = append(got, text[span.Start:span.End])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestSentencesCoverTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("aB.!? \n。'\"-3…é"))).Draw(t, "text")
		end := 0
		for _, span := range Sentences(text) {
			if span.Start < end || span.End <= span.Start {
				t.Fatalf("%q: %v", text, span)
			}
			if gap := text[end:span.Start]; strings.TrimSpace(gap) != "" {
				t.Fatalf("%q: lost %q", text, gap)
			}
			end = span.End
		}
		if strings.TrimSpace(text[end:]) != "" {
			t.Fatalf("%q: lost %q", text, text[end:])
		}
	})
}

func BenchmarkAnalyze(b *testing.B) {
	a := New()
	text := strings.Repeat("The boundary layer of a flat plate in supersonic flow was measured in 1957 at several Mach numbers. ", 8)
	var tokens []Token
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		tokens = a.Append(tokens[:0], text)
	}
}
