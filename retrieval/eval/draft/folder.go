package draft

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"ragagent/retrieval/eval"
	"ragagent/store"
)

// shownPassage is how many bytes of a passage stand beside its question.
const shownPassage = 1000

// Folder is what is written.
type Folder struct {
	Questions []Question
	// Corpus are the documents of the knowledge base by their ids there, nil to
	// leave corpus.jsonl out: then the questions can only be asked of the
	// knowledge base itself.
	Corpus iter.Seq2[eval.Document, error]
}

type draftedLine struct {
	ID       string   `json:"_id"`
	Text     string   `json:"text"`
	Accepted *bool    `json:"accepted"` // null: nobody has looked yet
	From     string   `json:"from"`
	Answer   string   `json:"answer,omitempty"`
	Document string   `json:"document"`
	Page     int      `json:"page,omitempty"`
	Headings []string `json:"headings,omitempty"`
	Passage  string   `json:"passage"`
}

// Write makes the folder dir, which must not be there: queries.jsonl, with
// "accepted": null for a person to make true or false, qrels/test.tsv,
// answers.jsonl and corpus.jsonl. It appears whole or not at all.
func (f Folder) Write(dir string) (err error) {
	if _, err := os.Lstat(dir); err == nil {
		return store.Invalid(dir, "it is there already: name a new folder")
	}
	tmp, err := os.MkdirTemp(filepath.Dir(filepath.Clean(dir)), ".draft-")
	if err != nil {
		return fmt.Errorf("write drafts: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(tmp, "qrels"), 0o755); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		"queries.jsonl":  f.queries,
		"qrels/test.tsv": f.qrels,
		"answers.jsonl":  f.answers,
		"corpus.jsonl":   f.corpus,
	} {
		if name == "corpus.jsonl" && f.Corpus == nil {
			continue
		}
		if err := writeFile(filepath.Join(tmp, name), write); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return os.Rename(tmp, dir)
}

func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriter(f)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}

func id(i int) string { return fmt.Sprintf("draft-%04d", i+1) }

func (f Folder) queries(w io.Writer) error {
	out := encoder(w)
	for i, q := range f.Questions {
		p := q.Passage
		shown := p.Text
		if len(shown) > shownPassage {
			shown = shown[:shownPassage]
		}
		err := out.Encode(draftedLine{
			ID: id(i), Text: q.Text, From: q.From, Answer: q.Answer, Document: p.DocumentName, Page: p.Page,
			Headings: p.Headings, Passage: oneLine(shown),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (f Folder) qrels(w io.Writer) error {
	fmt.Fprintln(w, "query-id\tcorpus-id\tscore")
	for i, q := range f.Questions {
		fmt.Fprintf(w, "%s\t%s\t1\n", id(i), q.Passage.DocumentID)
	}
	return nil
}

func (f Folder) answers(w io.Writer) error {
	type line struct {
		ID      string   `json:"_id"`
		Answers []string `json:"answers"`
	}
	out := encoder(w)
	for i, q := range f.Questions {
		if q.Answer == "" {
			continue
		}
		if err := out.Encode(line{id(i), []string{q.Answer}}); err != nil {
			return err
		}
	}
	return nil
}

func (f Folder) corpus(w io.Writer) error {
	type line struct {
		ID    string `json:"_id"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	out := encoder(w)
	for doc, err := range f.Corpus {
		if err != nil {
			return err
		}
		if err := out.Encode(line{doc.ID, doc.Title, doc.Text}); err != nil {
			return err
		}
	}
	return nil
}

func encoder(w io.Writer) *json.Encoder {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out
}
