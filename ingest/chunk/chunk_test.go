package chunk

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
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

// broken reports every promise of Each that pieces break.
func broken(text parse.Text, settings store.Chunking, pieces []Piece) string {
	w := witness{text: text, settings: withDefaults(settings), last: -1}
	for i, p := range pieces {
		if why := w.piece(p); why != "" {
			return fmt.Sprintf("piece %d %v: %s", i, p.Span, why)
		}
	}
	if rest := strings.TrimSpace(text.Body[w.covered:]); rest != "" {
		return fmt.Sprintf("%q is in no piece", rest)
	}
	return ""
}

// witness looks at one piece after the other.
type witness struct {
	text     parse.Text
	settings store.Chunking // with defaults
	covered  int            // end of the pieces so far
	last     int            // begin of the latest
	parent   store.Section  // of the latest
}

func (w *witness) piece(p Piece) string {
	body := w.text.Body
	if p.Span.Start < 0 || p.Span.End > len(body) || p.Span.Len() <= 0 {
		return "it is no part of the text"
	}
	part := body[p.Span.Start:p.Span.End]
	most := w.settings.Size + w.settings.Overlap
	if w.structured() {
		most += w.settings.Size / 4
	} else {
		most = w.settings.Size
	}
	switch {
	case strings.TrimSpace(part) != part:
		return fmt.Sprintf("it is not trimmed: %q", part)
	case !utf8.ValidString(part):
		return fmt.Sprintf("it cuts a rune: %q", part)
	case len(part) > MaxBytes(w.settings):
		return fmt.Sprintf("it has %d bytes", len(part))
	case Tokens(part) > most+slack:
		return fmt.Sprintf("it has %d tokens, more than %d", Tokens(part), most)
	case p.Span.Start <= w.last:
		return fmt.Sprintf("it does not start behind %d", w.last)
	case p.PageEnd < p.PageStart:
		return fmt.Sprintf("it has pages %d to %d", p.PageStart, p.PageEnd)
	case p.Span.Start > w.covered && strings.TrimSpace(body[w.covered:p.Span.Start]) != "":
		return fmt.Sprintf("%q before it is in none", body[w.covered:p.Span.Start])
	}
	for _, why := range []string{w.overlap(p), w.end(p), w.section(p)} {
		if why != "" {
			return why
		}
	}
	w.covered, w.last, w.parent = max(w.covered, p.Span.End), p.Span.Start, p.Parent
	return ""
}

func (w *witness) structured() bool {
	return w.settings.Strategy == "" || w.settings.Strategy == store.ChunkingStructure
}

// overlap is repeated only if asked for, and only inside a block where the
// structure counts.
func (w *witness) overlap(p Piece) string {
	again := store.Span{Start: p.Span.Start, End: w.covered}
	if again.Len() <= 0 {
		return ""
	}
	repeated := w.text.Body[again.Start:again.End]
	if Tokens(repeated) > w.settings.Overlap+slack {
		return fmt.Sprintf("it repeats %d tokens: %q", Tokens(repeated), repeated)
	}
	if block, ok := w.block(again.Start); w.structured() && (!ok || !block.Span.Holds(again) || !block.Span.Holds(store.Span{Start: p.Span.Start, End: again.End + 1})) {
		return fmt.Sprintf("it repeats %q, which is not inside one block", repeated)
	}
	return ""
}

// end says what is wrong with where a piece ends: the strategies that know
// sentences and rows cut only those that are longer than the size.
func (w *witness) end(p Piece) string {
	block, ok := w.block(p.Span.End - 1)
	if !ok || w.settings.Strategy == store.ChunkingFixed || trim(w.text.Body, block.Span).End == p.Span.End {
		return ""
	}
	why := fmt.Sprintf("it ends inside of a unit: %q", w.text.Body[block.Span.Start:block.Span.End])
	each := eachSentence
	if block.Kind == parse.Table || block.Kind == parse.List || block.Kind == parse.Code {
		each = eachLine
	}
	each(w.text.Body, block.Span, func(unit store.Span) {
		long := weigh(w.text.Body[unit.Start:unit.End]) > w.settings.Size*one
		if trim(w.text.Body, unit).End == p.Span.End || long && unit.Holds(store.Span{Start: p.Span.End - 1, End: p.Span.End}) {
			why = ""
		}
	})
	return why
}

