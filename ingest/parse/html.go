package parse

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ragagent/store"
)

// htmlReader turns a stream of HTML tokens into blocks. It builds no tree, so
// that its time and memory stay linear in the input however deep, unclosed or
// wrongly nested the elements are.
type htmlReader struct {
	body  *body
	title string
	meta  store.Metadata
	whole bool // keep navigation and footers as well

	inline  inlineText
	kind    Kind // of the block being written
	level   int
	skipTag atom.Atom // the open element whose content is dropped
	skip    int       // how often it is open within itself
	pre     int
	quote   int
	lists   []listState
	tables  []*tableState
	inTitle bool
}

type listState struct {
	ordered bool
	next    int
}

// tableState collects one table. A table that holds other tables or headings
// is a means of layout: its cells are read as ordinary text.
type tableState struct {
	rows   []string
	cells  []string
	inCell bool
	layout bool
}

// maxHTMLDepth bounds the open lists and tables that are told apart; what is
// nested deeper is read as part of the outermost known one.
const maxHTMLDepth = 64

// readHTML reads a document into b. If dropping navigation and footers leaves
// nothing, or one of them is never closed, they are kept.
func readHTML(b *body, text string) (title string, meta store.Metadata) {
	r := htmlReader{body: b, meta: store.Metadata{}}
	r.read(text)
	if b.err == nil && (len(b.blocks) == 0 || r.skip > 0) {
		b.reset()
		r = htmlReader{body: b, meta: store.Metadata{}, whole: true}
		r.read(text)
	}
	return r.title, r.meta
}

func (r *htmlReader) read(text string) {
	r.kind = Paragraph
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case html.ErrorToken:
			r.finish()
			if err := z.Err(); !errors.Is(err, io.EOF) && r.body.err == nil {
				r.body.err = err
			}
			return
		case html.TextToken:
			r.text(z)
		case html.StartTagToken:
			name, hasAttr := z.TagName()
			r.start(z, atom.Lookup(name), hasAttr)
		case html.SelfClosingTagToken:
			name, hasAttr := z.TagName()
			// The slash means something in foreign elements only.
			if tag := atom.Lookup(name); tag != atom.Svg && tag != atom.Math {
				r.start(z, tag, hasAttr)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(atom.Lookup(name))
		}
		if r.body.err != nil {
			return
		}
	}
}

func (r *htmlReader) text(z *html.Tokenizer) {
	switch {
	case r.inTitle:
		r.title += string(z.Text())
	case r.skip == 0:
		r.inline.write(string(z.Text()), r.pre > 0)
	}
}

func (r *htmlReader) start(z *html.Tokenizer, tag atom.Atom, hasAttr bool) {
	if r.skip > 0 {
		if tag == r.skipTag {
			r.skip++
		}
		return
	}
	attrs := attributes{}
	if hasAttr {
		attrs = readAttributes(z)
	}
	if r.dropped(tag, attrs) {
		r.flushBlock()
		r.skipTag, r.skip = tag, 1
		return
	}
	switch tag {
	case atom.Title:
		r.inTitle = r.title == ""
	case atom.Meta:
		r.metaElement(attrs)
	case atom.Html:
		if attrs.lang != "" {
			r.meta["language"] = attrs.lang
		}
	case atom.Br:
		r.inline.write("\n", true)
	case atom.Hr:
		r.flushBlock()
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.layoutTable()
		r.flushBlock()
		r.kind, r.level = Heading, int(tag.String()[1]-'0')
	case atom.Pre, atom.Listing, atom.Xmp:
		r.layoutTable()
		r.flushBlock()
		r.kind = Code
		r.pre++
	case atom.Blockquote:
		r.flushBlock()
		r.quote++
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		r.openList(tag == atom.Ol)
	case atom.Li:
		r.openItem()
	case atom.Table:
		r.openTable()
	case atom.Tr:
		r.endRow()
	case atom.Td, atom.Th:
		r.openCell()
	default:
		if breaksBlock(tag) {
			r.breakBlock()
		}
	}
}

func (r *htmlReader) end(tag atom.Atom) {
	if r.skip > 0 {
		if tag == r.skipTag {
			r.skip--
		}
		return
	}
	switch tag {
	case atom.Title:
		r.inTitle = false
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.flushBlock()
	case atom.Pre, atom.Listing, atom.Xmp:
		r.flushBlock()
		r.pre = max(0, r.pre-1)
	case atom.Blockquote:
		r.flushBlock()
		r.quote = max(0, r.quote-1)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		r.closeList()
	case atom.Table:
		r.closeTable()
	case atom.Tr:
		r.endRow()
	case atom.Td, atom.Th:
		r.endCell()
	default:
		if breaksBlock(tag) {
			r.breakBlock()
		}
	}
}

