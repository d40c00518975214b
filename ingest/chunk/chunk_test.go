package chunk

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ragagent/ingest/parse"
	"ragagent/store"
)

// build makes a structured text of blocks, as a parser would.
func build(blocks ...parse.Block) func(texts ...string) parse.Text {
	return func(texts ...string) parse.Text {
		var body strings.Builder
		out := parse.Text{}
		for i, b := range blocks {
			if i > 0 {
				body.WriteString("\n\n")
			}
			b.Span.Start = body.Len()
			body.WriteString(texts[i])
			b.Span.End = body.Len()
			out.Pages = max(out.Pages, b.Page)
			out.Blocks = append(out.Blocks, b)
		}
		out.Body = body.String()
		return out
	}
}

// check reports every promise of Split that pieces break.
func broken(text parse.Text, settings store.Chunking, pieces []Piece) string {
	size := settings.Size
	if size == 0 {
		size = DefaultSize
	}
	covered, last := 0, -1
	for i, p := range pieces {
		if p.Span.Start < 0 || p.Span.End > len(text.Body) || p.Span.Len() <= 0 {
			return fmt.Sprintf("piece %d: span %v", i, p.Span)
		}
		part := text.Body[p.Span.Start:p.Span.End]
		switch {
		case strings.TrimSpace(part) != part:
			return fmt.Sprintf("piece %d is not trimmed: %q", i, part)
		case !utf8.ValidString(part):
			return fmt.Sprintf("piece %d cuts a rune: %q", i, part)
		case len(part) > MaxBytes(settings):
			return fmt.Sprintf("piece %d has %d bytes", i, len(part))
		case Tokens(part) > size+size/4+settings.Overlap+slack:
			return fmt.Sprintf("piece %d has %d tokens", i, Tokens(part))
		case p.Span.Start <= last:
			return fmt.Sprintf("piece %d starts at %d, not after %d", i, p.Span.Start, last)
		case p.PageEnd < p.PageStart:
			return fmt.Sprintf("piece %d has pages %d to %d", i, p.PageStart, p.PageEnd)
		case p.Span.Start > covered && strings.TrimSpace(text.Body[covered:p.Span.Start]) != "":
			return fmt.Sprintf("before piece %d, %q is in none", i, text.Body[covered:p.Span.Start])
		case settings.Overlap == 0 && p.Span.Start < covered:
			return fmt.Sprintf("piece %d overlaps the one before by %d bytes", i, covered-p.Span.Start)
		}
		covered, last = max(covered, p.Span.End), p.Span.Start
	}
	if rest := strings.TrimSpace(text.Body[covered:]); rest != "" {
		return fmt.Sprintf("%q is in no piece", rest)
	}
	return ""
}

// slack is what white space between the parts of a piece may add to the sum of
// their tokens, and rounding.
const slack = 8

func TestSplitKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := randomText(t)
		settings := store.Chunking{Size: rapid.IntRange(MinSize, 400).Draw(t, "size")}
		settings.Overlap = rapid.SampledFrom([]int{0, 0, settings.Size / 8, settings.Size / 2}).Draw(t, "overlap")
		pieces, err := Split(text, settings)
		if err != nil {
			t.Fatal(err)
		}
		if why := broken(text, settings, pieces); why != "" {
			t.Fatal(why)
		}
	})
}

func randomText(t *rapid.T) parse.Text {
	kinds := []parse.Kind{parse.Heading, parse.Paragraph, parse.Paragraph, parse.List, parse.Table, parse.Code, parse.Quote}
	words := []string{"revenue", "of", "Dr.", "1,234", "Größe", "營收", "成長。", "antidisestablishmentarianism", "a", "\n", "end. ", "?", "🙂", "—", strings.Repeat("x", 300), "   "}
	n := rapid.IntRange(0, 12).Draw(t, "blocks")
	var blocks []parse.Block
	var texts []string
	page := rapid.IntRange(0, 1).Draw(t, "page")
	for range n {
		b := parse.Block{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		if b.Kind == parse.Heading {
			b.Level = rapid.IntRange(1, 4).Draw(t, "level")
		}
		if page > 0 {
			page += rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "next page")
			b.Page = page
		}
		parts := rapid.SliceOfN(rapid.SampledFrom(words), 1, 200).Draw(t, "words")
		text := strings.TrimSpace(strings.Join(parts, " "))
		if text == "" {
			continue
		}
		blocks, texts = append(blocks, b), append(texts, text)
	}
	return build(blocks...)(texts...)
}

func TestTokensBoundBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom(nil, unicode.Latin, unicode.Han, unicode.Zs, unicode.M, unicode.N, unicode.P), 0, 500, -1).Draw(t, "text")
		if len(s) > (Tokens(s)+1)*bytesPerToken {
			t.Fatalf("%d bytes are %d tokens only", len(s), Tokens(s))
		}
	})
}
