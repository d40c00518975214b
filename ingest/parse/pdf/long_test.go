package pdf

import (
	"strings"
	"testing"
)

// TestStructureOfManyItems holds what takes for ever if every line is copied
// again for the next one: a page may have some 100,000 lines.
func TestStructureOfManyItems(t *testing.T) {
	const n = 100_000
	items, hyphens := Page{Number: 1, Width: 600, Height: 800}, Page{Number: 2, Width: 600, Height: 800}
	for i := range n {
		items.Lines = append(items.Lines, Line{Text: "• a", X1: 20, Y: 12 * float64(i), Size: 10, Cells: 1})
		hyphens.Lines = append(hyphens.Lines, Line{Text: "ab-", X1: 20, Y: 12 * float64(i), Size: 10, Cells: 1})
	}
	blocks := Structure([]Page{items, hyphens})
	if len(blocks) != 2 {
		t.Fatalf("got %d blocks, want a list and a paragraph", len(blocks))
	}
	if want := strings.Repeat("• a\n", n-1) + "• a"; blocks[0].Kind != List || blocks[0].Text != want {
		t.Errorf("got a block of kind %d that begins with %.40q", blocks[0].Kind, blocks[0].Text)
	}
	if want := strings.Repeat("ab", n-1) + "ab-"; blocks[1].Text != want {
		t.Errorf("got %.40q, want %.40q", blocks[1].Text, want)
	}
}
