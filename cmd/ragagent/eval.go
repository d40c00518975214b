package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ragagent/retrieval/eval"
)

// evalCmd is `eval` with its further commands.
type evalCmd struct {
	Run     evalRunCmd     `cmd:"" default:"withargs" help:"Measure retrieval on a collection (the default)."`
	Answers evalAnswersCmd `cmd:"" help:"Measure answers: what they cite and what they refuse."`
	Score   evalScoreCmd   `cmd:"" help:"Measure a TREC run file against judgements."`
	Draft   evalDraftCmd   `cmd:"" help:"Draft questions from a knowledge base, for a person to accept or strike out."`
	Compare evalCompareCmd `cmd:"" help:"Compare two TREC run files by a paired test."`
}

// evalData says which collection is evaluated and where it is loaded.
type evalData struct {
	modelFlags
	Dataset string `help:"Folder in BEIR layout: corpus.jsonl (or pdfs/), queries.jsonl, qrels/test.tsv." required:"" type:"existingdir" placeholder:"DIR"`
	Split   string `help:"Name of the qrels file." default:"test"`
	Qrels   string `help:"Judgements in another place, as TREC qrels or BEIR TSV." type:"existingfile" placeholder:"FILE"`
	Keep    string `help:"Keep the ingested data in this folder, and use it if it is there." type:"path" placeholder:"DIR"`
	JSON    bool   `name:"json" help:"Print the figures as one JSON object."`
}

// evalKB is the name of the knowledge base a collection is loaded into.
const evalKB = "eval"

// open reads the collection's questions and judgements, and says what is odd
// about them.
func (c *evalData) open(e *env) (*eval.Dataset, error) {
	var set *eval.Dataset
	var err error
	if c.Qrels != "" {
		set, err = eval.OpenJudged(c.Dataset, c.Qrels)
	} else {
		set, err = eval.OpenDataset(c.Dataset, c.Split)
	}
	if err != nil {
		return nil, err
	}
	if set.Struck > 0 {
		fmt.Fprintf(e.stderr, "%d questions are struck out and left out\n", set.Struck)
	}
	if set.Undecided > 0 {
		fmt.Fprintf(e.stderr, "%d questions are drafts that nobody has accepted or struck out yet\n", set.Undecided)
	}
	return set, nil
}

// loaded ingests the collection through the real pipeline, in a data folder of
// its own, and hands the running product over.
func (c *evalData) loaded(e *env, set *eval.Dataset, do func(*app, *evalLoad) error) (err error) {
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
	if err := app.weights.Ensure(e.ctx, load.kb); err != nil {
		return err
	}
	if err := app.topics.Settle(e.ctx); err != nil {
		return err
	}
	if load.empty > 0 {
		fmt.Fprintf(e.stderr, "%d documents of the collection have no text and cannot be found\n", load.empty)
	}
	for _, f := range load.failed {
		fmt.Fprintf(e.stderr, "failed: %s: %s\n", f.File, f.Error)
	}
	return do(app, load)
}

// writable says of files that are to be written in the end whether they can be,
// before the work of minutes is lost for it.
func writable(files ...string) error {
	for _, path := range files {
		if path == "" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return usagef("%s cannot be written: its folder is not there", path)
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return usagef("%s cannot be written: it is a folder", path)
		}
	}
	return nil
}
