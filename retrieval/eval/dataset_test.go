package eval_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval/eval"
	"ragagent/store"
)

// folder writes a collection: path within it -> content.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func small() map[string]string {
	return map[string]string{
		"corpus.jsonl": `{"_id": "d1", "title": "One", "text": "first", "metadata": {}}
{"_id": "d2", "text": ""}
`,
		"queries.jsonl": `{"_id": "q2", "text": "second?"}
{"_id": "unjudged", "text": ""}
{"_id": "q1", "text": "first?"}
`,
		"qrels/test.tsv":     "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\tgone\t2\nq2\td2\t0\n",
		"answers.jsonl":      `{"_id": "q1", "answers": ["one", "1"], "type": "number", "reasoning": "none"}` + "\n" + `{"_id": "unjudged", "answers": []}`,
		"unanswerable.jsonl": `{"_id": "u1", "text": "why?", "nearest_passage": "d1"}`,
	}
}

func documents(t *testing.T, c *eval.Corpus) ([]eval.Document, error) {
	t.Helper()
	var docs []eval.Document
	for d, err := range c.Documents(context.Background()) {
		if err != nil {
			return docs, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func TestOpenDataset(t *testing.T) {
	d, err := eval.OpenDataset(folder(t, small()), "")
	if err != nil {
		t.Fatal(err)
	}
	want := &eval.Dataset{
		Name: "small", Dir: d.Dir,
		Queries:      []eval.Question{{ID: "q2", Text: "second?"}, {ID: "q1", Text: "first?"}},
		Qrels:        eval.Qrels{"q1": {"d1": 1}, "q2": {"gone": 2, "d2": 0}},
		Answers:      map[string]eval.Answer{"q1": {Texts: []string{"one", "1"}, Type: "number", Reasoning: "none"}},
		Unanswerable: []eval.Question{{ID: "u1", Text: "why?"}},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	corpus := d.Corpus()
	for range 2 { // it can be read again
		docs, err := documents(t, corpus)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]eval.Document{{ID: "d1", Title: "One", Text: "first"}, {ID: "d2"}}, docs); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"gone"}, corpus.Missing()); diff != "" || corpus.Count() != 2 {
			t.Errorf("missing %s, count %d", diff, corpus.Count())
		}
	}
}

// A person has struck one drafted question out, accepted another and not come
// to the third.
func TestOpenDatasetLeavesStruckQuestionsOut(t *testing.T) {
	files := small()
	files["queries.jsonl"] = `{"_id": "q1", "text": "first?", "accepted": false}
{"_id": "q2", "text": "second?", "accepted": true}
{"_id": "q3", "text": "third?", "accepted": null}
`
	files["qrels/test.tsv"] += "q3\td1\t1\n"
	files["unanswerable.jsonl"] = `{"_id": "u1", "text": "why?", "accepted": false}` + "\n" + `{"_id": "u2", "text": "how?", "accepted": true}`
	d, err := eval.OpenDataset(folder(t, files), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]eval.Question{{ID: "q2", Text: "second?"}, {ID: "q3", Text: "third?"}}, d.Queries); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"q2", "q3"}, d.Qrels.Queries()); diff != "" {
		t.Errorf("judged: %s", diff)
	}
	if len(d.Answers) != 0 || len(d.Unanswerable) != 1 || d.Struck != 2 || d.Undecided != 1 {
		t.Errorf("answers %v, unanswerable %v, struck %d, undecided %d", d.Answers, d.Unanswerable, d.Struck, d.Undecided)
	}
}

// The judgements may stand anywhere.
func TestOpenJudged(t *testing.T) {
	dir := folder(t, small())
	other := filepath.Join(dir, "pooled.qrels")
	if err := os.WriteFile(other, []byte("q1 0 d2 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := eval.OpenJudged(dir, other)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(eval.Qrels{"q1": {"d2": 3}}, d.Qrels); diff != "" || len(d.Queries) != 1 {
		t.Errorf("%s, queries %v", diff, d.Queries)
	}
}

func TestOpenDatasetRejects(t *testing.T) {
	for name, tc := range map[string]struct {
		file, content string // "" removes the file
		want          string // what the message ends with, after the folder
	}{
		"no corpus":          {"corpus.jsonl", "", "holds neither corpus.jsonl nor a folder pdfs"},
		"no qrels":           {"qrels/test.tsv", "", "qrels/test.tsv: the file is missing"},
		"empty qrels":        {"qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "qrels/test.tsv: no judgement in it"},
		"unknown query":      {"qrels/test.tsv", "q1\td1\t1\nnew\td1\t1\n", `queries.jsonl: the qrels judge query "new", which is not in it: add it or take its judgements out`},
		"query twice":        {"queries.jsonl", `{"_id":"q1","text":"a"}` + "\n" + `{"_id":"q1","text":"b"}`, `queries.jsonl:2: query "q1" is in line 1 already`},
		"query without text": {"queries.jsonl", `{"_id":"q1"}`, `queries.jsonl:1: query "q1" has no text`},
		"no id":              {"queries.jsonl", "\n" + `{"id":"q1","text":"a"}`, `queries.jsonl:2: no "_id": every line needs one, and it must not be empty`},
		"other split":        {"qrels/test.tsv", "-", "qrels/test.tsv: the file is missing; its folder has dev.tsv"},
		"neither yes nor no": {"queries.jsonl", `{"_id":"q1","text":"a","accepted":"yes"}`, `queries.jsonl:1: "accepted" of query "q1" is "yes": write true, false or null`},
		"all struck": {"queries.jsonl", `{"_id":"q1","text":"a","accepted":false}` + "\n" + `{"_id":"q2","text":"b","accepted":false}`,
			`queries.jsonl: every judged question is struck out: set "accepted" of some to true`},
		"not JSON":      {"answers.jsonl", `{"_id":`, `answers.jsonl:1: not a JSON object with string "_id" and text: unexpected end of JSON input`},
		"answers twice": {"answers.jsonl", `{"_id":"q1"}` + "\n" + `{"_id":"q1"}`, `answers.jsonl:2: the answers of query "q1" a second time`},
	} {
		files := small()
		files[tc.file] = tc.content
		if tc.content == "" {
			delete(files, tc.file)
		}
		if tc.content == "-" {
			files["qrels/dev.tsv"] = files[tc.file]
			delete(files, tc.file)
		}
		_, err := eval.OpenDataset(folder(t, files), "")
		if err == nil || !strings.HasSuffix(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want ...%q", name, err, tc.want)
		}
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v is no ErrInvalid", name, err)
		}
	}
	if _, err := eval.OpenDataset(folder(t, small()), "../../test"); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a split with a path: %v, want ErrInvalid", err)
	}
}

