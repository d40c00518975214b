package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
	"ragagent/store/sqlite"
)

// crashChild names the database a child process works on until it is killed.
const crashChild = "RAGAGENT_CRASH_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashChild); path != "" {
		var seed uint64
		var next int
		_, err := fmt.Sscan(os.Getenv(crashChild+"_FROM"), &seed, &next)
		if err == nil {
			err = toil(context.Background(), path, seed, next)
		}
		fmt.Fprintln(os.Stderr, "crash child:", err)
		os.Exit(3)
	}
	os.Exit(m.Run())
}

const crashKB = "kb_crash"

// crashDoc is the n-th document; everything about it follows from n.
func crashDoc(n int) store.Document {
	return store.Document{
		ID: fmt.Sprintf("doc_%06d", n), KnowledgeBaseID: crashKB, Name: "a.txt", Sources: []store.Source{{Path: fmt.Sprint(n)}}, SHA256: fmt.Sprintf("%064x", 2*n),
		TextSHA256: fmt.Sprintf("%064x", 2*n+1), TextBytes: 1 << 30,
	}
}

func crashJob(n int) store.Job {
	return store.Job{ID: fmt.Sprintf("job_%06d", n), Kind: store.JobIngest, Revision: 1}
}

const crashBatch = 8

func crashChunks(n int) []store.Chunk {
	doc := crashDoc(n)
	chunks := make([]store.Chunk, 1+n*7%40)
	for i := range chunks {
		text := strings.Repeat(fmt.Sprintf("chunk %d of %d. ", i, n), 50)
		chunks[i] = store.Chunk{
			ID: store.ChunkID(doc.ID, 1, i, text), KnowledgeBaseID: crashKB, DocumentID: doc.ID, Revision: 1, Ordinal: i,
			Span: store.Span{Start: 0, End: len(text)}, Text: text, Vector: []float32{0.6, 0, -0.8},
		}
	}
	return chunks
}

// announced does one thing and says so before and after: what stands on stdout
// with "done" was acknowledged.
func announced(what string, n, size int, do func() error) error {
	fmt.Printf("try %s %d %d\n", what, n, size)
	if err := do(); err != nil {
		return fmt.Errorf("%s %d: %w", what, n, err)
	}
	fmt.Printf("done %s %d %d\n", what, n, size)
	return nil
}

// toil adds, ingests and deletes documents for ever.
func toil(ctx context.Context, path string, seed uint64, next int) error {
	db, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	if err := db.CreateKnowledgeBase(ctx, store.KnowledgeBase{ID: crashKB, Name: "crash"}); err != nil && !errors.Is(err, store.ErrConflict) {
		return err
	}
	if _, err := db.RequeueAll(ctx, store.Suspects{Attempts: 1000}); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for {
		switch rng.IntN(5) {
		case 0, 1:
			err = announced("add", next, 0, func() error {
				_, err := db.AddDocument(ctx, crashDoc(next), crashJob(next))
				return err
			})
			next++
		case 2, 3:
			err = ingestOne(ctx, db)
		case 4:
			err = deleteOne(ctx, db, rng)
		}
		if err != nil {
			return err
		}
	}
}

func ingestOne(ctx context.Context, db *sqlite.DB) error {
	job, err := db.Lease(ctx, time.Now(), time.Hour)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var n int
	if _, err := fmt.Sscanf(job.ID, "job_%d", &n); err != nil {
		return err
	}
	doc, err := db.Document(ctx, "", job.DocumentID)
	if err != nil {
		return err
	}
	if doc.Revision < job.Revision {
		if err := storeAndPublish(ctx, db, n); err != nil {
			return err
		}
	}
	return announced("finish", n, 0, func() error { return db.Finish(ctx, job.ID) })
}

func storeAndPublish(ctx context.Context, db *sqlite.DB, n int) error {
	chunks, job := crashChunks(n), crashJob(n)
	at, _, err := db.ChunkJournal(ctx, crashDoc(n).ID, 1)
	if err != nil {
		return err
	}
	for ; len(chunks)-at > crashBatch; at += crashBatch {
		if err := announced("put", n, at+crashBatch, func() error {
			return db.PutChunks(ctx, job.ID, chunks[at:at+crashBatch], store.Progress{Stage: store.StageEmbed})
		}); err != nil {
			return err
		}
	}
	return announced("publish", n, len(chunks), func() error { return db.Publish(ctx, job.ID, crashDoc(n), chunks[at:]) })
}

func deleteOne(ctx context.Context, db *sqlite.DB, rng *rand.Rand) error {
	docs, err := db.Documents(ctx, crashKB, store.Page{Limit: store.MaxPage})
	if err != nil || len(docs) < 10 {
		return err
	}
	id := docs[rng.IntN(len(docs))].ID
	var n int
	if _, err := fmt.Sscanf(id, "doc_%d", &n); err != nil {
		return err
	}
	return announced("delete", n, 0, func() error {
		_, err := db.DeleteDocument(ctx, crashKB, id)
		return err
	})
}

