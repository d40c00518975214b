package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ragagent/store"
)

// Names of the files in a collection's folder.
const (
	corpusFile       = "corpus.jsonl"
	pdfsFolder       = "pdfs"
	queriesFile      = "queries.jsonl"
	qrelsFolder      = "qrels"
	answersFile      = "answers.jsonl"
	unanswerableFile = "unanswerable.jsonl"
	defaultSplit     = "test"
)

// Dataset is a test collection, its documents left on the disk.
type Dataset struct {
	Name string // the folder's name
	Dir  string
	// ByPage says that the documents are PDFs and judged pages are named
	// FILE#pN, FILE without .pdf and N from 1: read Files, not a Corpus.
	ByPage  bool
	Queries []Question // those that Qrels judge, in the order of the file
	Qrels   Qrels
	// Answers holds what is known of the answers, by query id; may be empty.
	Answers map[string]Answer
	// Unanswerable are questions the documents do not answer; may be empty.
	Unanswerable []Question
	// Struck counts drafted questions that a person has struck out, which are
	// left out everywhere; Undecided those nobody has looked at, which are not.
	Struck, Undecided int
}

// Question is one query of a collection.
type Question struct {
	ID   string `json:"_id"`
	Text string `json:"text"`
}

// Answer is what a collection knows of the answer to a question.
type Answer struct {
	Texts     []string // any of them is right
	Type      string   // the collection's own word for the kind of question
	Reasoning string   // the collection's own word for what it takes
}

// OpenDataset reads the folder dir but not its documents:
//
//	corpus.jsonl        {"_id", "title", "text"}, or pdfs/*.pdf in its place
//	queries.jsonl       {"_id", "text", "accepted"}; accepted false is struck out
//	qrels/SPLIT.tsv     see ReadQrels
//	answers.jsonl       {"_id", "answers": [...], "type", "reasoning"}, optional
//	unanswerable.jsonl  {"_id", "text"}, optional
//
// split "" means "test". Further fields are ignored. Queries without a
// judgement are left out, as are answers to them. These are errors, most of
// them LineErrors: a folder with neither corpus.jsonl nor pdfs, no judgement
// above 0, a judged query that queries.jsonl does not hold, an id twice in one
// file, an empty id or query, a judged page that is not FILE#pN. A judged
// document that does not exist is none, as for trec_eval: it counts as not
// found, and Corpus.Missing or MissingFiles tells of it.
func OpenDataset(dir, split string) (*Dataset, error) {
	if split == "" {
		split = defaultSplit
	}
	if filepath.Base(split) != split {
		return nil, store.Invalid("split", "%q is not the name of a file in qrels", split)
	}
	return OpenJudged(dir, filepath.Join(dir, qrelsFolder, split+".tsv"))
}

// OpenJudged is OpenDataset with the judgements of any file that ReadQrels reads.
func OpenJudged(dir, qrels string) (*Dataset, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open dataset: %w", err)
	}
	d := &Dataset{Name: filepath.Base(abs), Dir: dir}
	if d.ByPage, err = judgedByPage(dir); err != nil {
		return nil, err
	}
	if err := d.readQrels(qrels); err != nil {
		return nil, err
	}
	if err := d.readQueries(); err != nil {
		return nil, err
	}
	if err := d.readAnswers(); err != nil {
		return nil, err
	}
	return d, d.readUnanswerable()
}

// judgedByPage tells the two kinds of collections apart.
func judgedByPage(dir string) (bool, error) {
	corpus, err := exists(filepath.Join(dir, corpusFile))
	if corpus || err != nil {
		return false, err
	}
	pdfs, err := exists(filepath.Join(dir, pdfsFolder))
	if err != nil {
		return false, err
	}
	if !pdfs {
		return false, store.Invalid("dataset", "%s holds neither %s nor a folder %s", dir, corpusFile, pdfsFolder)
	}
	return true, nil
}

// opening says of a file that is not there what is there in its place.
func opening(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open dataset: %w", err)
	}
	there, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+filepath.Ext(path)))
	if len(there) == 0 {
		return store.Invalid(path, "the file is missing")
	}
	for i := range there {
		there[i] = filepath.Base(there[i])
	}
	return store.Invalid(path, "the file is missing; its folder has %s", strings.Join(there[:min(len(there), 10)], ", "))
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open dataset: %w", err)
	}
	return true, nil
}

func (d *Dataset) readQrels(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return opening(path, err)
	}
	defer f.Close()
	if d.Qrels, err = ReadQrels(f, path); err != nil {
		return err
	}
	if !d.ByPage {
		return nil
	}
	for query, judged := range d.Qrels {
		for id := range judged {
			if _, _, ok := ParsePageID(id); !ok {
				return store.Invalid(path, "query %q judges %q, which is not FILE#pN", query, id)
			}
		}
	}
	return nil
}

func (d *Dataset) readQueries() error {
	path := filepath.Join(d.Dir, queriesFile)
	questions, err := d.readQuestions(path, func(id string) bool { return d.Qrels[id] != nil })
	if err != nil {
		return err
	}
	if len(questions) == 0 && d.Struck > 0 {
		return store.Invalid(path, "every judged question is struck out: set \"accepted\" of some to true")
	}
	known := make(map[string]bool, len(questions))
	for _, q := range questions {
		known[q.ID] = true
	}
	for _, id := range d.Qrels.Queries() {
		if !known[id] {
			return store.Invalid(path, "the qrels judge query %q, which is not in it: add it or take its judgements out", id)
		}
	}
	d.Queries = questions
	return nil
}

func (d *Dataset) readUnanswerable() error {
	path := filepath.Join(d.Dir, unanswerableFile)
	found, err := exists(path)
	if !found || err != nil {
		return err
	}
	d.Unanswerable, err = d.readQuestions(path, func(string) bool { return true })
	return err
}

// readQuestions reads the questions of a file whose id keep accepts. Judgements
// of those that were struck out go.
func (d *Dataset) readQuestions(path string, keep func(id string) bool) ([]Question, error) {
	var questions []Question
	seen := map[string]int{}
	for rec, err := range records(path) {
		if err != nil {
			return nil, err
		}
		if !keep(rec.ID) {
			continue
		}
		if first := seen[rec.ID]; first > 0 {
			return nil, rec.at.invalid("query %q is in line %d already", rec.ID, first)
		}
		seen[rec.ID] = rec.at.n
		if rec.Text == "" {
			return nil, rec.at.invalid("query %q has no text", rec.ID)
		}
		switch string(rec.Accepted) {
		case "", "true":
		case "null":
			d.Undecided++
		case "false":
			d.Struck++
			delete(d.Qrels, rec.ID)
			continue
		default:
			return nil, rec.at.invalid("\"accepted\" of query %q is %s: write true, false or null", rec.ID, rec.Accepted)
		}
		questions = append(questions, Question{ID: rec.ID, Text: rec.Text})
	}
	return questions, nil
}

func (d *Dataset) readAnswers() error {
	path := filepath.Join(d.Dir, answersFile)
	found, err := exists(path)
	if !found || err != nil {
		return err
	}
	d.Answers = make(map[string]Answer)
	for rec, err := range records(path) {
		if err != nil {
			return err
		}
		if d.Qrels[rec.ID] == nil {
			continue
		}
		if _, ok := d.Answers[rec.ID]; ok {
			return rec.at.invalid("the answers of query %q a second time", rec.ID)
		}
		d.Answers[rec.ID] = Answer{Texts: rec.Answers, Type: rec.Type, Reasoning: rec.Reasoning}
	}
	return nil
}
