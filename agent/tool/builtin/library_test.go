package builtin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ragagent/agent/tool"
	"ragagent/agent/tool/builtin"
	"ragagent/store"
)

// shelves is a library in memory.
type shelves struct {
	docs  []store.Document
	texts map[string]string
}

func (l shelves) Document(_ context.Context, kb, id string) (store.Document, error) {
	for _, d := range l.docs {
		if d.ID == id && d.KnowledgeBaseID == kb {
			return d, nil
		}
	}
	return store.Document{}, store.ErrNotFound
}

func (l shelves) Documents(_ context.Context, kb string, page store.Page) ([]store.Document, error) {
	var out []store.Document
	for _, d := range l.docs {
		if d.KnowledgeBaseID == kb && d.ID > page.After && len(out) < page.Size() {
			out = append(out, d)
		}
	}
	return out, nil
}

func (l shelves) ReadText(_ context.Context, id string, span store.Span) (string, error) {
	text, ok := l.texts[id]
	if !ok || span.End > len(text) {
		return "", store.ErrNotFound
	}
	return text[span.Start:span.End], nil
}

func (l *shelves) add(kb, id, name, text string) {
	l.docs = append(l.docs, store.Document{
		ID: id, KnowledgeBaseID: kb, Name: name, Revision: 1, TextSHA256: "x", TextBytes: int64(len(text)),
	})
	if l.texts == nil {
		l.texts = map[string]string{}
	}
	l.texts[id] = text
}

// documentTools of one knowledge base kb_1, by name.
func documentTools(t interface{ Fatal(...any) }, l shelves, filter string) map[string]tool.Tool {
	f, err := store.ParseFilter([]byte(filter))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := builtin.NewDocumentTools(builtin.ReaderConfig{
		Library: l, KnowledgeBases: []store.KnowledgeBase{{ID: "kb_1", Name: "coast"}}, Filter: f,
	})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]tool.Tool{}
	for _, tl := range tools {
		byName[tl.Spec().Name] = tl
	}
	return byName
}

// TestDocumentsOfTheRunOnly: another knowledge base's document, and one that
// the filter leaves out, are unknown by id and by name to every tool.
func TestDocumentsOfTheRunOnly(t *testing.T) {
	var l shelves
	l.add("kb_1", "doc_1", "a.md", "Alpha beta.")
	l.add("kb_1", "doc_2", "secret.md", "Secret alpha.")
	l.add("kb_2", "doc_3", "foreign.md", "Foreign alpha.")
	tools := documentTools(t, l, `{"name": {"ne": "secret.md"}}`)
	got, err := use(t, tools["list_documents"], `{}`)
	if want := "- doc_1 a.md (coast, 11 bytes of text)\n"; err != nil || got != want {
		t.Errorf("listed %q (%v), want %q", got, err, want)
	}
	for _, d := range []string{"doc_2", "secret.md", "doc_3", "foreign.md"} {
		for name, args := range map[string]string{
			"read_document":    fmt.Sprintf(`{"document":%q}`, d),
			"find_in_document": fmt.Sprintf(`{"document":%q,"text":"alpha"}`, d),
		} {
			if got, err := use(t, tools[name], args); err == nil || !strings.Contains(err.Error(), "no such document") {
				t.Errorf("%s of %s gives %q, %v", name, d, got, err)
			}
		}
	}
}

func TestListGoesOn(t *testing.T) {
	var l shelves
	for i := range 120 {
		l.add("kb_1", fmt.Sprintf("doc_%03d", i), fmt.Sprintf("n%03d.md", i), "x")
	}
	tools := documentTools(t, l, ``)
	seen := 0
	for skip := 0; skip < 120; skip += 50 {
		got, err := use(t, tools["list_documents"], fmt.Sprintf(`{"skip":%d}`, skip))
		if err != nil {
			t.Fatal(err)
		}
		seen += strings.Count(got, "- doc_")
		if more := strings.Contains(got, fmt.Sprintf("skip %d", skip+50)); more != (skip < 100) {
			t.Errorf("skip %d: more is %v", skip, more)
		}
	}
	if seen != 120 {
		t.Errorf("saw %d documents, want 120", seen)
	}
	if got, _ := use(t, tools["list_documents"], `{"name":"N007"}`); strings.Count(got, "\n") != 1 || !strings.Contains(got, "doc_007") {
		t.Errorf("by name: %q", got)
	}
}

// TestReadToTheEnd: the pages of a document, put together, are its text, and
// every passage is what the text holds at its span.
func TestReadToTheEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Repeat(rapid.StringMatching(`[a-zåé世 .\n]{1,40}`).Draw(rt, "text"), rapid.IntRange(1, 600).Draw(rt, "times"))
		var l shelves
		l.add("kb_1", "doc_1", "a.md", text)
		read := documentTools(rt, l, ``)["read_document"]
		var all strings.Builder
		for all.Len() < len(text) {
			got, err := read.Call(context.Background(), fmt.Appendf(nil, `{"document":"doc_1","offset":%d}`, all.Len()))
			if err != nil {
				rt.Fatal(err)
			}
			p := got.Passages[0]
			if p.Span.Start != all.Len() || text[p.Span.Start:p.Span.End] != p.Text || len(p.Text) > 6000 || p.Text == "" {
				rt.Fatalf("at %d: span %v of %d bytes", all.Len(), p.Span, len(p.Text))
			}
			all.WriteString(p.Text)
		}
		if all.String() != text {
			rt.Fatal("the pages are not the text")
		}
	})
}

// TestFindEverywhere: whatever the document's length, all places are found,
// over the seams of the windows too.
func TestFindEverywhere(t *testing.T) {
	const filler = "Lorem ipsum dolor sit amet. "
	var text strings.Builder
	var want []int
	for text.Len() < 700_000 {
		text.WriteString(strings.Repeat(filler, 1250))
		want = append(want, text.Len())
		text.WriteString("The Tidal\n  Range is high. ")
	}
	var l shelves
	l.add("kb_1", "doc_1", "a.md", text.String())
	find := documentTools(t, l, ``)["find_in_document"]
	var places []string
	for offset := 0; ; {
		got, err := find.Call(t.Context(), fmt.Appendf(nil, `{"document":"A.md","text":"the tidal range","offset":%d}`, offset))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range got.Passages {
			if text.String()[p.Span.Start:p.Span.End] != p.Text || !strings.Contains(p.Text, "Tidal\n  Range") {
				t.Errorf("passage %v is not the text there", p.Span)
			}
		}
		at, _, _ := strings.Cut(strings.TrimPrefix(got.Note, "It stands at byte "), ";")
		places = append(places, strings.Split(at, ", ")...)
		_, rest, more := strings.Cut(got.Note, "offset ")
		if !more {
			break
		}
		if _, err := fmt.Sscanf(rest, "%d", &offset); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(places, " "); got != strings.Trim(fmt.Sprint(want), "[]") {
		t.Errorf("found at %s, want %v", got, want)
	}
	if got, err := use(t, find, `{"document":"doc_1","text":"no such words"}`); err != nil || !strings.Contains(got, "does not stand") {
		t.Errorf("nothing: %q, %v", got, err)
	}
}
