package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
	"ragagent/store/sqlite"
)

// populate puts three documents into a new file, one ready, one failed and one
// half way, and an exchange, and returns its path.
func populate(t *testing.T) string {
	t.Helper()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "records.db")
	db, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, db)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(db.CreateKnowledgeBase(ctx, store.KnowledgeBase{ID: crashKB, Name: "crash"}))
	for n := 4; n <= 6; n++ {
		_, err := db.AddDocument(ctx, crashDoc(n), crashJob(n))
		must(err)
		_, err = db.Lease(ctx, time.Now(), time.Hour)
		must(err)
		must(db.PutChunks(ctx, crashJob(n).ID, crashChunks(n)[:2], store.Progress{}))
	}
	must(db.Publish(ctx, crashJob(4).ID, crashDoc(4), crashChunks(4)[2:]))
	must(db.Finish(ctx, crashJob(4).ID))
	must(db.Fail(ctx, crashJob(5).ID, "broken"))
	must(db.StartConversation(ctx, store.Conversation{ID: "conv_1"}, store.Run{
		ID: "run_1", ConversationID: "conv_1", Steps: []store.Thought{{Position: 1}, {Position: 2}, {Position: 3}},
	}, nil))
	return path
}

func check(t *testing.T, path string) []string {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, db)
	problems, err := db.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

func TestCheckFindsNothingInSoundRecords(t *testing.T) {
	if problems := check(t, populate(t)); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	chunk := crashChunks(4)[1].ID
	for _, c := range []struct {
		name, damage string
		want         []string
	}{
		{
			"document count", `UPDATE knowledge_bases SET document_count = 4`,
			[]string{"knowledge base kb_crash does not know how many documents or visible chunks it has"},
		},
		{
			"chunk count of the knowledge base", `UPDATE knowledge_bases SET chunk_count = chunk_count + 1`,
			[]string{"knowledge base kb_crash does not know how many documents or visible chunks it has"},
		},
		{
			"last chunk lost", `DELETE FROM chunks WHERE revision = 1 AND ordinal = 28`,
			[]string{"document doc_000004 does not know how many visible chunks it has"},
		},
		{
			"ready without a text", `UPDATE documents SET text_sha256 = '' WHERE id = 'doc_000004'`,
			[]string{"document doc_000004 is ready but has no visible revision or no text"},
		},
		{
			"cancelled but visible", `UPDATE documents SET revision = 1, status = 'cancelled' WHERE id = 'doc_000005'`,
			[]string{"document doc_000005 has failed or was cancelled but can be found"},
		},
		{
			"a job lost", `DELETE FROM jobs WHERE id = 'job_000006'`,
			[]string{
				"document doc_000006 waits for a job that is not there",
				"document doc_000006 has chunks that are not visible and that no job is making",
			},
		},
		{
			"a job that is ready alone", `UPDATE jobs SET status = 'ready' WHERE id = 'job_000005'`,
			[]string{"job job_000005 is ready but its revision is not"},
		},
		{
			"a chunk in the middle lost", `DELETE FROM chunks WHERE ordinal = 0 AND document = (SELECT key FROM documents WHERE id = 'doc_000006')`,
			[]string{"document doc_000006 has a revision with missing chunks"},
		},
		{
			"a chunk longer than its span", `UPDATE chunks SET text = text || 'x' WHERE id = '` + chunk + `'`,
			[]string{"chunk " + chunk + " has a span that does not hold its text"},
		},
		{
			"a text shorter than its chunks", `UPDATE documents SET text_bytes = 15 * 50 WHERE id = 'doc_000004';
			UPDATE chunks SET span_start = 100, span_end = span_end + 100 WHERE id = '` + chunk + `'`,
			[]string{"chunk " + chunk + " has a span that does not hold its text"},
		},
		{
			"a vector that is not of norm 1", `UPDATE chunks SET vector = x'0000003f' WHERE id = '` + chunk + `'`,
			[]string{"chunk " + chunk + " has a bad vector: vector: its L2 norm is 0.5, not 1"},
		},
		{
			"a vector cut short", `UPDATE chunks SET vector = x'00003f' WHERE id = '` + chunk + `'`,
			[]string{"chunk " + chunk + " has a bad vector: a vector is stored in 3 bytes, not a multiple of 4"},
		},
		{
			"a vector of another dimension", `UPDATE chunks SET vector = x'0000803f' WHERE id = '` + chunk + `'`,
			[]string{"chunk " + chunk + " has a bad vector: it has 1 dimensions and others of its knowledge base have 3"},
		},
		{
			"an orphan", `PRAGMA foreign_keys = OFF; DELETE FROM conversations`,
			[]string{"row 1 of runs refers to a row of conversations that is not there"},
		},
		{
			"a step lost", `DELETE FROM thoughts WHERE position = 2`,
			[]string{"run run_1 has steps missing"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := populate(t)
			damage(t, path, c.damage)
			if diff := cmp.Diff(c.want, check(t, path)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// forgetSums removes the checksums of a closed file, as if it had been changed
// while it was open.
func forgetSums(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path + ".sums"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// damage changes the file behind the store's back, as a fault of the store would:
// the checksums of rows follow.
func damage(t *testing.T, path, statements string) {
	t.Helper()
	forgetSums(t, path)
	db, err := sqlite.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, db)
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func TestCheckFindsDamagedPages(t *testing.T) {
	path := populate(t)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 8192
	found := 0
	for at := 10 * page; at+page <= len(content); at += page { // behind the schema
		broken := append([]byte(nil), content...)
		for i := range 64 {
			broken[at+i] ^= 0xa5 // the header of the page and its first cells
		}
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		forgetSums(t, path)
		if foundByCheck(t, path) {
			found++
		}
	}
	if want := len(content)/page - 10; found != want || want < 10 {
		t.Errorf("%d of %d damages were found", found, want)
	}
}

// foundByCheck says that opening or checking finds the damage: the tables that
// opening reads may lie on any page.
func foundByCheck(t *testing.T, path string) bool {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		if !errors.Is(err, store.ErrDamaged) {
			t.Fatal(err)
		}
		return true
	}
	defer closing(t, db)
	problems, err := db.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(problems) > 0
}

func TestCheckStopsSomewhere(t *testing.T) {
	path := populate(t)
	damage(t, path, `PRAGMA foreign_keys = OFF; WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
		INSERT INTO thoughts (run_id, position, thought, tool, tool_input, observation, error, elapsed_ms) SELECT 'run_' || i, 1, '', '', '', '', '', 0 FROM n`)
	problems := check(t, path)
	if len(problems) != 101 {
		t.Fatalf("%d problems, want 100 and a last word", len(problems))
	}
	if want := "and perhaps more: the check stopped here"; problems[100] != want {
		t.Errorf("the last word is %q, want %q", problems[100], want)
	}
}
