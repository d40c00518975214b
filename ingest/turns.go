package ingest

import (
	"net/url"
	"strings"
	"sync"

	"ragagent/store"
)

// turns shares the workers out among flows: what is uploaded from one folder,
// one archive, one site, or else by hand into one knowledge base. A job's turn
// is its place in virtual time, which goes on with the jobs that are taken up:
// the next of a flow comes its cost behind the one before, and none before now.
// A file beside an archive of 10,000 is taken up at once, two archives by turns.
//
// This is start-time fair queueing, Goyal, Vin and Cheng, SIGCOMM 1996.
type turns struct {
	mu    sync.Mutex
	now   int64            // the highest turn that was taken up
	flows map[string]int64 // the turn of the next job of each
}

// maxFlows is how many flows are remembered before those are forgotten that have
// fallen behind now: they begin at now, as new ones do.
const maxFlows = 1024

// costUnit is how many bytes of a file cost as much as having it at all.
const costUnit = 1 << 20

func newTurns() *turns { return &turns{flows: map[string]int64{}} }

func cost(bytes int64) int64 { return 1 + bytes/costUnit }

// take gives the next job of a flow its turn.
func (t *turns) take(flow string, bytes int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := max(t.flows[flow], t.now)
	t.flows[flow] = turn + cost(bytes)
	if len(t.flows) > maxFlows {
		for name, next := range t.flows {
			if next <= t.now {
				delete(t.flows, name)
			}
		}
	}
	return turn
}

// giveBack takes back that a flow has a job which was not needed.
func (t *turns) giveBack(flow string, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if next, ok := t.flows[flow]; ok {
		t.flows[flow] = max(next-cost(bytes), t.now)
	}
}

// taken says that a job of this turn was taken up.
func (t *turns) taken(turn int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = max(t.now, turn)
}

// flowOf names the flow of a source: its first folder or archive, the folder
// that is synchronised, the host of a URL, or the knowledge base.
func flowOf(kbID string, source store.Source) string {
	from := ""
	switch folder, _, inside := strings.Cut(source.Path, "/"); {
	case source.Origin == originURL:
		if u, err := url.Parse(source.Path); err == nil {
			from = u.Host
		}
	case source.Origin == "" && inside:
		from = folder
	}
	return kbID + "\n" + source.Origin + "\n" + from
}
