package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ragagent/agent"
	"ragagent/api"
	"ragagent/retrieval"
	"ragagent/retrieval/eval"
	"ragagent/store"
)

type evalAnswersCmd struct {
	evalData
	Limit   int `help:"Ask only the first N questions of each kind; 0 asks all." default:"0"`
	Workers int `help:"Questions asked at a time; 0 means one per core." default:"0"`

	PerQuery  string   `help:"Write what was answered to every question and how it was judged, one JSON object a line." type:"path" placeholder:"FILE"`
	FailUnder []string `help:"Exit with 1 if a figure is lower, for example citation_precision=0.8." placeholder:"NAME=X"`
}

// Run asks every question through the agent and judges what the answers cite
// and what they refuse. Nothing of it is kept as conversations.
func (c *evalAnswersCmd) Run(e *env) error {
	bars, err := c.bars()
	if err != nil {
		return err
	}
	if err := writable(c.PerQuery); err != nil {
		return err
	}
	set, err := c.open(e)
	if err != nil {
		return err
	}
	return c.loaded(e, set, func(app *app, load *evalLoad) error {
		model, err := newModel(c.modelFlags)
		if err != nil {
			return err
		}
		answerer, err := agent.New(agent.Config{Model: model, Texts: app.service})
		if err != nil {
			return err
		}
		j := &judge{app: app, agent: answerer, set: set, locate: load.locate(set), kb: load.kb}
		replies, err := j.all(e.ctx, c.questions(set.Queries), c.questions(set.Unanswerable), c.Workers)
		if err != nil {
			return err
		}
		if c.PerQuery != "" {
			if err := writeFile(c.PerQuery, func(w io.Writer) error { return eval.WriteReplies(w, replies) }); err != nil {
				return err
			}
		}
		sum := eval.SummariseReplies(replies)
		if err := printFigures(e.stdout, sum, c.JSON); err != nil {
			return err
		}
		return evalNamed{bars: bars}.reached(e, sum.Figures())
	})
}

// bars are what --fail-under asks for; errors are of usage.
func (c *evalAnswersCmd) bars() ([]eval.Bar, error) {
	n := evalNamed{names: eval.AnswerFigures()}
	for _, text := range c.FailUnder {
		bar, err := eval.ParseBar(text)
		if err != nil {
			return nil, usageError{err}
		}
		n.bars = append(n.bars, bar)
	}
	return n.bars, n.known(false)
}

func (c *evalAnswersCmd) questions(all []eval.Question) []eval.Question {
	if c.Limit > 0 && len(all) > c.Limit {
		return all[:c.Limit]
	}
	return all
}

// judge asks questions and looks up what the answers point to.
type judge struct {
	app    *app
	agent  *agent.Agent
	set    *eval.Dataset
	locate eval.Locate
	kb     store.KnowledgeBase
}

// all asks both kinds of questions, a few at a time.
func (j *judge) all(ctx context.Context, answerable, unanswerable []eval.Question, workers int) ([]eval.Reply, error) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	replies := make([]eval.Reply, len(answerable)+len(unanswerable))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i, q := range slices.Concat(answerable, unanswerable) {
		group.Go(func() error {
			r, err := j.ask(ctx, q)
			if err != nil {
				return fmt.Errorf("question %q: %w", q.ID, err)
			}
			if r.Answerable = i < len(answerable); r.Answerable {
				r.Answers, r.Judged = j.set.Answers[q.ID].Texts, j.set.Qrels[q.ID]
			}
			replies[i] = r
			return nil
		})
	}
	return replies, group.Wait()
}

func (j *judge) ask(ctx context.Context, q eval.Question) (eval.Reply, error) {
	tools, err := j.app.tools(api.Scope{KnowledgeBases: []store.KnowledgeBase{j.kb}})
	if err != nil {
		return eval.Reply{}, err
	}
	begun := time.Now()
	res, err := agent.Collect(j.agent.Run(ctx, agent.Input{Question: q.Text, Tools: tools}))
	if err != nil {
		return eval.Reply{}, err
	}
	reply := eval.Reply{Query: q.ID, Text: q.Text, Answer: res.Answer, Refused: !res.Answerable, Elapsed: time.Since(begun)}
	if res.Confidence != nil {
		reply.Confidence = *res.Confidence
	}
	for _, cite := range res.Citations {
		cited, err := j.cited(ctx, cite)
		if err != nil {
			return reply, err
		}
		reply.Cited = append(reply.Cited, cited)
	}
	return reply, nil
}

// cited looks up the passage a citation points into.
func (j *judge) cited(ctx context.Context, c store.Citation) (eval.Cited, error) {
	chunks, err := j.app.records.ChunksByID(ctx, []string{c.ChunkID})
	if err != nil || len(chunks) == 0 {
		return eval.Cited{}, err
	}
	doc, err := j.app.records.Document(ctx, j.kb.ID, c.DocumentID)
	if err != nil {
		return eval.Cited{}, err
	}
	hit := retrieval.Hit{Chunk: chunks[0], DocumentName: doc.Name, Metadata: doc.Metadata}
	return eval.Cited{IDs: j.locate(hit), Text: chunks[0].Text}, nil
}
