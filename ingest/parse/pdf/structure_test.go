package pdf

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ruled makes a page of lines 12 points apart; a line that is "" leaves room.
func ruled(number int, lines ...Line) Page {
	p := Page{Number: number, Width: 612, Height: 792}
	y := 60.0
	for _, l := range lines {
		y += 12
		if l.Text == "" {
			continue
		}
		if l.Y == 0 {
			l.Y = y
		}
		if l.Size == 0 {
			l.Size = 10
		}
		if l.X0 == 0 {
			l.X0 = 72
		}
		if l.X1 == 0 {
			l.X1 = l.X0 + 5*float64(len(l.Text))
		}
		l.Cells = max(1, l.Cells)
		p.Lines = append(p.Lines, l)
	}
	return p
}

func plain(text string) Line { return Line{Text: text, X1: 540} }

func TestParagraphsHeadingsListsTables(t *testing.T) {
	page := ruled(1,
		Line{Text: "PART I", Size: 10, Bold: true},
		Line{},
		Line{Text: "Large Heading", Size: 16},
		Line{},
		plain("This is the first line of a paragraph that goes on to a sec-"),
		plain("ond line and a well-"),
		Line{Text: "known third."},
		plain("Another paragraph begins here and fills its line right to the"),
		Line{Text: "end of it; the well-known word tells about second hyphens."},
		Line{},
		Line{Text: "•  an item that is so long that it does not fit on a single", Cells: 2, X1: 540},
		Line{Text: "line of text", X0: 84},
		Line{Text: "•  another", Cells: 2},
		Line{},
		Line{Text: "Year  2023  2022", Cells: 3, X1: 500},
		Line{Text: "Assets:"},
		Line{Text: "Cash  1  2", Cells: 3, X1: 500},
		Line{},
		plain("Text after the table."),
	)
	var got []string
	for _, b := range Structure([]Page{page}) {
		got = append(got, fmt.Sprintf("%d/%d %s", b.Kind, b.Level, b.Text))
	}
	want := []string{
		"1/2 PART I",
		"1/1 Large Heading",
		"0/0 This is the first line of a paragraph that goes on to a second line and a well-known third.",
		"0/0 Another paragraph begins here and fills its line right to the end of it; the well-known word tells about second hyphens.",
		"2/0 • an item that is so long that it does not fit on a single line of text\n• another",
		"3/0 Year  2023  2022\nAssets:\nCash  1  2",
		"0/0 Text after the table.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRunningHeadersAndPageNumbersGo(t *testing.T) {
	var pages []Page
	for n := 1; n <= 6; n++ {
		pages = append(pages, ruled(n,
			Line{Text: "Annual Report 2023"},
			Line{},
			plain(fmt.Sprintf("Text of page %d, in a sentence.", n)),
			plain("17"), // a figure alone, not at the end of the page
			plain("More text."),
			plain("Still more."),
			plain("And the last sentence."),
			Line{Text: fmt.Sprint(n + 4), Y: 500 + 20*float64(n)},
		))
	}
	for _, b := range Structure(pages) {
		want := fmt.Sprintf("Text of page %d, in a sentence.", b.Page)
		if b.Text == want || b.Text == "17" || b.Text == "More text." || b.Text == "Still more." || b.Text == "And the last sentence." {
			continue
		}
		if b.Text != want+" 17 More text. Still more. And the last sentence." {
			t.Errorf("page %d: %q", b.Page, b.Text)
		}
	}
}

func TestCodeKeepsLinesAndIndentation(t *testing.T) {
	page := ruled(1,
		plain("Running text above the code, long enough to be most of the page."),
		Line{Text: "func f() {", Mono: true},
		Line{Text: "return", X0: 96, Mono: true},
		Line{Text: "}", Mono: true},
		plain("Running text below the code, long enough to be most of the page."),
	)
	blocks := Structure([]Page{page})
	if len(blocks) != 3 || blocks[1].Kind != Code || blocks[1].Text != "func f() {\n    return\n}" {
		t.Errorf("got %+v", blocks)
	}
}
