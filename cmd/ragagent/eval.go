package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/retrieval/eval"
	"ragagent/store"
)

// evalCmd is `eval` with its further commands.
type evalCmd struct {
	Run     evalRunCmd     `cmd:"" default:"withargs" help:"Measure retrieval (the default)."`
	Answers evalAnswersCmd `cmd:"" help:"Measure answers: what they cite and what they refuse."`
	Compare evalCompareCmd `cmd:"" help:"Compare two TREC run files by a paired test."`
}

// evalData says which collection is evaluated and where it is loaded.
type evalData struct {
	modelFlags
	Dataset string `help:"Folder in BEIR layout: corpus.jsonl (or pdfs/), queries.jsonl, qrels/test.tsv." required:"" type:"existingdir" placeholder:"DIR"`
	Split   string `help:"Name of the qrels file." default:"test"`
	Keep    string `help:"Keep the ingested data in this folder, and use it if it is there." type:"path" placeholder:"DIR"`
	JSON    bool   `name:"json" help:"Print the figures as one JSON object."`
}

type evalRunCmd struct {
	evalData
	TopK      int      `name:"top-k" help:"Depth of the rankings." default:"100"`
	Mode      string   `help:"hybrid, lexical or dense." default:"hybrid" enum:"hybrid,lexical,dense"`
	RunFile   string   `name:"run" help:"Write the rankings as a TREC run file." type:"path" placeholder:"FILE"`
	Report    string   `help:"Write report.html and queries.jsonl, the figures of every query, into this folder." type:"path" placeholder:"DIR"`
	Workers   int      `help:"Questions asked at a time; latencies are measured with 1." default:"1"`
	FailUnder []string `help:"Fail if a figure is lower, for example ndcg@10=0.41." placeholder:"NAME=X"`
}

// evalKB is the name of the knowledge base a collection is loaded into.
const evalKB = "eval"

// loaded ingests the collection through the real pipeline, in a data folder of
// its own, and hands the running product over.
func (c *evalData) loaded(e *env, do func(*app, *eval.Dataset, *evalLoad) error) (err error) {
	set, err := eval.OpenDataset(c.Dataset, c.Split)
	if err != nil {
		return err
	}
	dir := c.Keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "ragagent-eval-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	app, err := openApp(e.ctx, appConfig{data: dir, models: c.modelFlags, log: warnings(e.stderr)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	if err := app.start(e.ctx); err != nil {
		return err
	}
	load := &evalLoad{records: app.records, service: app.service, ids: map[string][]string{}, stderr: e.stderr}
	if err := load.collection(e.ctx, set); err != nil {
		return err
	}
	if load.empty > 0 {
		fmt.Fprintf(e.stderr, "%d documents of the collection have no text and cannot be found\n", load.empty)
	}
	for _, f := range load.failed {
		fmt.Fprintf(e.stderr, "failed: %s: %s\n", f.File, f.Error)
	}
	return do(app, set, load)
}

// Run asks every judged question through the real retrieval path and prints
// the figures.
func (c *evalRunCmd) Run(e *env) error {
	bars := make([]eval.Bar, len(c.FailUnder))
	for i, text := range c.FailUnder {
		var err error
		if bars[i], err = eval.ParseBar(text); err != nil {
			return usageError{err}
		}
	}
	return c.loaded(e, func(app *app, set *eval.Dataset, load *evalLoad) error {
		result, err := c.ask(e.ctx, app.retriever, set, load)
		if err != nil {
			return err
		}
		if err := c.write(result); err != nil {
			return err
		}
		return c.print(e, result, bars)
	})
}

func (c *evalRunCmd) ask(ctx context.Context, r retrieval.Retriever, set *eval.Dataset, load *evalLoad) (*eval.Result, error) {
	runner, err := eval.NewRunner(eval.Config{
		Retriever:      r,
		KnowledgeBases: []string{load.kb.ID},
		Mode:           retrieval.Mode(c.Mode),
		Depth:          c.TopK,
		Workers:        c.Workers,
		Locate:         load.locate(set),
	})
	if err != nil {
		return nil, err
	}
	return runner.Run(ctx, set)
}

// write leaves the files that were asked for.
func (c *evalRunCmd) write(result *eval.Result) error {
	if c.RunFile != "" {
		err := writeFile(c.RunFile, func(w io.Writer) error { return eval.WriteRun(w, result.Run(), "ragagent") })
		if err != nil {
			return err
		}
	}
	if c.Report == "" {
		return nil
	}
	if err := os.MkdirAll(c.Report, 0o755); err != nil {
		return err
	}
	report := eval.Report{Made: time.Now(), Setting: fmt.Sprintf("ragagent %s, mode %s, top %d", version, c.Mode, c.TopK), Result: result}
	return errors.Join(
		writeFile(filepath.Join(c.Report, "report.html"), report.WriteHTML),
		writeFile(filepath.Join(c.Report, "queries.jsonl"), result.WriteQueries),
	)
}

