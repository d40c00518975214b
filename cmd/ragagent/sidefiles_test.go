package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/store"
	"ragagent/store/sidefile"
)

// bothAnswers is what the two knowledge bases of filled answer. The data folder
// is opened and closed for it.
func bothAnswers(t *testing.T, data string) string {
	t.Helper()
	var all strings.Builder
	e := &env{ctx: t.Context(), stdout: t.Output(), stderr: t.Output()}
	err := withClient(e, reachFlags{dataFlags: dataFlags{Data: data}}, modelFlags{}, true, func(api *client) error {
		for _, kb := range []string{"reports", "letters"} {
			for _, q := range []string{"code7x", "how many crates", "counted twice a year", "number 3"} {
				var r retrieved
				if err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{"query": q, "knowledge_bases": []string{kb}, "top_k": 12}, &r); err != nil {
					return err
				}
				for _, h := range r.Hits {
					fmt.Fprintf(&all, "%s %s %.9f %q\n", q, h.DocumentName, h.Score, h.Text)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestSideFileDamages damages what is kept of an index in every way: verify
// says so, the answers are the same, and afterwards it has been made anew.
func TestSideFileDamages(t *testing.T) {
	sound := filled(t)
	want := bothAnswers(t, sound)
	runs(t, "verify", "--data", sound)
	random := seeded(t)
	type trial struct {
		name string
		do   func(t *testing.T, one, other string)
		says string // what verify finds, "" for nothing
	}
	trials := []trial{
		{"two files change places", func(t *testing.T, one, other string) {
			a, b := read(t, one), read(t, other)
			write(t, one, b)
			write(t, other, a)
		}, "it is the file words-"},
		{"a folder takes its place", func(t *testing.T, one, _ string) { must(t, os.Remove(one), os.Mkdir(one, 0o700)) }, "it is no side file"},
		{"a link takes its place", func(t *testing.T, one, other string) { must(t, os.Remove(one), os.Symlink(other, one)) }, "it is no side file"},
		{"a stray", func(t *testing.T, one, _ string) { write(t, filepath.Join(filepath.Dir(one), "note.txt"), []byte("x")) }, "note.txt: it is no side file"},
		{"a file of nobody", func(t *testing.T, one, other string) {
			must(t, os.Rename(one, filepath.Join(filepath.Dir(other), "words-kb_9.side")))
		}, "words-kb_9.side"},
		{"an unfinished file", func(t *testing.T, one, _ string) { write(t, one+".1.tmp", read(t, one)) }, ""},
		{"the folder is gone", func(t *testing.T, one, _ string) { must(t, os.RemoveAll(filepath.Dir(one))) }, ""},
		{"the folder is a file", func(t *testing.T, one, _ string) {
			must(t, os.RemoveAll(filepath.Dir(one)))
			write(t, filepath.Dir(one), nil)
		}, "is no folder"},
		{"another index", func(t *testing.T, one, other string) { forge(t, one, bodyOf(t, other)) }, ""}, // too old to be used
		{"other texts", func(t *testing.T, one, _ string) { forge(t, one, otherTexts(t, one)) }, "it holds chk_"},
		{"no index", func(t *testing.T, one, _ string) { forge(t, one, []byte("something else")) }, "damaged"},
	}
	for _, d := range damages {
		says := "damaged"
		if d.name == "remove" {
			says = ""
		}
		trials = append(trials, trial{d.name, func(t *testing.T, one, _ string) { apply(t, one, d, random) }, says})
	}
	for _, c := range trials {
		t.Run(c.name, func(t *testing.T) {
			data := copyOf(t, sound)
			files, err := filepath.Glob(filepath.Join(data, indexesFolder, "*"))
			if err != nil || len(files) != 2 {
				t.Fatalf("side files: %v, %v", files, err)
			}
			c.do(t, files[0], files[1])
			code, out, msg := command(t, "verify", "--data", data)
			if (code == exitOK) != (c.says == "") || !strings.Contains(out, c.says) {
				t.Errorf("verify: exit %d, want it to say %q\n%s%s", code, c.says, out, msg)
			}
			if c.name == "other texts" {
				return // nothing but verify can know
			}
			if got := bothAnswers(t, data); got != want {
				t.Errorf("answers\n%s\nnot\n%s", got, want)
			}
			if c.name == "a stray" || c.name == "the folder is a file" {
				return // what is not ours stays
			}
			runs(t, "verify", "--data", data)
		})
	}
	t.Run("rebuild", func(t *testing.T) {
		data := copyOf(t, sound)
		files, err := filepath.Glob(filepath.Join(data, indexesFolder, "*"))
		must(t, err)
		forge(t, files[0], otherTexts(t, files[0]))
		runs(t, "rebuild", "--data", data)
		runs(t, "verify", "--data", data)
		if got := bothAnswers(t, data); got != want {
			t.Errorf("answers\n%s\nnot\n%s", got, want)
		}
	})
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sideFileAt opens the folder of a side file.
func sideFileAt(t *testing.T, path string) (*sidefile.Folder, string) {
	t.Helper()
	folder, err := sidefile.New(sidefile.Config{Dir: filepath.Dir(path)})
	must(t, err)
	kb := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), retrieval.WordsKind+"-"), ".side")
	return folder, kb
}

func bodyOf(t *testing.T, path string) []byte {
	t.Helper()
	folder, kb := sideFileAt(t, path)
	body, err := folder.Read(t.Context(), retrieval.WordsKind, kb, retrieval.WordsStamp)
	must(t, err)
	return body
}

// forge writes a side file whose checksums are right.
func forge(t *testing.T, path string, body []byte) {
	t.Helper()
	folder, kb := sideFileAt(t, path)
	must(t, folder.Write(t.Context(), retrieval.WordsKind, kb, retrieval.WordsStamp, func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	}))
}

// otherTexts is an index of the documents of a side file with other chunks.
func otherTexts(t *testing.T, path string) []byte {
	t.Helper()
	words, err := bm25.New(bm25.Config{Analyzer: analysis.New()})
	must(t, err)
	must(t, words.Restore(t.Context(), "kb", bodyOf(t, path)))
	for d := range words.Documents("kb") {
		must(t, words.Replace(t.Context(), "kb", d.ID, func(yield func(store.Chunk, error) bool) {
			for i := range d.Chunks {
				text := fmt.Sprintf("another text %d", i)
				c := store.Chunk{ID: store.ChunkID(d.ID, d.Revision, i, text), DocumentID: d.ID, Revision: d.Revision, Ordinal: i, Text: text}
				if !yield(c, nil) {
					return
				}
			}
		}))
	}
	var body strings.Builder
	must(t, words.Save(t.Context(), "kb", &body))
	return []byte(body.String())
}

// TestWordsOfDeletedDocuments puts a side file back that was written before a
// document was deleted: its words are found, and the next start removes them.
func TestWordsOfDeletedDocuments(t *testing.T) {
	data := filled(t)
	files, err := filepath.Glob(filepath.Join(data, indexesFolder, "*.side"))
	must(t, err)
	before := map[string][]byte{}
	for _, file := range files {
		before[file] = read(t, file)
	}
	changeReports(t, data)
	if out := runs(t, "verify", "--deleted", "--data", data); !strings.Contains(out, "nor in the side files") {
		t.Error(out)
	}
	for file, raw := range before {
		write(t, file, raw)
	}
	fails(t, "it holds words of 1 deleted documents", "verify", "--deleted", "--data", data)
	answersOf(t, data, "letters") // a start and an end
	runs(t, "verify", "--deleted", "--data", data)
	write(t, files[0], []byte("something else"))
	fails(t, "nobody can say whose words", "verify", "--deleted", "--data", data)
}
