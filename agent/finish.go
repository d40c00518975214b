package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"ragagent/agent/cite"
	"ragagent/store"
)

// finishTimeout bounds checking the citations and storing the run, which go on
// when the run itself was cancelled.
const finishTimeout = 15 * time.Second

// finish makes the result and stores the run.
func (r *run) finish(ctx context.Context, end ending) Result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	result := Result{
		Answer:         r.answer.String(),
		Steps:          append([]Step{}, r.steps...),
		TotalSteps:     len(r.steps),
		FinishedReason: end.reason,
		Error:          end.note,
		LimitReached:   end.limit,
		Usage:          r.usage,
		Confidence:     r.confidence,
		Attachments:    r.attached,
		ConversationID: r.conversation.ID,
		MessageID:      r.messageID,
		RunID:          r.id,
	}
	for _, s := range r.steps {
		result.TotalToolCalls += len(s.ToolCalls)
	}
	cited := result.Answer
	if r.output != nil {
		result.Output, cited = r.output.value, r.output.strings
	}
	result.Citations = r.citations(ctx, cited)
	result.Answerable = r.answerable(result, end)
	if !result.Answerable {
		result.Closest = r.closest(ctx, result.Citations)
	}
	result.TotalElapsedMS = r.agent.cfg.Now().Sub(r.started).Milliseconds()
	r.keep(ctx, &result)
	result.Degraded = append([]string{}, r.degraded...)
	return result
}

// keep stores a run that has ended, or one that waits.
func (r *run) keep(ctx context.Context, result *Result) {
	if r.pending != nil {
		result.Interrupts = r.pending.Waits
		err := r.checkpoint(ctx, store.CheckpointWaiting)
		if err == nil {
			return
		}
		result.FinishedReason, result.Error, result.Interrupts = Failed, "the run could not be saved to wait: "+err.Error(), nil
	}
	err := r.store(ctx, *result)
	if err != nil {
		r.degrade("the conversation could not be stored: " + err.Error())
	}
	if err != nil || r.agent.cfg.Conversations == nil {
		r.forget(ctx)
	}
}

// answerable says whether the documents told: there is an answer, it does not
// begin as a refusal, if sources were searched at least one is cited, and if
// tools were called not all of them failed.
func (r *run) answerable(result Result, end ending) bool {
	text := strings.TrimSpace(result.Answer)
	switch {
	case r.output != nil:
		return result.Output != nil
	case text == "" || text == noAnswer || strings.HasPrefix(text, RefusalText):
		return false
	case end.reason != Complete && end.reason != MaxSteps:
		return len(result.Citations) > 0
	}
	if r.searched {
		return len(result.Citations) > 0
	}
	return r.worked || result.TotalToolCalls == 0
}

// citations returns one citation per id in the answer, in ascending order:
// where in the passage the statements that cite it are best supported.
//
// A passage was compared with the truth before the model saw it, so an id in
// the answer stood for text that was really there. Its quote is read once more
// now; one that has gone meanwhile, or cannot be read, stays with Verified
// false, because its marker has been streamed already.
func (r *run) citations(ctx context.Context, answer string) []store.Citation {
	statements := map[int][]string{}
	for _, s := range cite.Statements(answer, r.ledger.known) {
		for _, id := range s.IDs {
			statements[id] = append(statements[id], s.Text)
		}
	}
	citations := make([]store.Citation, 0, len(statements))
	for id, texts := range statements {
		citations = append(citations, r.citation(ctx, id, texts))
	}
	slices.SortFunc(citations, func(a, b store.Citation) int { return a.ID - b.ID })
	return citations
}

// citation quotes the passage id where it supports the statements best.
func (r *run) citation(ctx context.Context, id int, statements []string) store.Citation {
	p := r.ledger.passages[id-1]
	quote := r.agent.quoter.Find(p.Text, statements)
	c := store.Citation{
		ID: id, DocumentID: p.DocumentID, DocumentName: p.DocumentName, KnowledgeBase: p.KnowledgeBase, ChunkID: p.ChunkID,
		PageStart: p.PageStart, PageEnd: p.PageEnd,
		CharStart: p.Span.Start + quote.Start, CharEnd: p.Span.Start + quote.End,
		Quote: p.Text[quote.Start:quote.End],
	}
	if p.Found.Holds(store.Span{Start: c.CharStart, End: c.CharEnd}) { // of a section it is known where that stands
		c.PageStart, c.PageEnd = p.Found.PageStart, p.Found.PageEnd
	}
	if texts := r.agent.cfg.Texts; texts != nil && c.Quote != "" {
		held, err := texts.ReadText(ctx, c.DocumentID, store.Span{Start: c.CharStart, End: c.CharEnd})
		c.Verified = err == nil && held == c.Quote
	}
	return c
}

// closest returns the best passages that are not cited, for a reader who wants
// to look for himself: at most three.
func (r *run) closest(ctx context.Context, cited []store.Citation) []store.Citation {
	const most = 3
	ids := make([]int, 0, len(r.ledger.passages))
	for i := range r.ledger.passages {
		if !slices.ContainsFunc(cited, func(c store.Citation) bool { return c.ID == i+1 }) {
			ids = append(ids, i+1)
		}
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		switch pa, pb := r.ledger.passages[a-1].Score, r.ledger.passages[b-1].Score; {
		case pa > pb:
			return -1
		case pa < pb:
			return 1
		}
		return 0
	})
	out := make([]store.Citation, 0, most)
	for _, id := range ids[:min(most, len(ids))] {
		out = append(out, r.citation(ctx, id, []string{r.question}))
	}
	return out
}
