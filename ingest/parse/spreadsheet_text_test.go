package parse

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
)

// TestSpreadsheetText holds tables as spreadsheets save them as text.
func TestSpreadsheetText(t *testing.T) {
	western, err := charmap.Windows1252.NewEncoder().String("Name;Größe;Preis\r\nStühle;klein;12,50\r\nSchränke;groß;199,00\r\nTüren;mittel;80,00\r\nMöbel;groß;7,10\r\n")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, data string
		want       []string
	}{
		{"book.csv", western, []string{"table Name: Stühle | Größe: klein | Preis: 12,50\nName: Schränke | Größe: groß | Preis: 199,00\nName: Türen | Größe: mittel | Preis: 80,00\nName: Möbel | Größe: groß | Preis: 7,10"}},
		{"book.csv", "\ufeffName,Note\r\nAnn,\"one, two\r\nthree\"\r\nBob,x\r\n", []string{"table Name: Ann | Note: one, two three\nName: Bob | Note: x"}},
		{"book.txt", utf16Text("Name\tMenge\r\nStühle\t3\r\nTüren\t4\r\nBänke\t5\r\nTische\t6\r\n"), []string{"table Name: Stühle | Menge: 3\nName: Türen | Menge: 4\nName: Bänke | Menge: 5\nName: Tische | Menge: 6"}},
		{"book.csv", "sep=;\r\nName;Menge\r\nStuhl;3\r\n", []string{"table Name: Stuhl | Menge: 3"}},
	}
	for _, tt := range tests {
		text, err := parseBytes(t, tt.name, []byte(tt.data))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, shown(text)); diff != "" {
			t.Error(diff)
		}
	}
}
