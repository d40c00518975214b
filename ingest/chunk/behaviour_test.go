package chunk

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/parse"
	"ragagent/store"
)

// cutText splits and writes each piece as "pages headings (context): text".
func cutText(t *testing.T, text parse.Text, settings store.Chunking) []string {
	t.Helper()
	pieces, err := Split(text, settings)
	if err != nil {
		t.Fatal(err)
	}
	if why := broken(text, settings, pieces); why != "" {
		t.Error(why)
	}
	var out []string
	for _, p := range pieces {
		context := ""
		if p.Context != "" {
			context = " (" + p.Context + ")"
		}
		out = append(out, fmt.Sprintf("%d-%d %s%s: %s", p.PageStart, p.PageEnd, strings.Join(p.Headings, " > "), context, text.Body[p.Span.Start:p.Span.End]))
	}
	return out
}

// sentence has ten tokens.
const sentence = "One two three four five six seven eight nine."

func nine(n int) string { return strings.TrimSpace(strings.Repeat(sentence+" ", n)) }

func heading(level int) parse.Block { return parse.Block{Kind: parse.Heading, Level: level} }

var paragraph = parse.Block{Kind: parse.Paragraph}

func onPage(page int) parse.Block { return parse.Block{Kind: parse.Paragraph, Page: page} }

func TestSentenceHasTenTokens(t *testing.T) {
	if n := Tokens(sentence); n != 10 {
		t.Fatalf("%d tokens; the tests below count on ten", n)
	}
}

func TestAShortTextIsOnePiece(t *testing.T) {
	text := build(heading(1), paragraph, heading(2), paragraph)("Title", "Some words.", "Part", "More words.")
	want := []string{"0-0 Title: Title\n\nSome words.\n\nPart\n\nMore words."}
	if diff := cmp.Diff(want, cutText(t, text, store.Chunking{Size: 100})); diff != "" {
		t.Error(diff)
	}
}

func TestSectionsOfSubstanceStandAlone(t *testing.T) {
	text := build(heading(1), heading(2), paragraph, heading(2), paragraph, heading(2), paragraph)(
		"Title", "A", nine(4), "B", nine(4), "C", "Short.")
	want := []string{
		"0-0 Title > A: Title\n\nA\n\n" + nine(4),
		"0-0 Title: B\n\n" + nine(4) + "\n\nC\n\nShort.",
	}
	if diff := cmp.Diff(want, cutText(t, text, store.Chunking{Size: 100})); diff != "" {
		t.Error(diff)
	}
}

func TestLongSectionsAreCutInEqualParts(t *testing.T) {
	text := build(heading(1), paragraph, paragraph, paragraph, paragraph)("A", nine(4), nine(4), nine(4), nine(4))
	want := []string{
		"0-0 A: A\n\n" + nine(4) + "\n\n" + nine(4),
		"0-0 A: " + nine(4) + "\n\n" + nine(4),
	}
	if diff := cmp.Diff(want, cutText(t, text, store.Chunking{Size: 120})); diff != "" {
		t.Error(diff)
	}
}

func TestOverlapOnlyWhereAParagraphIsCut(t *testing.T) {
	text := build(paragraph, paragraph)(nine(8), nine(8))
	settings := store.Chunking{Size: 40, Overlap: 10}
	want := []string{
		"0-0 : " + nine(4), "0-0 : " + nine(4+1), // the fifth is repeated
		"0-0 : " + nine(4), "0-0 : " + nine(4+1),
	}
	if diff := cmp.Diff(want, cutText(t, text, settings)); diff != "" {
		t.Error(diff)
	}
}

func TestPagesAreNotCrossedButByASentence(t *testing.T) {
	text := build(onPage(1), onPage(1), onPage(2), onPage(2), onPage(3))(
		"First page.", "It ends in the middle of", "a sentence. And page two goes on.", "Its end.", "Third page.")
	want := []string{
		"1-2 : First page.\n\nIt ends in the middle of\n\na sentence.",
		"2-2 : And page two goes on.\n\nIts end.",
		"3-3 : Third page.",
	}
	if diff := cmp.Diff(want, cutText(t, text, store.Chunking{})); diff != "" {
		t.Error(diff)
	}
}