// section says what is wrong with a piece's parent.
func (w *witness) section(p Piece) string {
	size := w.settings.Parent.Size
	switch {
	case p.Parent == (store.Section{}):
		return ""
	case size == 0:
		return "it has a parent that nobody asked for"
	case !p.Parent.Holds(p.Span) || p.Parent.Span == p.Span || p.Parent.End > len(w.text.Body):
		return fmt.Sprintf("its parent is %v", p.Parent)
	case p.Parent.PageStart > p.PageStart || p.Parent.PageEnd < p.PageEnd:
		return fmt.Sprintf("it is on pages %d to %d, its parent on %d to %d", p.PageStart, p.PageEnd, p.Parent.PageStart, p.Parent.PageEnd)
	case p.Parent != w.parent && p.Parent.Start < w.parent.End:
		return fmt.Sprintf("its parent %v overlaps the one before, %v", p.Parent, w.parent)
	case Tokens(w.text.Body[p.Parent.Start:p.Parent.End]) > size+size/4+slack:
		return fmt.Sprintf("its parent has %d tokens", Tokens(w.text.Body[p.Parent.Start:p.Parent.End]))
	}
	return ""
}

// block returns the one that holds a byte.
func (w *witness) block(at int) (parse.Block, bool) {
	for _, b := range w.text.Blocks {
		if b.Span.Start <= at && at < b.Span.End {
			return b, true
		}
	}
	return parse.Block{}, false
}

// slack is what white space between the parts of a piece may add to the sum of
// their tokens, and rounding.
const slack = 8

func TestSplitKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := randomText(t)
		settings := randomSettings(t)
		pieces, err := Split(text, settings)
		if err != nil {
			t.Fatal(err)
		}
		if why := broken(text, settings, pieces); why != "" {
			t.Fatal(why)
		}
		again, _ := Split(text, settings)
		if diff := cmp.Diff(pieces, again); diff != "" {
			t.Fatalf("cut once more, it comes out differently:\n%s", diff)
		}
	})
}

func randomSettings(t *rapid.T) store.Chunking {
	var c store.Chunking
	c.Strategy = rapid.SampledFrom([]store.ChunkingStrategy{"", "", store.ChunkingSentence, store.ChunkingFixed}).Draw(t, "strategy")
	c.Size = rapid.IntRange(MinSize, 400).Draw(t, "size")
	c.Overlap = rapid.SampledFrom([]int{0, 0, c.Size / 8, c.Size / 2}).Draw(t, "overlap")
	c.Parent.Size = rapid.SampledFrom([]int{0, 0, c.Size + 1, 2 * c.Size, 5 * c.Size}).Draw(t, "parent")
	return c
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

// BenchmarkEach cuts texts of one and of sixteen megabytes: the time for a
// megabyte and what is allocated for a piece are to be the same.
func BenchmarkEach(b *testing.B) {
	for name, blocks := range map[string]func(size int) parse.Text{
		"paragraphs": func(size int) parse.Text { return repeated(size, paragraph, nine(8)) },
		"one block":  func(size int) parse.Text { return build(paragraph)(nine(size / (len(sentence) + 1))) },
		"one table": func(size int) parse.Text {
			return build(parse.Block{Kind: parse.Table})(strings.Repeat("Item | 2022 | 2021\n", size/19))
		},
		"no blanks": func(size int) parse.Text { return build(paragraph)(strings.Repeat("營收成長", size/12)) },
	} {
		for _, mega := range []int{1, 16} {
			text := blocks(mega << 20)
			for _, strategy := range []store.ChunkingStrategy{store.ChunkingStructure, store.ChunkingFixed} {
				b.Run(fmt.Sprintf("%s/%s/%dMB", name, strategy, mega), func(b *testing.B) {
					b.SetBytes(int64(len(text.Body)))
					pieces := 0
					for b.Loop() {
						pieces = 0
						if err := Each(text, store.Chunking{Strategy: strategy}, func(Piece) { pieces++ }); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(pieces), "pieces")
				})
			}
		}
	}
}

// repeated is a text of many equal blocks.
func repeated(size int, block parse.Block, content string) parse.Text {
	n := size / (len(content) + 2)
	blocks, texts := make([]parse.Block, n), make([]string, n)
	for i := range n {
		blocks[i], texts[i] = block, content
	}
	return build(blocks...)(texts...)
}
