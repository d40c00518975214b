package ingest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/store"
)

// TestTurns: bulk, another bulk and a file by hand, in the order they are
// taken up.
func TestTurns(t *testing.T) {
	type job struct {
		name string
		turn int64
	}
	turns := newTurns()
	var queue []job
	add := func(flow, name string, bytes int64) { queue = append(queue, job{name, turns.take(flow, bytes)}) }
	take := func() string {
		slices.SortStableFunc(queue, func(a, b job) int { return int(a.turn - b.turn) })
		first := queue[0]
		queue = queue[1:]
		turns.taken(first.turn)
		return first.name
	}
	for _, name := range []string{"a1", "a2", "a3", "a4", "a5"} {
		add("a", name, 100)
	}
	got := []string{take(), take()}
	add("hand", "h1", 100)
	add("b", "b1", 2*costUnit) // costs as much as three small ones
	add("b", "b2", 100)
	turns.giveBack("b", 100) // it was there
	add("b", "b3", 100)
	for len(queue) > 0 {
		got = append(got, take())
	}
	if diff := cmp.Diff([]string{"a1", "a2", "h1", "b1", "a3", "a4", "a5", "b2", "b3"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestNoFlowWaitsForBulk: whatever waits, the first job of a flow that has none
// is taken up after at most one of each other flow.
func TestNoFlowWaitsForBulk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := newTurns()
		var waiting []int64
		flows := rapid.IntRange(1, 8).Draw(t, "flows")
		for flow := range flows {
			for range rapid.IntRange(1, 30).Draw(t, "jobs") {
				waiting = append(waiting, turns.take(string(rune('a'+flow)), 1))
			}
		}
		slices.Sort(waiting)
		taken := rapid.IntRange(1, len(waiting)).Draw(t, "taken")
		turns.taken(waiting[taken-1])
		mine := turns.take("mine", 1)
		before := 0
		for _, turn := range waiting[taken:] {
			if turn <= mine {
				before++
			}
		}
		if before >= flows {
			t.Fatalf("%d jobs of %d flows come before it", before, flows)
		}
	})
}

func TestFlows(t *testing.T) {
	for want, source := range map[string]store.Source{
		"kb\n\n":                    {Path: "a.txt"},
		"kb\n\nb.zip":               {Path: "b.zip/x/a.txt"},
		"kb\nsync:/home/ada\n":      {Origin: "sync:/home/ada", Path: "x/a.txt"},
		"kb\nurl\nexample.org:8080": {Origin: originURL, Path: "http://example.org:8080/a/b"},
		"kb\n\nreports":             {Path: "reports/a.txt"},
	} {
		if got := flowOf("kb", source); got != want {
			t.Errorf("%v is of flow %q, want %q", source, got, want)
		}
	}
}

func TestFlowsAreForgotten(t *testing.T) {
	turns := newTurns()
	for i := range 3 * maxFlows {
		turns.taken(turns.take(string(rune('a'+i)), 1) + 1)
	}
	if n := len(turns.flows); n > maxFlows+1 {
		t.Errorf("%d flows are remembered", n)
	}
}
