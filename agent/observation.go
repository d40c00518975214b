package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"ragagent/agent/tool"
	"ragagent/store"
)

// observationData is llm.Message.Data of a tool message: what the model is
// shown, for models that read structure instead of text.
type observationData struct {
	// Result is the tool's own Result.Data.
	Result   json.RawMessage `json:"result,omitempty"`
	Passages []passageData   `json:"passages,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// passageData is a shown passage under the id it is cited by.
type passageData struct {
	ID            int      `json:"id"`
	KnowledgeBase string   `json:"knowledge_base"`
	Document      string   `json:"document"`
	Title         string   `json:"title,omitempty"`
	Headings      []string `json:"headings,omitempty"`
	PageStart     int      `json:"page_start,omitempty"`
	PageEnd       int      `json:"page_end,omitempty"`
	Score         float64  `json:"score"`
	Context       string   `json:"context,omitempty"`
	Text          string   `json:"text"`
}

// renderer writes results for the model within a budget of tokens.
type renderer struct {
	budget int
	out    strings.Builder
	data   observationData
	more   string // what to call read_more with
	rest   string // of the tool's own text, what there was no room for
}

// render writes a result as the observation and returns it with its
// machine-readable form, and with the rest of its text that was cut off, which
// read_more can be asked for by the call's id. Passages get their ids as they
// are written: one that no longer fits gets none.
func render(l *ledger, result tool.Result, budget int, callID string) (text string, data json.RawMessage, rest string) {
	r := renderer{budget: budget, more: callID}
	note := cutTokens(result.Note, budget/4)
	r.budget -= estimateTokens(note)
	r.text(body(result, r.budget), len(result.Passages) > 0)
	for i, p := range result.Passages {
		if r.full() {
			r.line(fmt.Sprintf("(%d more sources are not shown: ask more precisely)", len(result.Passages)-i))
			break
		}
		if s := l.admit(p); s.known {
			r.again(s)
		} else {
			r.source(s, len(result.Passages)-i)
		}
	}
	if note != "" {
		r.line(disarm(note))
	}
	if r.out.Len() == 0 {
		r.line("(the tool returned nothing)")
	}
	r.data.Result = result.Data
	data, err := json.Marshal(r.data)
	if err != nil { // Result.Data is not JSON: the text says it all the same
		r.data.Result = nil
		data, _ = json.Marshal(r.data)
	}
	return strings.TrimRight(r.out.String(), "\n"), data, r.rest
}

func (r *renderer) line(s string) {
	r.out.WriteString(s)
	r.out.WriteByte('\n')
}

// leastRoom is what a source needs to be of use, in tokens.
const leastRoom = 60

// full says that another source would be too short to be of use.
func (r *renderer) full() bool { return r.budget < leastRoom }

// text writes the tool's own text, at most a quarter of the budget if sources follow.
func (r *renderer) text(s string, sourcesFollow bool) {
	if s == "" {
		return
	}
	most := r.budget
	if sourcesFollow {
		most /= 4
	}
	cut := cutTokens(s, most)
	r.line(disarm(cut))
	if len(cut) < len(s) {
		r.rest = strings.TrimLeft(s[len(cut):], " \n")
		r.line(fmt.Sprintf(`(cut: about %d tokens more; call %s with {"call": %q} to read on)`, estimateTokens(r.rest), readMore, r.more))
	}
	r.budget -= estimateTokens(cut)
}

// again names a passage that an earlier observation of the run shows: the model
// needs to know that it was found, not to read it twice. Models that read
// structure get it whole.
func (r *renderer) again(s source) {
	head := fmt.Sprintf("Source %d (%s, score=%.3f): shown above, cite it as [%d]\n", s.ID, inName(s.KnowledgeBase), s.Score, s.ID)
	r.budget -= estimateTokens(head)
	r.out.WriteString(head)
	r.passage(s, s.Context, s.Text)
}

// source writes one passage. What comes from documents stands on lines that
// cannot be taken for the server's own: names are single lines, the content is
// fenced by tags that it cannot contain. It is one of the last sources: a
// section takes no more than its share of the room, what was found in it aside.
func (r *renderer) source(s source, sources int) {
	head := fmt.Sprintf("Source %d (%s, score=%.3f):\n", s.ID, inName(s.KnowledgeBase), s.Score)
	head += "Document: " + inName(s.DocumentName) + "\n"
	if s.PageStart > 0 {
		head += "Page: " + pages(s.PageStart, s.PageEnd) + "\n"
	}
	if len(s.Headings) > 0 {
		head += "Section: " + inName(strings.Join(s.Headings, " > ")) + "\n"
	}
	head += fmt.Sprintf("Citation: [%d]\n", s.ID)
	r.budget -= estimateTokens(head) + 8 // the tags
	r.out.WriteString(head)
	r.line("<content>")
	context := cutTokens(s.Context, max(r.budget, 0)/4)
	r.budget -= estimateTokens(context)
	if context != "" {
		r.line(disarm(context))
		r.line("...")
	}
	text := r.content(s, sources)
	r.budget -= estimateTokens(text)
	r.line("</content>")
	r.passage(s, context, text)
}

func (r *renderer) passage(s source, context, text string) {
	r.data.Passages = append(r.data.Passages, passageData{
		ID: s.ID, KnowledgeBase: s.KnowledgeBase, Document: s.DocumentName, Title: s.Title, Headings: s.Headings,
		PageStart: s.PageStart, PageEnd: s.PageEnd, Score: s.Score, Context: context, Text: text,
	})
}

// content writes what there is room for of a source's text and returns it.
func (r *renderer) content(s source, sources int) string {
	room := max(r.budget, 0)
	if s.Found == (store.Section{}) {
		text := cutTokens(s.Text, room)
		r.line(disarm(text))
		if len(text) < len(s.Text) {
			r.line("(cut)")
		}
		return text
	}
	found := store.Span{Start: s.Found.Start - s.Span.Start, End: s.Found.End - s.Span.Start}
	shown := around(s.Text, found, min(room, max(room/sources, estimateTokens(s.Text[found.Start:found.End]))))
	if shown.Start > 0 {
		r.line("(cut)")
	}
	r.stretch(s.Text[shown.Start:found.Start])
	r.line(fmt.Sprintf(`<found citation="[%d]">`, s.ID))
	r.stretch(s.Text[found.Start:min(found.End, shown.End)])
	r.line("</found>")
	r.stretch(s.Text[min(found.End, shown.End):shown.End])
	if shown.End < len(s.Text) {
		r.line("(cut)")
	}
	return s.Text[shown.Start:shown.End]
}

// stretch writes a part of a text, if there is anything in it.
func (r *renderer) stretch(text string) {
	if text = strings.Trim(text, "\n "); text != "" {
		r.line(disarm(text))
	}
}

func pages(from, to int) string {
	if to <= from {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}
