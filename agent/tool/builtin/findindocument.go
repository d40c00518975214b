package builtin

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"ragagent/agent/tool"
	"ragagent/store"
)

// Bounds of find_in_document.
const (
	maxPlaces   = 8         // shown by one call
	aroundPlace = 300       // bytes shown before and behind
	windowBytes = 256 << 10 // read at once
	maxWanted   = 200       // bytes of what is looked for
)

type findArgs struct {
	Document string `json:"document" jsonschema:"id or name of the document"`
	Text     string `json:"text" jsonschema:"words as they stand there; case and white space do not matter"`
	Offset   int    `json:"offset,omitempty" jsonschema:"byte to begin at, 0 for the beginning"`
}

func newFind(s shelf) (tool.Tool, error) {
	spec := tool.Spec{
		Name:        "find_in_document",
		Description: fmt.Sprintf("Finds the places in a document where words stand, and shows the text around the first %d.", maxPlaces),
		Idempotent:  true,
	}
	return tool.NewFunc(spec, func(ctx context.Context, a findArgs) (tool.Result, error) { return s.findIn(ctx, a) })
}

func (s shelf) findIn(ctx context.Context, a findArgs) (tool.Result, error) {
	wanted, err := patternOf(a.Text)
	if err != nil {
		return tool.Result{}, err
	}
	h, err := s.find(ctx, a.Document)
	if err != nil {
		return tool.Result{}, err
	}
	places, more, err := s.places(ctx, h, wanted, max(a.Offset, 0))
	if err != nil {
		return tool.Result{}, err
	}
	if len(places) == 0 {
		return tool.Text(fmt.Sprintf("%q does not stand in %s from byte %d on.", a.Text, inLine(h.Name), max(a.Offset, 0))), nil
	}
	return s.shown(ctx, h, places, more)
}

// patternOf matches words in any case, with any white space between them.
func patternOf(text string) (*regexp.Regexp, error) {
	words := strings.Fields(text)
	switch {
	case len(words) == 0:
		return nil, errors.New("say what to look for")
	case len(text) > maxWanted:
		return nil, fmt.Errorf("look for at most %d bytes", maxWanted)
	}
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return regexp.Compile(`(?i)` + strings.Join(words, `\s+`))
}

// places are the first matches from a byte on; more says that others follow.
// The text is read window by window, each begun a little before the end of the
// last, so that a match on the seam is seen.
func (s shelf) places(ctx context.Context, h holding, wanted *regexp.Regexp, from int) (found []store.Span, more bool, err error) {
	const seam = 4 * maxWanted
	end := int(h.TextBytes)
	for from < end {
		window, text, err := s.whole(ctx, h.ID, store.Span{Start: from, End: min(from+windowBytes, end)})
		if err != nil {
			return nil, false, err
		}
		next := window.End - seam
		for _, m := range wanted.FindAllStringIndex(text, -1) {
			if window.Start+m[0] >= next && window.End < end {
				break // the next window has it whole
			}
			if len(found) == maxPlaces {
				return found, true, nil
			}
			found = append(found, store.Span{Start: window.Start + m[0], End: window.Start + m[1]})
		}
		if window.End >= end || window.End <= from {
			break
		}
		from = next
		if n := len(found); n > 0 {
			from = max(from, found[n-1].End)
		}
	}
	return found, false, nil
}

// shown makes passages of the places, those that touch being one.
func (s shelf) shown(ctx context.Context, h holding, places []store.Span, more bool) (tool.Result, error) {
	var r tool.Result
	var spans []store.Span
	for _, p := range places {
		p := store.Span{Start: max(p.Start-aroundPlace, 0), End: min(p.End+aroundPlace, int(h.TextBytes))}
		if n := len(spans); n > 0 && p.Start <= spans[n-1].End {
			spans[n-1].End = p.End
			continue
		}
		spans = append(spans, p)
	}
	for _, span := range spans {
		span, text, err := s.whole(ctx, h.ID, span)
		if err != nil {
			return tool.Result{}, err
		}
		r.Passages = append(r.Passages, h.passage(span, text))
	}
	at := make([]string, len(places))
	for i, p := range places {
		at[i] = fmt.Sprint(p.Start)
	}
	r.Note = "It stands at byte " + strings.Join(at, ", ") + "; read_document opens the document there."
	if more {
		r.Note += fmt.Sprintf(" There are more: call again with offset %d.", places[len(places)-1].End)
	}
	return r, nil
}
