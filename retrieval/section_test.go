package retrieval_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/store"
)

// texts are normalised texts by document.
type texts map[string]string

func (t texts) ReadText(_ context.Context, document string, span store.Span) (string, error) {
	text, ok := t[document]
	if !ok || span.End > len(text) {
		return "", fmt.Errorf("text of %s: %w", document, store.ErrNotFound)
	}
	return text[span.Start:span.End], nil
}

// putSections stores a document whose sections are cut into sentences.
func (w *world) putSections(t *testing.T, kb, document string, all texts, sections ...[]string) {
	t.Helper()
	var body strings.Builder
	var chunks []store.Chunk
	for _, sentences := range sections {
		start := body.Len()
		var section []int
		for _, s := range sentences {
			if body.Len() > start {
				body.WriteByte(' ')
			}
			section = append(section, len(chunks))
			chunks = append(chunks, store.Chunk{
				ID: store.ChunkID(document, 1, len(chunks), s), KnowledgeBaseID: kb, DocumentID: document, Revision: 1,
				Ordinal: len(chunks), Text: s, Span: store.Span{Start: body.Len(), End: body.Len() + len(s)},
			})
			body.WriteString(s)
		}
		for _, i := range section {
			chunks[i].Parent = store.Section{Span: store.Span{Start: start, End: body.Len()}}
		}
		body.WriteString("\n\n")
	}
	all[document] = body.String()
	w.remove(document)
	w.add(chunks...)
	check(t, w.index.Replace(t.Context(), w.bases[kb], document, sequence(chunks)))
}

func TestOfASectionTheBestChunkIsTheHit(t *testing.T) {
	all := texts{}
	w := newWorld(t, func(c *retrieval.PipelineConfig) { c.Texts = all })
	w.bases["kb_1"] = store.KnowledgeBase{ID: "kb_1", Name: "kb_1", Chunking: store.Chunking{Parent: store.ParentChunking{Size: 100}}}
	w.putSections(t, "kb_1", "doc", all,
		[]string{"The moon rises at night.", "Nothing is here.", "A moon harvest at night."},
		[]string{"Moon cakes are sweet.", "They are baked."})
	w.put(t, "kb_1", "plain", "moon dust")

	got := w.retrieve(t, retrieval.Query{Text: "moon harvest night", Mode: retrieval.Lexical, TopK: 3})
	var shown []string
	for _, h := range got.Hits {
		line := h.Text + " <- " + h.ParentText
		for _, s := range h.Siblings {
			line += " +" + all["doc"][s.Span.Start:s.Span.End]
			if s.Score > h.Score || s.ID == h.ID {
				t.Errorf("sibling %v of %s with score %g", s, h.ID, h.Score)
			}
		}
		shown = append(shown, line)
	}
	want := []string{
		"A moon harvest at night. <- The moon rises at night. Nothing is here. A moon harvest at night. +The moon rises at night.",
		"Moon cakes are sweet. <- Moon cakes are sweet. They are baked.",
		"moon dust <- ",
	}
	if diff := cmp.Diff(want, shown); diff != "" || got.Degraded != nil {
		t.Error(diff, got.Degraded)
	}
}

func TestASectionThatHasChangedIsNotShown(t *testing.T) {
	all := texts{}
	w := newWorld(t, func(c *retrieval.PipelineConfig) { c.Texts = all })
	w.putSections(t, "kb_1", "doc", all, []string{"A moon harvest at night.", "More."})
	for name, text := range map[string]string{
		"other": strings.ToUpper(all["doc"]), "short": "A moon", "gone": "",
	} {
		all["doc"] = text
		if name == "gone" {
			delete(all, "doc")
		}
		got := w.retrieve(t, retrieval.Query{Text: "moon harvest", Mode: retrieval.Lexical})
		if len(got.Hits) != 1 || got.Hits[0].ParentText != "" || len(got.Degraded) != 1 || !strings.HasPrefix(got.Degraded[0], "sections: 1 are not shown: ") {
			t.Errorf("%s: %v, degraded %q", name, got.Hits, got.Degraded)
		}
	}
}
