package extractive_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/agent/llm/extractive"
	"ragagent/agent/tool"
	"ragagent/agent/tool/builtin"
	"ragagent/retrieval"
	"ragagent/store"
)

// library is a retriever over fixed chunks that returns them all.
type library struct {
	result retrieval.Result
	asked  []retrieval.Query
	err    error
}

func (l *library) Retrieve(_ context.Context, q retrieval.Query) (retrieval.Result, error) {
	l.asked = append(l.asked, q)
	l.result.Query = q.Text
	return l.result, l.err
}

type texts map[string]string

func (d texts) ReadText(_ context.Context, id string, span store.Span) (string, error) {
	text, ok := d[id]
	if !ok || span.End > len(text) {
		return "", store.ErrNotFound
	}
	return text[span.Start:span.End], nil
}

func hit(d texts, id string, score float64) retrieval.Hit {
	return retrieval.Hit{
		Chunk:        store.Chunk{ID: "chk_" + id, DocumentID: id, Title: id, Span: store.Span{End: len(d[id])}, Text: d[id]},
		DocumentName: id + ".txt", KnowledgeBaseName: "kb", Score: score,
	}
}

func ask(t *testing.T, l *library, d texts, question string) agent.Result {
	t.Helper()
	model, err := extractive.New(extractive.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(agent.Config{Model: model, Texts: d})
	if err != nil {
		t.Fatal(err)
	}
	search, err := builtin.NewDatasetRetriever(builtin.RetrieverConfig{
		Retriever: l, KnowledgeBases: []store.KnowledgeBase{{ID: "kb_1", Name: "kb"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := agent.Collect(a.Run(t.Context(), agent.Input{Question: question, Tools: []tool.Tool{search}}))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAnswersWordForWordWithCitations(t *testing.T) {
	d := texts{
		"tides": "Tides differ. The tidal range at Saint-Malo reaches\n12 metres [14]. Visitors come for oysters.",
		"other": "The Baltic Sea has almost no tide.",
	}
	l := &library{result: retrieval.Result{
		Hits:  []retrieval.Hit{hit(d, "tides", .92), hit(d, "other", .3)},
		Terms: []retrieval.TermWeight{{Term: "tidal", IDF: 3, DF: 2}, {Term: "rang", IDF: 3, DF: 2}, {Term: "saint", IDF: 4, DF: 1}, {Term: "malo", IDF: 5, DF: 1}},
	}}
	got := ask(t, l, d, "How high is the tidal range at Saint-Malo?")
	if want := "The tidal range at Saint-Malo reaches 12 metres. [1]"; got.Answer != want {
		t.Errorf("answer %q, want %q", got.Answer, want)
	}
	wantCitations := []store.Citation{{
		ID: 1, DocumentID: "tides", DocumentName: "tides.txt", KnowledgeBase: "kb", ChunkID: "chk_tides",
		CharStart: 14, CharEnd: 68, Quote: "The tidal range at Saint-Malo reaches\n12 metres [14].", Verified: true,
	}}
	wantCitations[0].CharEnd = 14 + len(wantCitations[0].Quote)
	if diff := cmp.Diff(wantCitations, got.Citations); diff != "" {
		t.Error(diff)
	}
	if !got.Answerable || got.FinishedReason != agent.Complete || got.TotalToolCalls != 1 || got.TotalSteps != 2 || got.Usage.TotalTokens != 0 {
		t.Errorf("%+v", got)
	}
	if got.Confidence == nil || *got.Confidence <= 0 {
		t.Errorf("confidence %v", got.Confidence)
	}
	if diff := cmp.Diff(json.RawMessage(`{"query":"How high is the tidal range at Saint-Malo?"}`), got.Steps[0].ToolCalls[0].Arguments); diff != "" {
		t.Error(diff)
	}
}

func TestRefusesWhatTheDocumentsDoNotTell(t *testing.T) {
	d := texts{"tides": "Tides differ. The tidal range at Saint-Malo reaches 12 metres."}
	l := &library{result: retrieval.Result{
		Hits:  []retrieval.Hit{hit(d, "tides", .1)},
		Terms: []retrieval.TermWeight{{Term: "presid", IDF: 7}, {Term: "peru", IDF: 7}, {Term: "tide", IDF: 1, DF: 3}},
	}}
	got := ask(t, l, d, "Who was president of Peru when tides were discovered?")
	if got.Answer != extractive.Refusal+" None of them mentions “Peru”." || got.Answerable || len(got.Citations) != 0 {
		t.Errorf("%q, answerable %v", got.Answer, got.Answerable)
	}
	if len(got.Closest) != 1 || !got.Closest[0].Verified {
		t.Errorf("closest %+v", got.Closest)
	}
	if extractive.Refusal != agent.RefusalText {
		t.Errorf("two ways to refuse: %q and %q", extractive.Refusal, agent.RefusalText)
	}
}

func TestNothingFoundAndFailure(t *testing.T) {
	if got := ask(t, &library{}, nil, "Why?"); got.Answer != extractive.Refusal || got.Answerable {
		t.Errorf("nothing found: %q", got.Answer)
	}
	got := ask(t, &library{err: context.DeadlineExceeded}, nil, "Why?")
	if !strings.HasPrefix(got.Answer, "The search failed: ") || got.Answerable {
		t.Errorf("failure: %q, answerable %v", got.Answer, got.Answerable)
	}
}

func TestChinese(t *testing.T) {
	d := texts{"zh": "长城是中国古代的防御工程。长城全长约两万一千公里。它每年有上千万游客。"}
	l := &library{result: retrieval.Result{
		Hits: []retrieval.Hit{hit(d, "zh", .9)},
		Terms: []retrieval.TermWeight{{Term: "长城", IDF: 2, DF: 1}, {Term: "城全", IDF: 2, DF: 1}, {Term: "全长", IDF: 2, DF: 1},
			{Term: "长多", IDF: 3}, {Term: "多少", IDF: 3}, {Term: "公里", IDF: 2, DF: 1}, {Term: "少公", IDF: 3}},
	}}
	got := ask(t, l, d, "长城全长多少公里？")
	if !strings.Contains(got.Answer, "长城全长约两万一千公里。 [1]") || len(got.Citations) != 1 || !got.Citations[0].Verified {
		t.Errorf("%q, %+v", got.Answer, got.Citations)
	}
}

func TestRowOfATableComesWithItsHeader(t *testing.T) {
	d := texts{"report": "The plant grew.\n\nThe table shows our research expense:\n\n(Dollars in millions)\n\n" +
		"Years ended December 31,  2022  2021\nAirplanes  $1,510  $1,140\nTotal  $2,852  $2,249\n\nResearch expense rose in 2021."}
	l := &library{result: retrieval.Result{
		Hits:  []retrieval.Hit{hit(d, "report", .95)},
		Terms: []retrieval.TermWeight{{Term: "much", IDF: 6, DF: 1}, {Term: "research", IDF: 4, DF: 2}, {Term: "expens", IDF: 3, DF: 4}, {Term: "2022", IDF: 1, DF: 9}},
	}}
	got := ask(t, l, d, "How much was the research expense in 2022?")
	want := "The table shows our research expense: [1]\nYears ended December 31, 2022 2021 [1]\nTotal $2,852 $2,249 [1]"
	if !strings.HasPrefix(got.Answer, want) {
		t.Errorf("answer %q, want it to begin with %q", got.Answer, want)
	}
	quote := "The table shows our research expense:\n\n(Dollars in millions)\n\nYears ended December 31,  2022  2021\nAirplanes  $1,510  $1,140\nTotal  $2,852  $2,249"
	if c := got.Citations[0]; c.Quote != quote || !c.Verified {
		t.Errorf("citation %+v", c)
	}
}

func TestRowOfATableThatGoesOnComesWithItsContext(t *testing.T) {
	d := texts{"report": "Airplanes  $1,510  $1,140\nResearch in total  $2,852  $2,249\n\nOther words stand here."}
	h := hit(d, "report", .95)
	h.Context = "The table shows our research expense:\nYears ended December 31, 2022 2021"
	l := &library{result: retrieval.Result{
		Hits:  []retrieval.Hit{h},
		Terms: []retrieval.TermWeight{{Term: "research", IDF: 4, DF: 2}, {Term: "expens", IDF: 3, DF: 4}, {Term: "2022", IDF: 1, DF: 9}},
	}}
	got := ask(t, l, d, "How much was the research expense in 2022?")
	want := "The table shows our research expense: [1]\nYears ended December 31, 2022 2021 [1]\nAirplanes $1,510 $1,140 [1]\nResearch in total $2,852 $2,249 [1]"
	if !strings.HasPrefix(got.Answer, want) {
		t.Errorf("answer %q, want it to begin with %q", got.Answer, want)
	}
	if c := got.Citations[0]; c.Quote != "Airplanes  $1,510  $1,140\nResearch in total  $2,852  $2,249" || !c.Verified {
		t.Errorf("citation %+v", c)
	}
}

func TestWithoutAnythingToSearch(t *testing.T) {
	model, err := extractive.New(extractive.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var last llm.Delta
	for d, err := range model.Stream(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "Hello?"}}}) {
		if err != nil {
			t.Fatal(err)
		}
		last = d
	}
	if last.Finish != llm.FinishStop || last.Text == "" {
		t.Errorf("last delta %+v", last)
	}
}

func TestRefusesNamesThatNoDocumentHas(t *testing.T) {
	d := texts{"report": "Our products are phones, tablets and watches. We sell them in our own stores."}
	l := &library{result: retrieval.Result{
		Hits:  []retrieval.Hit{hit(d, "report", .95)},
		Terms: []retrieval.TermWeight{{Term: "product", IDF: 3, DF: 2}, {Term: "sell", IDF: 3, DF: 2}, {Term: "tesla", IDF: 7}},
	}}
	got := ask(t, l, d, "Which products does Tesla sell?")
	const want = "The documents do not tell. None of them mentions “Tesla”."
	if got.Answer != want || got.Answerable || len(got.Citations) != 0 || len(got.Closest) != 1 {
		t.Errorf("%+v", got)
	}
	l.result.Terms = l.result.Terms[:2]
	if got := ask(t, l, d, "Which products do they sell?"); !got.Answerable {
		t.Errorf("%q", got.Answer)
	}
}