// dropped says that an element's content is no text of the document.
func (r *htmlReader) dropped(tag atom.Atom, attrs attributes) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Canvas,
		atom.Iframe, atom.Object, atom.Audio, atom.Video, atom.Select, atom.Textarea, atom.Button, atom.Datalist, atom.Noembed, atom.Noframes:
		return true
	case atom.Nav, atom.Footer:
		return !r.whole
	case atom.Div, atom.Section, atom.Ul, atom.Aside, atom.Header, atom.Table:
		if attrs.hidden {
			return !r.whole
		}
		switch attrs.role {
		case "navigation", "contentinfo", "search", "banner":
			return !r.whole
		}
	}
	return false
}

// breaksBlock says that an element starts on a line of its own.
func breaksBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Aside, atom.Address,
		atom.Dl, atom.Dt, atom.Dd, atom.Figure, atom.Figcaption, atom.Details, atom.Summary, atom.Fieldset,
		atom.Legend, atom.Form, atom.Center, atom.Caption, atom.Body, atom.Head, atom.Hgroup, atom.Option, atom.Nav, atom.Footer:
		return true
	}
	return false
}

// breakBlock ends a paragraph; inside a cell or an item it is a blank only.
func (r *htmlReader) breakBlock() {
	if t := r.table(); t != nil && !t.layout && t.inCell {
		r.inline.write(" ", false)
		return
	}
	if len(r.lists) > 0 {
		r.inline.breakLine()
		return
	}
	if r.pre > 0 {
		r.inline.breakLine()
		return
	}
	r.flushBlock()
}

// flushBlock writes the block that is being read.
func (r *htmlReader) flushBlock() {
	text := r.inline.take()
	kind, level := r.kind, r.level
	r.kind, r.level = Paragraph, 0
	if r.pre > 0 {
		r.kind = Code
	}
	switch {
	case kind == Paragraph && len(r.lists) > 0:
		kind = List
	case kind == Paragraph && r.quote > 0:
		kind = Quote
	case kind == Heading:
		text = strings.Join(strings.Fields(text), " ")
	}
	r.body.add(kind, level, 0, text)
}

func (r *htmlReader) finish() {
	for len(r.tables) > 0 {
		r.closeTable()
	}
	r.flushBlock()
	r.title = strings.Join(strings.Fields(r.title), " ")
}

func (r *htmlReader) openList(ordered bool) {
	if len(r.lists) >= maxHTMLDepth {
		return
	}
	if len(r.lists) == 0 && r.inCell() == nil {
		r.flushBlock()
	}
	r.lists = append(r.lists, listState{ordered: ordered, next: 1})
}

func (r *htmlReader) openItem() {
	if len(r.lists) == 0 {
		r.breakBlock()
		return
	}
	last := &r.lists[len(r.lists)-1]
	mark := "- "
	if last.ordered {
		mark = strconv.Itoa(last.next) + ". "
		last.next++
	}
	r.inline.mark(strings.Repeat("  ", len(r.lists)-1) + mark)
}

func (r *htmlReader) closeList() {
	if len(r.lists) == 0 {
		return
	}
	if len(r.lists) == 1 && r.inCell() == nil {
		r.flushBlock()
	}
	r.lists = r.lists[:len(r.lists)-1]
}

// metaElement takes what describes the document.
func (r *htmlReader) metaElement(a attributes) {
	value := strings.Join(strings.Fields(a.content), " ")
	if value == "" || len(value) > 2000 {
		return
	}
	switch strings.ToLower(a.name) {
	case "description", "author", "date":
		r.meta[strings.ToLower(a.name)] = value
	case "keywords":
		r.meta["keywords"] = splitList(value)
	case "article:published_time":
		r.meta["date"] = value
	}
}

func splitList(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// attributes are those that matter here.
type attributes struct {
	name, content, role, lang string
	hidden                    bool
}

// maxAttributes bounds what is read of one tag.
const maxAttributes = 64

func readAttributes(z *html.Tokenizer) attributes {
	var a attributes
	for range maxAttributes {
		key, value, more := z.TagAttr()
		switch string(key) {
		case "name", "property":
			a.name = string(value)
		case "content":
			a.content = string(value)
		case "role":
			a.role = strings.ToLower(string(value))
		case "lang":
			a.lang = string(value)
		case "hidden":
			a.hidden = true
		case "aria-hidden":
			a.hidden = a.hidden || string(value) == "true"
		case "style":
			style := strings.ReplaceAll(strings.ToLower(string(value)), " ", "")
			a.hidden = a.hidden || strings.Contains(style, "display:none")
		}
		if !more {
			break
		}
	}
	return a
}