// belief is what the lines of the killed processes say of one document: for
// each action how far it was tried and how far it was acknowledged.
type belief struct{ tried, done map[string]int }

// TestCrash kills a writing process at random moments, again and again on the
// same file. Nothing acknowledged may be missing, nothing deleted may be back,
// nothing may be there twice or in half.
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes")
	}
	const rounds = 12
	path := filepath.Join(t.TempDir(), "crash.db")
	rng := rand.New(rand.NewPCG(20260301, 1))
	beliefs := map[int]*belief{}
	acknowledged := 0
	for round := range rounds {
		next := 0
		for n := range beliefs {
			next = max(next, n+1)
		}
		lines := toilUntilKilled(t, path, rng.Uint64(), next, rng.IntN(160), time.Duration(rng.IntN(5000))*time.Microsecond)
		for _, line := range lines {
			var word, what string
			var n, size int
			if _, err := fmt.Sscan(line, &word, &what, &n, &size); err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
			b := beliefs[n]
			if b == nil {
				b = &belief{tried: map[string]int{}, done: map[string]int{}}
				beliefs[n] = b
			}
			if b.tried[what] = max(b.tried[what], size+1); word == "done" {
				b.done[what] = max(b.done[what], size+1)
				acknowledged++
			}
		}
		checkBeliefs(t, fmt.Sprintf("round %d", round), path, beliefs)
	}
	t.Logf("%d kills, %d acknowledged changes of %d documents", rounds, acknowledged, len(beliefs))
	if acknowledged < rounds {
		t.Errorf("only %d changes were acknowledged: the processes hardly worked", acknowledged)
	}
}

// toilUntilKilled starts a child, kills it a moment after it has written some
// lines, and returns all whole lines it wrote.
func toilUntilKilled(t *testing.T, path string, seed uint64, next, after int, moment time.Duration) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), crashChild+"="+path, fmt.Sprintf("%s_FROM=%d %d", crashChild, seed, next))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	in := bufio.NewReader(out)
	for {
		if len(lines) == after {
			time.Sleep(moment) // somewhere within what comes next
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := in.ReadString('\n')
		if err != nil {
			break // what is not a whole line was not acknowledged
		}
		lines = append(lines, line)
	}
	if err := child.Wait(); child.ProcessState.ExitCode() != -1 || ctx.Err() != nil {
		t.Fatalf("the child was not killed but ended: %v", err)
	}
	return lines
}

func checkBeliefs(t *testing.T, when, path string, beliefs map[int]*belief) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	defer closing(t, db)
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Fatalf("%s: check says %q, %v", when, problems, err)
	}
	present := map[int]store.Document{}
	for page := (store.Page{Limit: 100}); ; {
		docs, err := db.Documents(t.Context(), crashKB, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			var n int
			if _, err := fmt.Sscanf(d.ID, "doc_%d", &n); err != nil || beliefs[n] == nil {
				t.Fatalf("%s: document %s was never added", when, d.ID)
			}
			present[n] = d
			page.After = d.ID
		}
		if len(docs) < page.Size() {
			break
		}
	}
	for n, b := range beliefs {
		checkBelief(t, fmt.Sprintf("%s: document %d", when, n), db, n, b, present)
	}
}

func checkBelief(t *testing.T, what string, db *sqlite.DB, n int, b *belief, present map[int]store.Document) {
	t.Helper()
	doc, there := present[n]
	if !there {
		if b.done["add"] > 0 && b.tried["delete"] == 0 {
			t.Errorf("%s was acknowledged and is gone", what)
		}
		return
	}
	if b.done["delete"] > 0 {
		t.Errorf("%s was deleted and is back", what)
	}
	all := crashChunks(n)
	stored, _, err := db.ChunkJournal(t.Context(), doc.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	if low, high := max(b.done["put"], b.done["publish"]), max(b.tried["put"], b.tried["publish"], 1); stored+1 < low || stored+1 > high {
		t.Errorf("%s has %d chunks, of which %d were acknowledged and %d handed over", what, stored, low-1, high-1)
	}
	if b.done["publish"] > 0 && doc.Revision != 1 {
		t.Errorf("%s was published and is not visible", what)
	}
	if b.done["finish"] > 0 && doc.Status != store.StatusReady {
		t.Errorf("%s was finished and is %s", what, doc.Status)
	}
	var visible []store.Chunk
	for c, err := range db.VisibleChunks(t.Context(), crashKB, doc.ID) {
		if err != nil {
			t.Fatal(err)
		}
		visible = append(visible, c)
	}
	want := all
	if doc.Revision == 0 {
		want = nil
	}
	if diff := cmp.Diff(want, visible); diff != "" {
		t.Errorf("%s: visible chunks (-want +got):\n%s", what, diff)
	}
}