func TestLongTablesAreCutAtRowsAndKeepTheirHeader(t *testing.T) {
	rows := []string{"Name  2022  2021"}
	for i := range 20 {
		rows = append(rows, fmt.Sprintf("Row number %02d  1  2", i))
	}
	text := build(heading(1), parse.Block{Kind: parse.Table})("Figures", strings.Join(rows, "\n"))
	got := cutText(t, text, store.Chunking{Size: 64})
	want := []string{
		"0-0 Figures: Figures\n\n" + strings.Join(rows[:10], "\n"),
		"0-0 Figures (Name 2022 2021): " + strings.Join(rows[10:], "\n"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAbbreviationsDoNotEndSentences(t *testing.T) {
	text := "Dr. Smith of Acme Inc. met J. Doe on page No. 5. They left. 1. First item. 这是一句。这是另一句。"
	var got []string
	eachSentence(text, store.Span{Start: 0, End: len(text)}, func(s store.Span) {
		got = append(got, strings.TrimSpace(text[s.Start:s.End]))
	})
	want := []string{"Dr. Smith of Acme Inc. met J. Doe on page No. 5.", "They left.", "1. First item.", "这是一句。", "这是另一句。"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsOutOfBounds(t *testing.T) {
	for want, settings := range map[string]store.Chunking{
		"chunking.size: is 31, allowed are 32 to 4096 tokens, or 0 for the default":   {Size: 31},
		"chunking.size: is 4097, allowed are 32 to 4096 tokens, or 0 for the default": {Size: 4097},
		"chunking.size: is -1, allowed are 32 to 4096 tokens, or 0 for the default":   {Size: -1},
		"chunking.overlap: is 51, allowed are 0 to 50, half of chunking.size":         {Size: 100, Overlap: 51},
		"chunking.overlap: is -1, allowed are 0 to 160, half of chunking.size":        {Overlap: -1},
		"chunking.overlap: is 65, allowed are 0 to 64, half of chunking.size":         {Overlap: 65, Parent: store.ParentChunking{Size: 512}},
		`chunking.strategy: is "semantic", allowed are structure, sentence and fixed`: {Strategy: "semantic"},
		"chunking.parent.size: is 100, allowed are 101 (more than chunking.size) to 8192 tokens, or 0 for no sections": {
			Size: 100, Parent: store.ParentChunking{Size: 100},
		},
		"chunking.parent.size: is 8193, allowed are 129 (more than chunking.size) to 8192 tokens, or 0 for no sections": {
			Parent: store.ParentChunking{Size: 8193},
		},
	} {
		if err := Check(settings); !errors.Is(err, store.ErrInvalid) || err.Error() != want {
			t.Errorf("check %+v: got %v, want %s", settings, err, want)
		}
		if _, err := Split(parse.Text{}, settings); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: got %v, want %v", settings, err, store.ErrInvalid)
		}
	}
	if pieces, err := Split(parse.Text{}, store.Chunking{}); len(pieces) != 0 || err != nil {
		t.Errorf("an empty text: %v, %v", pieces, err)
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "word": 1, "two words": 2, "antidisestablishmentarianism": 4, "1,234": 3, "2024": 2,
		"人工智能": 3, "привет": 2, "...": 1, "a\n\nb": 3, "Größe": 1,
	} {
		if got := Tokens(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("some text. And more.\n\nA paragraph", 40, 10, 0, uint8(3))
	f.Add("some text. And more.\n\nA paragraph", 40, 10, 90, uint8(1))
	f.Fuzz(func(t *testing.T, body string, size, overlap, parent int, kind uint8) {
		if !strings.Contains(body, "x") && len(body) > 1<<16 {
			return
		}
		kinds := []parse.Kind{parse.Paragraph, parse.Heading, parse.List, parse.Table, parse.Code, parse.Quote}
		var blocks []parse.Block
		var texts []string
		for part := range strings.SplitSeq(strings.ToValidUTF8(body, "?"), "\n\n") {
			b := parse.Block{Kind: kinds[int(kind)%len(kinds)]}
			if b.Kind == parse.Heading {
				b.Level = 1
			}
			kind++
			blocks, texts = append(blocks, b), append(texts, part)
		}
		text := build(blocks...)(texts...)
		strategies := []store.ChunkingStrategy{"", store.ChunkingStructure, store.ChunkingSentence, store.ChunkingFixed}
		settings := store.Chunking{
			Strategy: strategies[int(kind)%len(strategies)], Size: size, Overlap: overlap, Parent: store.ParentChunking{Size: parent},
		}
		pieces, err := Split(text, settings)
		if err != nil {
			if !errors.Is(err, store.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		if why := broken(text, settings, pieces); why != "" {
			t.Fatal(why)
		}
	})
}

func TestAFurtherPieceOfATableHasItsCaptionAndHeader(t *testing.T) {
	rows := []string{"Fiscal year ended | August 31", "| 2022 | 2021", "Sales | 5 | 4"}
	for i := range 20 {
		rows = append(rows, fmt.Sprintf("Row number %02d | 1 | 2", i))
	}
	text := build(heading(1), paragraph, paragraph, paragraph, parse.Block{Kind: parse.Table})(
		"Results", nine(5), "Statements of Income", "(in millions)", strings.Join(rows, "\n"))
	got := cutText(t, text, store.Chunking{Size: 96})
	context := "0-0 Results (Statements of Income (in millions)\n" + rows[0] + "\n" + rows[1] + "): "
	want := []string{
		"0-0 Results: Results\n\n" + nine(5) + "\n\nStatements of Income\n\n(in millions)\n\n" + strings.Join(rows[:3], "\n"),
		context + strings.Join(rows[3:13], "\n"),
		context + strings.Join(rows[13:], "\n"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestATableThatGoesOnOverThePageKeepsItsHeader(t *testing.T) {
	table := func(page int) parse.Block { return parse.Block{Kind: parse.Table, Page: page} }
	text := build(onPage(1), table(1), table(2), table(3), table(4))("(in millions)", "Year  2022  2021\nSales  5  4", "Costs  3  2\nProfit  2  2",
		"2020  2019  2018\n3  4  5", "Name  Place\nA  B")
	want := []string{
		"1-1 : (in millions)\n\nYear  2022  2021\nSales  5  4",
		"2-2  ((in millions)\nYear 2022 2021): Costs  3  2\nProfit  2  2",
		"3-3 : 2020  2019  2018\n3  4  5",
		"4-4 : Name  Place\nA  B",
	}
	if diff := cmp.Diff(want, cutText(t, text, store.Chunking{})); diff != "" {
		t.Error(diff)
	}
}

func TestRecordsNeedNoHeader(t *testing.T) {
	var rows []string
	for i := range 20 {
		rows = append(rows, fmt.Sprintf("Name: number %02d | Size: %d", i, i))
	}
	text := build(parse.Block{Kind: parse.Table})(strings.Join(rows, "\n"))
	for _, line := range cutText(t, text, store.Chunking{Size: 64})[1:] {
		if !strings.HasPrefix(line, "0-0 : Name: number") {
			t.Errorf("got %q, want no context", line)
		}
	}
}

func TestTheSentenceStrategyFillsPiecesWithSentences(t *testing.T) {
	text := build(heading(1), paragraph, paragraph, heading(1), paragraph)("A", nine(5), nine(1), "B", nine(3))
	got := cutText(t, text, store.Chunking{Strategy: store.ChunkingSentence, Size: 40, Overlap: 10})
	want := []string{
		"0-0 A: A\n\n" + nine(3),
		"0-0 A: " + nine(3) + "\n\n" + nine(1),
		"0-0 : " + nine(1) + "\n\nB\n\n" + nine(2),
		"0-0 B: " + nine(2),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheFixedStrategyFillsPiecesWithWords(t *testing.T) {
	text := build(paragraph)(nine(8))
	got := cutText(t, text, store.Chunking{Strategy: store.ChunkingFixed, Size: 36, Overlap: 4})
	words := strings.Fields(nine(8))
	join := func(from, to int) string { return "0-0 : " + strings.Join(words[from:to], " ") }
	// The full stop is a token of its own, so nine words are ten tokens.
	want := []string{join(0, 33), join(29, 62), join(58, 72)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSmallPiecesKnowTheirSection(t *testing.T) {
	text := build(heading(1), paragraph, paragraph, heading(1), paragraph)("A", nine(4), nine(4), "B", nine(4))
	pieces, err := Split(text, store.Chunking{Size: 48, Parent: store.ParentChunking{Size: 100}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pieces {
		got = append(got, strings.Join(p.Headings, " > ")+": "+text.Body[p.Span.Start:p.Span.End]+" <- "+text.Body[p.Parent.Start:p.Parent.End])
	}
	section := "A\n\n" + nine(4) + "\n\n" + nine(4)
	want := []string{
		"A: A\n\n" + nine(4) + " <- " + section,
		"A: " + nine(4) + " <- " + section,
		"B: B\n\n" + nine(4) + " <- ", // is its section
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSectionsGoAcrossPagesAndPiecesDoNot(t *testing.T) {
	text := build(onPage(1), onPage(2), onPage(3))(nine(4), nine(4), nine(4))
	pieces, err := Split(text, store.Chunking{Size: 48, Parent: store.ParentChunking{Size: 200}})
	if err != nil {
		t.Fatal(err)
	}
	all := store.Section{Span: store.Span{Start: 0, End: len(text.Body)}, PageStart: 1, PageEnd: 3}
	for i, p := range pieces {
		if p.PageStart != i+1 || p.PageEnd != i+1 || p.Parent != all {
			t.Errorf("piece %d is on pages %d to %d of %v", i, p.PageStart, p.PageEnd, p.Parent)
		}
	}
}

func TestCaptionAndHeaderStayWithTheFirstRow(t *testing.T) {
	text := build(paragraph, paragraph, parse.Block{Kind: parse.Table})(
		nine(9), "Statements of Income", "Year | 2022 | 2021\nSales | 5 | 4\nCosts | 3 | 2\n"+strings.Repeat("Other | 1 | 1\n", 10)+"Profit | 2 | 2")
	got := cutText(t, text, store.Chunking{Size: 96})
	want := "0-0 : Statements of Income\n\nYear | 2022 | 2021\nSales | 5 | 4\nCosts"
	if len(got) != 2 || !strings.HasPrefix(got[1], want) {
		t.Errorf("got %q, want %q and on", got, want)
	}
}

func TestHeadingsAtTheEndOfAPageAreNotLost(t *testing.T) {
	text := build(onPage(1), parse.Block{Kind: parse.Heading, Level: 1, Page: 1}, onPage(2))(nine(20), "Next", nine(1))
	cutText(t, text, store.Chunking{Size: 64})
}
