package tabular

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadCSV(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"commas", "name,born\nAda,1815\nAlan,1912\n", []string{"table: name: Ada | born: 1815\nname: Alan | born: 1912"}},
		{"semicolons and decimal commas", "\ufeffArtikel;Preis\r\nBrot;2,50\r\nMilch;1,19\r\n", []string{"table: Artikel: Brot | Preis: 2,50\nArtikel: Milch | Preis: 1,19"}},
		{"tabs", "a\tb\n1\t2\n", []string{"table: a: 1 | b: 2"}},
		{"bars", "city|people\nUlm|126000\n", []string{"table: city: Ulm | people: 126000"}},
		{"the separator is declared", "sep=;\na,x;b\n1,5;2\n", []string{"table: a,x: 1,5 | b: 2"}},
		{"no header", "1,2.5\n3,4.5\n", []string{"table: 1 | 2.5\n3 | 4.5"}},
		{"no header of words", "Ada,1815,UK\nAlan,1912,UK\n", []string{"table: Ada | 1815 | UK\nAlan | 1912 | UK"}},
		{"years as columns", "country,2019,2020\nFrance,1.5,1.6\nItaly,2.5,2.6\n", []string{"table: country: France | 2019: 1.5 | 2020: 1.6\ncountry: Italy | 2019: 2.5 | 2020: 2.6"}},
		{"all words", "first,last\nAda,Lovelace\nAlan,Turing\n", []string{"table: first: Ada | last: Lovelace\nfirst: Alan | last: Turing"}},
		{"quotes", "a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",3\n", []string{"table: a: x, y | b: say \"hi\"\na: two lines | b: 3"}},
		{"blanks before quotes", "a, b\n1, \"x, y\"\n", []string{"table: a: 1 | b: x, y"}},
		{"an inch is no quote", "part,size\npipe,5\" wide\n\"3\" bolt\",7\n", []string{"table: part: pipe | size: 5\" wide\npart: 3\" bolt | size: 7"}},
		{"a quote never closed", "a,b\n\"x,1\ny,2\n", []string{"table: a: \"x | b: 1\na: y | b: 2"}},
		{"ragged", "a,b,c\n1,2\n1,2,3,4\n,,3\n", []string{"table: a: 1 | b: 2\na: 1 | b: 2 | c: 3 | 4\nc: 3"}},
		{"empty values", "a,b\n,2\n,\n1,\n", []string{"table: b: 2\na: 1"}},
		{"a title above", "Sales of the year\n\nitem,count\nnut,3\nbolt,4\n", []string{"paragraph: Sales of the year", "table: item: nut | count: 3\nitem: bolt | count: 4"}},
		{"only a header", "a,b,c\n", []string{"table: a | b | c"}},
		{"old line ends", "a,b\r1,2\r", []string{"table: a: 1 | b: 2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(ReadCSV, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.blocks); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCSVProperties(t *testing.T) {
	got, err := read(ReadCSV, "a,b\n1,2\n3,\"4\n5,6\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"rows": 3.0, "columns": []string{"a", "b"}}, got.properties); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1 row has a quote that is never closed; it was read as text"}, got.warnings); diff != "" {
		t.Error(diff)
	}
}

func TestCSVTextsAreParagraphs(t *testing.T) {
	answer := strings.Repeat("All of it is explained at length. ", 20)
	got, err := read(ReadCSV, "question,answer,votes\nWhy?,\""+answer+"\",3\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"table: question: Why? | votes: 3", "paragraph: answer: " + strings.TrimSpace(answer)}
	if diff := cmp.Diff(want, got.blocks); diff != "" {
		t.Error(diff)
	}
}

// TestCSVBlocksAreSmall asks that rows come in blocks that fit a chunk and
// that no row is cut.
func TestCSVBlocksAreSmall(t *testing.T) {
	got, err := read(ReadCSV, "id,text\n"+strings.Repeat("17,some words of a row\n", 1000))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, b := range got.blocks {
		if len(b) > maxTableBytes+100 {
			t.Errorf("a block of %d bytes", len(b))
		}
		for line := range strings.SplitSeq(strings.TrimPrefix(b, "table: "), "\n") {
			rows++
			if line != "id: 17 | text: some words of a row" {
				t.Fatalf("got %q", line)
			}
		}
	}
	if rows != 1000 {
		t.Errorf("%d rows", rows)
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add("a,b\n1,\"x\ny\"\n")
	f.Add("sep=;\na;b\n\"1;2")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := read(ReadCSV, text); err != nil {
			t.Fatal(err)
		}
	})
}