func TestCorpusRejects(t *testing.T) {
	for content, want := range map[string]string{
		`{"_id":"d1","text":"a"}` + "\n\n" + `{"_id":"d1","text":"a"}`: `corpus.jsonl:3: document "d1" is in the corpus already`,
		`{"_id":1,"text":"a"}`: `corpus.jsonl:1: not a JSON object with string "_id"`,
		`[]`:                   `corpus.jsonl:1: not a JSON object`,
	} {
		files := small()
		files["corpus.jsonl"] = content
		d, err := eval.OpenDataset(folder(t, files), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := documents(t, d.Corpus()); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestCorpusStopsWithItsContext(t *testing.T) {
	d, err := eval.OpenDataset(folder(t, small()), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var got []error
	for _, err := range d.Corpus().Documents(ctx) {
		got = append(got, err)
		cancel()
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], context.Canceled) {
		t.Errorf("got %v, want one document, then context.Canceled", got)
	}
}

func TestDatasetByPage(t *testing.T) {
	dir := folder(t, map[string]string{
		"pdfs/B_2023.pdf": "x", "pdfs/A.PDF": "x", "pdfs/notes.txt": "x", "pdfs/old.pdf/x": "x",
		"queries.jsonl":  `{"_id":"q","text":"a"}`,
		"qrels/test.tsv": "q\tA#p3\t1\nq\tC d#p1\t1\nq\tC d#p2\t1\n",
	})
	d, err := eval.OpenDataset(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	files, err := d.Files()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "pdfs", "A.PDF"), filepath.Join(dir, "pdfs", "B_2023.pdf")}
	if diff := cmp.Diff(want, files); diff != "" || !d.ByPage {
		t.Errorf("by page %v, files %s", d.ByPage, diff)
	}
	if diff := cmp.Diff([]string{"C d"}, d.MissingFiles(files)); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(filepath.Join(dir, "pdfs", "A.pdf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Files(); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("A.PDF and A.pdf: %v, want ErrInvalid", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "qrels", "test.tsv"), []byte("q\tA#p0\t1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := eval.OpenDataset(dir, ""); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), `"A#p0", which is not FILE#pN`) {
		t.Errorf("page 0: %v", err)
	}
}

func TestPageIDs(t *testing.T) {
	if got := eval.PageID("dir/BOEING_2022_10K.pdf", 7); got != "BOEING_2022_10K#p7" {
		t.Errorf("got %s", got)
	}
	for id, want := range map[string]string{"A#p1": "A", "A#p2#p31": "A#p2", "A": "A", "#p1": "#p1", "A#p01": "A#p01", "A#p0": "A#p0", "A#p": "A#p"} {
		if got := eval.File(id); got != want {
			t.Errorf("File(%q) = %q, want %q", id, got, want)
		}
	}
}

// Every collection beside the repository can be read, and has the numbers of
// documents and queries its README tells.
func TestSharedCollections(t *testing.T) {
	shared := os.Getenv("RAGAGENT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(shared, "data")); err != nil {
		t.Skipf("no test collections: %v", err)
	}
	for name, want := range map[string][2]int{
		"cranfield": {1400, 225}, "squad-mix": {8186, 1000}, "hotpotqa-100": {994, 100},
		"cmrc2018-dev": {848, 3219}, "pubmedqa": {1000, 1000}, "xquad/ar": {240, 1190}, "filings": {19, 36},
	} {
		d, err := eval.OpenDataset(filepath.Join(shared, "data", name), "")
		if err != nil {
			t.Error(err)
			continue
		}
		count, missing := 0, []string(nil)
		if d.ByPage {
			files, err := d.Files()
			if err != nil {
				t.Error(err)
			}
			count, missing = len(files), d.MissingFiles(files)
		} else {
			corpus := d.Corpus()
			if _, err := documents(t, corpus); err != nil {
				t.Error(err)
			}
			count, missing = corpus.Count(), corpus.Missing()
		}
		if got := [2]int{count, len(d.Queries)}; got != want || len(missing) > 0 {
			t.Errorf("%s: %v documents and queries, want %v; missing %v", name, got, want, missing)
		}
	}
}
