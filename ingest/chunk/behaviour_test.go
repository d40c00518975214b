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

// cutText splits and writes each piece as "pages headings: text".
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
		out = append(out, fmt.Sprintf("%d-%d %s: %s", p.PageStart, p.PageEnd, strings.Join(p.Headings, " > "), text.Body[p.Span.Start:p.Span.End]))
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
		"0-0 Figures > Name 2022 2021: " + strings.Join(rows[10:], "\n"),
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
	for _, settings := range []store.Chunking{{Size: 31}, {Size: 4097}, {Size: -1}, {Size: 100, Overlap: 51}, {Overlap: -1}} {
		if err := Check(settings); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("check %+v: got %v, want %v", settings, err, store.ErrInvalid)
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
	f.Add("some text. And more.\n\nA paragraph", 40, 10, uint8(3))
	f.Fuzz(func(t *testing.T, body string, size, overlap int, kind uint8) {
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
		settings := store.Chunking{Size: size, Overlap: overlap}
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
