package cite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/agent/cite"
)

func upTo(n int) func(int) bool { return func(id int) bool { return id >= 1 && id <= n } }

func filter(text string, known int) string {
	f := cite.Filter{Known: upTo(known)}
	return f.Write(text) + f.Flush()
}

func TestFilter(t *testing.T) {
	for in, want := range map[string]string{
		"Twelve [1].":                      "Twelve [1].",
		"Twelve [9].":                      "Twelve.",
		"Twelve[9] metres":                 "Twelve metres",
		"Twelve [1, 9, 2].":                "Twelve [1][2].",
		"Twelve [1-3].":                    "Twelve [1][2][3].",
		"Twelve [Source 2].":               "Twelve [2].",
		"Twelve [sources: 1; 2].":          "Twelve [1][2].",
		"十二米【1】。":                          "十二米[1]。",
		"十二米【9】。":                          "十二米。",
		"[see below] and [note]":           "[see below] and [note]",
		"[[1]]":                            "[[1]]",
		"a [link](http://x) [3](http://y)": "a [link](http://x) [3](http://y)",
		"open [1":                          "open [1",
		"open [9":                          "open [9",
		"`a[0]` is first [0]":              "`a[0]` is first",
		"```\nx[7] = 1\n```\nso [7]":       "```\nx[7] = 1\n```\nso",
		"a ` tick\nand [9]":                "a ` tick\nand",
		"\n\n  Hello [1]  \n":              "Hello [1]",
		"list\n[9] item":                   "list\n item",
		"[9] first":                        "first",
		"[1234567]":                        "[1234567]", // too long for an id
		"year [2022]":                      "year",
		"[]":                               "[]",
		"[ 1 ]":                            "[1]",
		"":                                 "",
	} {
		if got := filter(in, 3); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

// The outcome does not depend on the cuts, and no unknown id gets through.
func TestFilterIsIndependentOfCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"[", "]", "1", "2", "9", " ", ",", "-", "Source", "cit", "word", "。", "【", "】", "`", "```", "\n", ".", "é", "[1]", "[9]", " [2, 9]",
		}), 0, 30).Draw(t, "parts")
		text := strings.Join(parts, "")
		want := filter(text, 2)
		f := cite.Filter{Known: upTo(2)}
		got := ""
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(4, len(rest))).Draw(t, "cut") // cuts runes, too
			got += f.Write(rest[:n])
			rest = rest[n:]
		}
		got += f.Flush()
		if got != want {
			t.Fatalf("%q: cut %q, whole %q", text, got, want)
		}
		if again := filter(want, 2); again != want {
			t.Fatalf("%q: filtered again %q, once %q", text, again, want)
		}
	})
}

func TestStatements(t *testing.T) {
	got := cite.Statements("Rain fell [1]. Snow fell. [2][1] No source here. Last [3]", upTo(3))
	want := []cite.Statement{
		{Text: "Rain fell.", IDs: []int{1}}, {Text: "Snow fell.", IDs: []int{2, 1}},
		{Text: "No source here."}, {Text: "Last", IDs: []int{3}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnits(t *testing.T) {
	text := "Costs rose. They are:\nResearch and development 2,852 2,249 2,476\nSelling expense 4,187 4,157\nEmployees  156,000\nAll figures of 2021 and 2022\nare in millions.\nroom | what it holds\nstore | the nouns\n| a | b |\n| 1 | 2 |"
	var got []string
	for _, u := range cite.Units(text) {
		got = append(got, text[u.Start:u.End])
	}
	want := []string{
		"Costs rose.", "They are:", "Research and development 2,852 2,249 2,476", "Selling expense 4,187 4,157",
		"Employees  156,000", "All figures of 2021 and 2022\nare in millions.", "room | what it holds", "store | the nouns", "| a | b |", "| 1 | 2 |",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestQuote(t *testing.T) {
	passage := "Tides differ. The tidal range at Saint-Malo\nreaches 12 metres. It is among the largest. The dam opened in 1966."
	q := cite.NewQuoter()
	for name, tt := range map[string]struct {
		statements []string
		want       string
	}{
		"paraphrase":   {[]string{"At Saint-Malo the range is up to 12 metres."}, "The tidal range at Saint-Malo\nreaches 12 metres."},
		"literal":      {[]string{`It says "among the largest" there.`}, "among the largest"},
		"over a line":  {[]string{`They write “Saint-Malo reaches 12 metres”.`}, "Saint-Malo\nreaches 12 metres"},
		"invented":     {[]string{`They write "a tide of forty metres" of 1966.`}, "The dam opened in 1966."},
		"two":          {[]string{"Saint-Malo's range of 12 metres is among the largest."}, "The tidal range at Saint-Malo\nreaches 12 metres. It is among the largest."},
		"best of all":  {[]string{"Nothing in common.", "A dam was opened in 1966."}, "The dam opened in 1966."},
		"all of them":  {[]string{"A dam was opened in 1966.", "It is among the largest."}, "It is among the largest. The dam opened in 1966."},
		"word by word": {[]string{"The tidal range at Saint-Malo reaches 12 metres. It is"}, "The tidal range at Saint-Malo\nreaches 12 metres. It is"},
		"nothing":      {nil, "Tides differ."},
	} {
		got := q.Find(passage, tt.statements)
		if quote := passage[got.Start:got.End]; quote != tt.want {
			t.Errorf("%s: %q, want %q", name, quote, tt.want)
		}
	}
}