func (c *evalRunCmd) print(e *env, result *eval.Result, bars []eval.Bar) error {
	sum := result.Summary()
	if err := printFigures(e.stdout, sum, c.JSON); err != nil {
		return err
	}
	missed := sum.Under(bars)
	for _, b := range missed {
		v, ok := sum.Figure(b.Name)
		if !ok {
			return usagef("--fail-under: %q is no figure of this evaluation", b.Name)
		}
		fmt.Fprintf(e.stderr, "%s is %.4f, below %g\n", b.Name, v, b.Min)
	}
	if len(missed) > 0 {
		return errSilent
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f)
}

// printFigures prints a flat object, as JSON on one line or as a table in the
// object's own order.
func printFigures(w io.Writer, figures any, asJSON bool) error {
	raw, err := json.Marshal(figures)
	if err != nil {
		return err
	}
	if asJSON {
		_, err = fmt.Fprintln(w, string(raw))
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if _, nested := value.([]any); !nested {
			fmt.Fprintf(w, "%-22v %v\n", key, value)
		}
	}
	return nil
}

// evalLoad brings a collection into a knowledge base.
type evalLoad struct {
	records store.KnowledgeBases
	service *ingest.Service
	stderr  io.Writer
	// ids are those of the texts of each document, by its own id: several where
	// the same bytes came more than once. They are one document, which stands for
	// all of them.
	ids    map[string][]string
	kb     store.KnowledgeBase
	jobs   []evalJob
	empty  int
	failed []ingestFailure
}

type evalJob struct{ name, id string }

// collection loads the set; what is there already is not ingested again.
func (l *evalLoad) collection(ctx context.Context, set *eval.Dataset) (err error) {
	if l.kb, err = l.records.KnowledgeBase(ctx, evalKB); errors.Is(err, store.ErrNotFound) {
		l.kb, err = l.service.CreateKnowledgeBase(ctx, store.KnowledgeBase{Name: evalKB, Description: set.Name})
	}
	if err != nil {
		return err
	}
	if set.ByPage {
		err = l.pdfs(ctx, set)
	} else {
		err = l.corpus(ctx, set)
	}
	if err != nil {
		return err
	}
	return l.wait(ctx)
}

func (l *evalLoad) corpus(ctx context.Context, set *eval.Dataset) error {
	corpus := set.Corpus()
	for doc, err := range corpus.Documents(ctx) {
		if err != nil {
			return err
		}
		body := doc.Text
		if strings.TrimSpace(body) == "" {
			if body = doc.Title; strings.TrimSpace(body) == "" {
				l.empty++
				continue
			}
		}
		err := l.submit(ctx, doc.ID, ingest.Upload{
			Name:     "document.txt",
			Path:     "corpus/" + url.PathEscape(doc.ID),
			Title:    doc.Title,
			MIME:     "text/plain",
			Body:     strings.NewReader(body),
			Metadata: store.Metadata{eval.MetadataID: doc.ID},
		})
		if err != nil {
			return err
		}
	}
	l.missing(corpus.Missing())
	return nil
}

// missing warns of judged documents that the collection does not bring: no
// system could find them.
func (l *evalLoad) missing(ids []string) {
	if len(ids) > 0 {
		fmt.Fprintf(l.stderr, "%d judged documents are not in the collection, for example %s\n", len(ids), ids[0])
	}
}

func (l *evalLoad) pdfs(ctx context.Context, set *eval.Dataset) error {
	files, err := set.Files()
	if err != nil {
		return err
	}
	l.missing(set.MissingFiles(files))
	for _, path := range files {
		if err := l.pdf(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func (l *evalLoad) pdf(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return l.submit(ctx, filepath.Base(path), ingest.Upload{Name: filepath.Base(path), Body: f})
}

func (l *evalLoad) submit(ctx context.Context, id string, up ingest.Upload) error {
	s, err := l.service.Submit(ctx, evalKB, up)
	if err != nil {
		return fmt.Errorf("document %q: %w", id, err)
	}
	if up.Metadata != nil {
		l.ids[s.Document.ID] = append(l.ids[s.Document.ID], id)
	}
	l.jobs = append(l.jobs, evalJob{name: id, id: s.Job.ID})
	return nil
}

// wait follows every job to its end.
func (l *evalLoad) wait(ctx context.Context) error {
	bar := newProgress(l.stderr, len(l.jobs))
	defer bar.finish()
	for _, j := range l.jobs {
		var last store.Job
		for job, err := range l.service.Watch(ctx, j.id) {
			if err != nil {
				return fmt.Errorf("document %q: %w", j.name, err)
			}
			last = job
		}
		if last.Status != store.StatusReady {
			l.failed = append(l.failed, ingestFailure{File: j.name, Error: last.Error})
		}
		bar.ended()
	}
	return nil
}

// locate lets a document stand for every text that it is, and goes by the
// collection's own rule for all others.
func (l *evalLoad) locate(set *eval.Dataset) eval.Locate {
	own := set.Locate()
	return func(h retrieval.Hit) []string {
		if ids := l.ids[h.DocumentID]; len(ids) > 1 {
			return ids
		}
		return own(h)
	}
}
