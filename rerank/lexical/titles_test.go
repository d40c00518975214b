package lexical

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval/analysis"
)

// However many titles are asked for, at once and again: each has its own terms.
func TestTitles(t *testing.T) {
	a := analysis.New()
	known := newTitles(a)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 3 * titleSlots {
				title := fmt.Sprintf("The voyages of ship%d", i%(2*titleSlots))
				if diff := cmp.Diff(a.Terms(title), known.terms(title)); diff != "" {
					t.Errorf("%s: %s", title, diff)
				}
			}
		})
	}
	all.Wait()
	long := strings.Repeat("word ", maxTitle)
	for _, title := range []string{"", long, "A"} {
		if diff := cmp.Diff(a.Terms(title), known.terms(title)); diff != "" {
			t.Errorf("%.10s: %s", title, diff)
		}
	}
}
