package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"ragagent/agent/tool"
	"ragagent/store"
)

// pageBytes is how much of a text one call of read_document shows.
const pageBytes = 6000

type readArgs struct {
	Document string `json:"document" jsonschema:"id or name of the document"`
	Offset   int    `json:"offset,omitempty" jsonschema:"byte to begin at, 0 for the beginning"`
}

func newRead(s shelf) (tool.Tool, error) {
	spec := tool.Spec{
		Name:        "read_document",
		Description: fmt.Sprintf("Opens a document at a place and returns about %d bytes of its text, to answer from and to cite.", pageBytes),
		Idempotent:  true,
	}
	return tool.NewFunc(spec, func(ctx context.Context, a readArgs) (tool.Result, error) { return s.read(ctx, a) })
}

func (s shelf) read(ctx context.Context, a readArgs) (tool.Result, error) {
	h, err := s.find(ctx, a.Document)
	if err != nil {
		return tool.Result{}, err
	}
	end := int(h.TextBytes)
	if a.Offset < 0 || a.Offset >= max(end, 1) {
		return tool.Result{}, fmt.Errorf("offset %d is not in the document: its text has %d bytes", a.Offset, end)
	}
	span, text, err := s.whole(ctx, h.ID, store.Span{Start: a.Offset, End: min(a.Offset+pageBytes, end)})
	if err != nil {
		return tool.Result{}, err
	}
	if span.End < end {
		text = untilBreak(text)
		span.End = span.Start + len(text)
	}
	if text == "" {
		return tool.Text("The document has no text."), nil
	}
	r := tool.Result{Passages: []tool.Passage{h.passage(span, text)}, Note: fmt.Sprintf("This is all from byte %d to the end.", span.Start)}
	if span.End < end {
		r.Note = fmt.Sprintf("These are bytes %d to %d of %d: call again with offset %d for the next.", span.Start, span.End, end, span.End)
	}
	return r, nil
}

// whole reads a stretch of a text without the halves of characters at its ends.
func (s shelf) whole(ctx context.Context, id string, span store.Span) (store.Span, string, error) {
	text, err := s.Library.ReadText(ctx, id, span)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return span, "", errUnknown
	case err != nil:
		return span, "", fmt.Errorf("read the document: %w", err)
	}
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text, span.Start = text[1:], span.Start+1
	}
	for n := 0; n < utf8.UTFMax && len(text) > 0; n++ {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	span.End = span.Start + len(text)
	return span, text, nil
}

// untilBreak ends a stretch of text at a paragraph, line, sentence or word in
// its last third, where there is one.
func untilBreak(text string) string {
	for _, mark := range []string{"\n\n", "\n", ". ", "。", " "} {
		if i := strings.LastIndex(text, mark); i+len(mark) > len(text)*2/3 {
			return text[:i+len(mark)]
		}
	}
	return text
}
