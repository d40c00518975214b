package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/retrieval/eval"
	"ragagent/store"
)

type evalCmd struct {
	modelFlags
	Dataset   string   `help:"Folder in BEIR layout: corpus.jsonl (or pdfs/), queries.jsonl, qrels/test.tsv." required:"" type:"existingdir" placeholder:"DIR"`
	Split     string   `help:"Name of the qrels file." default:"test"`
	TopK      int      `name:"top-k" help:"Depth of the rankings." default:"100"`
	Mode      string   `help:"hybrid, lexical or dense." default:"hybrid" enum:"hybrid,lexical,dense"`
	JSON      bool     `name:"json" help:"Print the figures as one JSON object."`
	RunFile   string   `name:"run" help:"Write the rankings as a TREC run file." type:"path" placeholder:"FILE"`
	Keep      string   `help:"Keep the ingested data in this folder, and use it if it is there." type:"path" placeholder:"DIR"`
	Workers   int      `help:"Questions asked at a time; latencies are measured with 1." default:"1"`
	FailUnder []string `help:"Fail if a figure is lower, for example ndcg@10=0.41." placeholder:"NAME=X"`
}

// evalKB is the name of the knowledge base a collection is loaded into.
const evalKB = "eval"

// Run ingests the collection through the real pipeline, asks every judged
// question through the real retrieval path and prints the figures.
func (c *evalCmd) Run(e *env) (err error) {
	bars := make([]eval.Bar, len(c.FailUnder))
	for i, text := range c.FailUnder {
		if bars[i], err = eval.ParseBar(text); err != nil {
			return err
		}
	}
	set, err := eval.OpenDataset(c.Dataset, c.Split)
	if err != nil {
		return err
	}
	dir := c.Keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "ragagent-eval-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	app, err := openApp(e.ctx, appConfig{data: dir, models: c.modelFlags, log: warnings(e.stderr)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	if err := app.start(e.ctx); err != nil {
		return err
	}
	load := &evalLoad{service: app.service, twins: map[string][]string{}, stderr: e.stderr}
	kb, err := load.collection(e.ctx, set)
	if err != nil {
		return err
	}
	result, err := c.ask(e.ctx, app.retriever, kb, set, load)
	if err != nil {
		return err
	}
	return c.print(e, result, load, bars)
}

func (c *evalCmd) ask(ctx context.Context, r retrieval.Retriever, kb string, set *eval.Dataset, load *evalLoad) (*eval.Result, error) {
	runner, err := eval.NewRunner(eval.Config{
		Retriever:      r,
		KnowledgeBases: []string{kb},
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

func (c *evalCmd) print(e *env, result *eval.Result, load *evalLoad, bars []eval.Bar) error {
	if c.RunFile != "" {
		if err := writeRun(c.RunFile, result.Run()); err != nil {
			return err
		}
	}
	if load.empty > 0 {
		fmt.Fprintf(e.stderr, "%d documents of the collection have no text and cannot be found\n", load.empty)
	}
	for _, f := range load.failed {
		fmt.Fprintf(e.stderr, "failed: %s: %s\n", f.File, f.Error)
	}
	sum := result.Summary()
	raw, err := json.Marshal(sum)
	if err != nil {
		return err
	}
	if c.JSON {
		fmt.Fprintln(e.stdout, string(raw))
	} else {
		printFigures(e.stdout, raw)
	}
	if missed := sum.Under(bars); len(missed) > 0 {
		for _, b := range missed {
			v, _ := sum.Figure(b.Name)
			fmt.Fprintf(e.stderr, "%s is %.4f, below %g\n", b.Name, v, b.Min)
		}
		return errSilent
	}
	return nil
}

// printFigures prints a flat JSON object as a table, in its own order.
func printFigures(w io.Writer, raw []byte) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return
		}
		var value any
		if dec.Decode(&value) != nil {
			return
		}
		fmt.Fprintf(w, "%-16v %v\n", key, value)
	}
}

func writeRun(path string, run eval.Run) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return eval.WriteRun(f, run, "ragagent")
}

// evalLoad brings a collection into a knowledge base.
type evalLoad struct {
	service *ingest.Service
	stderr  io.Writer
	// twins are the further ids of documents whose bytes came more than once:
	// they are one document here, which stands for all its ids.
	twins  map[string][]string
	jobs   []evalJob
	empty  int
	failed []ingestFailure
}

type evalJob struct{ name, id string }

// collection loads the set unless the knowledge base is there already, and
// returns its id.
func (l *evalLoad) collection(ctx context.Context, set *eval.Dataset) (string, error) {
	kb, err := l.service.CreateKnowledgeBase(ctx, store.KnowledgeBase{Name: evalKB, Description: set.Name})
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return "", err
	}
	if set.ByPage {
		err = l.pdfs(ctx, set)
	} else {
		err = l.corpus(ctx, set)
	}
	if err != nil {
		return "", err
	}
	if err := l.wait(ctx); err != nil {
		return "", err
	}
	if kb.ID == "" {
		return evalKB, nil
	}
	return kb.ID, nil
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
	if first, ok := s.Document.Metadata[eval.MetadataID].(string); ok && first != id {
		l.twins[first] = append(l.twins[first], id)
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

// locate adds the twins' ids to what the collection's own rule says.
func (l *evalLoad) locate(set *eval.Dataset) eval.Locate {
	own := set.Locate()
	if len(l.twins) == 0 {
		return own
	}
	return func(h retrieval.Hit) []string {
		ids := own(h)
		for _, id := range ids[:len(ids):len(ids)] {
			ids = append(ids, l.twins[id]...)
		}
		return ids
	}
}
