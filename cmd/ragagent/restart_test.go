package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/store"
)

// TestRestarts adds and deletes documents and starts again and again: after a
// clean end or out of the middle, with the side files of this moment, an older
// one or none. Each time every question has the same ten answers as in indexes
// that are built from the texts.
func TestRestarts(t *testing.T) {
	r := &restarts{random: seeded(t), data: filepath.Join(t.TempDir(), "data"), there: map[string][]string{}}
	r.open(t)
	for _, name := range []string{"one", "two"} {
		kb, err := r.app.service.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: name})
		must(t, err)
		r.bases = append(r.bases, kb)
	}
	for i := range setting(t, "RAGAGENT_RESTARTS", 12) {
		for range r.random.IntN(12) {
			r.change(t)
		}
		how := r.restart(t)
		got := r.answers(t, r.app)
		fresh, err := openApp(t.Context(), appConfig{data: r.crashed(t), fromTexts: true})
		must(t, err)
		must(t, fresh.start(t.Context()))
		if diff := cmp.Diff(r.answers(t, fresh), got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("restart %d, %s (-from the texts +restarted):\n%s", i, how, diff)
		}
		must(t, fresh.Close())
		if t.Failed() {
			break
		}
	}
	must(t, r.app.Close())
	runs(t, "verify", "--data", r.data)
}

// restarts is a data folder across restarts.
type restarts struct {
	random *rand.Rand
	data   string
	app    *app
	bases  []store.KnowledgeBase
	there  map[string][]string // knowledge base -> documents
	number int
	older  []string // folders with side files of earlier moments
}

func (r *restarts) open(t *testing.T) {
	t.Helper()
	a, err := openApp(t.Context(), appConfig{data: r.data})
	must(t, err)
	must(t, a.start(t.Context()))
	r.app = a
}

// change adds a document, or deletes one of those that are there.
func (r *restarts) change(t *testing.T) {
	t.Helper()
	kb := r.bases[r.random.IntN(len(r.bases))].ID
	if n := len(r.there[kb]); n > 0 && r.random.IntN(3) == 0 {
		i := r.random.IntN(n)
		must(t, r.app.service.DeleteDocument(t.Context(), kb, r.there[kb][i]))
		r.there[kb] = slices.Delete(r.there[kb], i, i+1)
		return
	}
	r.number++
	s, err := r.app.service.Submit(t.Context(), kb, ingest.Upload{Name: fmt.Sprintf("%d.md", r.number), Body: strings.NewReader(r.text())})
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var job store.Job
	for job, err = range r.app.service.Watch(ctx, s.Job.ID) {
		must(t, err)
	}
	if job.Status != store.StatusReady {
		t.Fatalf("job: %+v", job)
	}
	r.there[kb] = append(r.there[kb], s.Document.ID)
}

var restartWords = strings.Fields("ship harbour captain crew sail storm island chart rope anchor barrel lantern whale coast tide north south copper tobacco letter")

// text is a document of one to four chunks.
func (r *restarts) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Voyage %d\n\n", r.number)
	for range 40 + r.random.IntN(900) {
		b.WriteString(restartWords[min(r.random.IntN(len(restartWords)), r.random.IntN(len(restartWords)))])
		b.WriteByte(' ')
	}
	return b.String()
}

// restart ends the process, as far as a test can, and starts the next one.
func (r *restarts) restart(t *testing.T) (how string) {
	t.Helper()
	how = "closed"
	if r.random.IntN(2) == 0 { // side files of the middle of it
		for _, kb := range r.bases {
			must(t, r.app.index.Save(t.Context(), kb.ID))
		}
	}
	if r.random.IntN(2) == 0 {
		how = "killed"
		left := r.crashed(t)
		must(t, r.app.Close())
		r.data = left
	} else {
		must(t, r.app.Close())
	}
	indexes := filepath.Join(r.data, indexesFolder)
	switch pick := r.random.IntN(4); {
	case pick == 0:
		how += ", side files removed"
		must(t, os.RemoveAll(indexes))
	case pick == 1 && len(r.older) > 0:
		how += ", older side files"
		must(t, os.RemoveAll(indexes), os.CopyFS(indexes, os.DirFS(r.older[r.random.IntN(len(r.older))])))
	case exists(indexes):
		old := filepath.Join(t.TempDir(), "indexes")
		must(t, os.CopyFS(old, os.DirFS(indexes)))
		r.older = append(r.older, old)
	}
	r.open(t)
	return how
}

// crashed copies the data folder as a kill would leave it: nobody writes now.
func (r *restarts) crashed(t *testing.T) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	must(t, os.CopyFS(to, os.DirFS(r.data)))
	return to
}

// answer is a hit as far as it has to be the same.
type answer struct {
	Chunk string
	Score float64
}

func (r *restarts) answers(t *testing.T, a *app) map[string][]answer {
	t.Helper()
	all := map[string][]answer{}
	for _, question := range []string{"storm at the coast", "captain letter", "copper", "voyage 3", "whale whale harbour", "where is the tobacco kept"} {
		for _, scope := range [][]store.KnowledgeBase{r.bases[:1], r.bases[1:], r.bases} {
			q := retrieval.Query{Text: question, TopK: 10}
			for _, kb := range scope {
				q.KnowledgeBases = append(q.KnowledgeBases, kb.ID)
			}
			result, err := a.retriever.Retrieve(t.Context(), q)
			must(t, err)
			key := fmt.Sprint(question, " in ", len(scope), " from ", scope[0].Name)
			for _, h := range result.Hits {
				all[key] = append(all[key], answer{h.ID, h.Score})
			}
		}
	}
	return all
}
