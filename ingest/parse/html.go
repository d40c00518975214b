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
	page    htmlPage
	meta    htmlMeta
	xml     bool // it is XHTML, where <title/> is empty
	hidden  bool // keep what is hidden as well
	inline  inlineText
	kind    Kind // of the block being written
	level   int
	skipTag atom.Atom // the open element whose content is dropped
	skip    int       // how often it is open within itself
	lost    int       // bytes of text that are hidden
	raw     bool      // the next text is a script or a style sheet
	pre     int
	quote   int
	anchor  int // bytes of link text in the block
	links   int // links of the block
	inLink  bool
	lists   []listState
	tables  []*tableState
	inTitle bool
}

type listState struct {
	ordered bool
	next    int
	terms   bool // a list of definitions
	term    bool // whose term has been written, and no definition of it
}

// maxHTMLDepth bounds the open lists and tables that are told apart; what is
// nested deeper is read as part of the outermost known one.
const maxHTMLDepth = 64

// readHTML reads a document into b: what people read of it, without what is
// around it on every page of a site (html_select.go). Hidden text is dropped
// unless that is most of it, or it never ends.
func readHTML(b *body, text string) (title string, meta store.Metadata) {
	r := newHTMLReader(b, text)
	r.read(text)
	if r.page.err == nil && (r.skip > 0 || r.lost > 4*r.page.bytes) {
		again := newHTMLReader(b, text)
		again.hidden = true
		again.read(text)
		r = again
	}
	if r.page.err != nil {
		b.err = r.page.err
		return "", nil
	}
	r.page.write(b, r.page.kept())
	return r.meta.result()
}

// readHTMLBlock reads HTML within another text into b, all of it.
func readHTMLBlock(b *body, text string) {
	r := newHTMLReader(b, text)
	r.read(text)
	r.page.write(b, r.page.blocks)
	if b.err == nil {
		b.err = r.page.err
	}
}

func newHTMLReader(b *body, text string) *htmlReader {
	head := strings.ToLower(text[:min(len(text), 1024)])
	return &htmlReader{
		page: newHTMLPage(b.maxBytes, b.maxBlocks),
		meta: htmlMeta{values: map[string]string{}},
		xml:  strings.Contains(head, "<?xml") || strings.Contains(head, "http://www.w3.org/1999/xhtml"),
	}
}

func (r *htmlReader) read(text string) {
	r.kind = Paragraph
	z := html.NewTokenizer(strings.NewReader(text))
	for r.page.err == nil {
		switch z.Next() {
		case html.ErrorToken:
			r.finish()
			if err := z.Err(); !errors.Is(err, io.EOF) && r.page.err == nil {
				r.page.err = err
			}
			return
		case html.TextToken:
			r.text(z)
		case html.StartTagToken:
			name, hasAttr := z.TagName()
			r.start(z, atom.Lookup(name), hasAttr)
		case html.SelfClosingTagToken:
			r.selfClosing(z)
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(atom.Lookup(name))
		}
	}
}

// selfClosing reads a tag that ends with a slash, which means something in XML
// and foreign elements only.
func (r *htmlReader) selfClosing(z *html.Tokenizer) {
	name, hasAttr := z.TagName()
	tag := atom.Lookup(name)
	switch {
	case tag == atom.Svg || tag == atom.Math:
	case !r.xml || isVoid(tag):
		r.start(z, tag, hasAttr)
	default:
		z.NextIsNotRawText()
		if breaksBlock(tag) && r.skip == 0 {
			r.breakBlock()
		}
	}
}

// isVoid says that an element has no content and no end tag.
func isVoid(tag atom.Atom) bool {
	switch tag {
	case atom.Br, atom.Hr, atom.Img, atom.Meta, atom.Link, atom.Input, atom.Wbr, atom.Source, atom.Area, atom.Base, atom.Col, atom.Embed, atom.Track, atom.Param:
		return true
	}
	return false
}

func (r *htmlReader) text(z *html.Tokenizer) {
	text := string(z.Text())
	switch {
	case r.inTitle:
		r.meta.title += text
	case r.skip == 0:
		if r.inLink {
			mark := strings.TrimSpace(text)
			if mark == "¶" || mark == "#" || mark == "§" { // a link to the heading it stands in
				return
			}
			r.anchor += len(mark)
		}
		r.inline.write(text, r.pre > 0)
	case !r.raw:
		r.lost += len(strings.TrimSpace(text))
	}
	r.raw = false
}

func (r *htmlReader) start(z *html.Tokenizer, tag atom.Atom, hasAttr bool) {
	if r.skip > 0 {
		r.raw = r.raw || tag == atom.Script || tag == atom.Style
		if tag == r.skipTag {
			r.skip++
		}
		return
	}
	attrs := attributes{}
	if hasAttr {
		attrs = readAttributes(z)
	}
	if dropped(tag) || attrs.hidden && !r.hidden && canHide(tag) {
		if tag != atom.Span {
			r.flushBlock()
		}
		r.skipTag, r.skip = tag, 1
		r.raw = dropped(tag)
		return
	}
	if r.opensRegion(tag, attrs) {
		return
	}
	switch tag {
	case atom.Title:
		r.inTitle = r.meta.title == ""
	case atom.Meta, atom.Link, atom.Html, atom.Time:
		r.meta.element(tag, attrs)
	case atom.Br:
		r.inline.write("\n", true)
	case atom.Hr:
		r.flushBlock()
	case atom.A:
		r.inLink = true
		r.links++
	case atom.Img:
		r.image(attrs)
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
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Dl:
		r.openList(listState{ordered: tag == atom.Ol, next: 1, terms: tag == atom.Dl})
	case atom.Li, atom.Dt, atom.Dd:
		r.openItem(tag)
	case atom.Table:
		r.openTable()
	case atom.Tr:
		r.endRow()
	case atom.Td, atom.Th:
		r.openCell(attrs)
	default:
		if breaksBlock(tag) {
			r.breakBlock()
		}
	}
}

// opensRegion opens a region of the page if the element is one.
func (r *htmlReader) opensRegion(tag atom.Atom, attrs attributes) bool {
	if !isContainer(tag) {
		return false
	}
	if tag == atom.Div || r.inCell() != nil || len(r.lists) > 0 || r.pre > 0 {
		r.breakBlock()
	} else {
		r.flushBlock()
	}
	if kind := regionOf(tag, attrs, r.page.inContent()); kind != noRegion && r.inCell() == nil && len(r.lists) == 0 {
		r.flushBlock()
		r.page.open(tag, kind)
	} else {
		r.page.open(tag, noRegion)
	}
	return true
}

func (r *htmlReader) end(tag atom.Atom) {
	if r.skip > 0 {
		if tag == r.skipTag {
			r.skip--
		}
		return
	}
	if isContainer(tag) {
		r.breakBlock()
		if r.page.closesRegion(tag) {
			r.flushBlock()
		}
		r.page.close(tag)
		return
	}
	switch tag {
	case atom.Title:
		r.inTitle = false
	case atom.A:
		r.inLink = false
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.flushBlock()
	case atom.Pre, atom.Listing, atom.Xmp:
		r.flushBlock()
		r.pre = max(0, r.pre-1)
	case atom.Blockquote:
		r.flushBlock()
		r.quote = max(0, r.quote-1)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Dl:
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
func dropped(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Canvas,
		atom.Iframe, atom.Object, atom.Audio, atom.Video, atom.Select, atom.Textarea, atom.Button, atom.Datalist, atom.Noembed, atom.Noframes:
		return true
	}
	return false
}

// canHide says that an element that is hidden is left out with its content:
// those that have an end tag which people write.
func canHide(tag atom.Atom) bool {
	switch tag {
	case 0, atom.Html, atom.Body, atom.Head, atom.P, atom.Li, atom.Tr, atom.Td, atom.Th, atom.Dt, atom.Dd, atom.Option:
		return false
	}
	return !isVoid(tag)
}

// breaksBlock says that an element starts on a line of its own.
func breaksBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Address, atom.Figure, atom.Figcaption, atom.Details, atom.Summary, atom.Fieldset,
		atom.Legend, atom.Center, atom.Caption, atom.Body, atom.Head, atom.Hgroup, atom.Option:
		return true
	}
	return isContainer(tag)
}

// breakBlock ends a paragraph; inside a cell or an item it is a blank only.
func (r *htmlReader) breakBlock() {
	if t := r.table(); t != nil && !t.layout && t.inCell {
		r.inline.write(" ", false)
		return
	}
	if len(r.lists) > 0 || r.pre > 0 {
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
	r.emit(kind, level, text)
}

// emit hands a block to the page.
func (r *htmlReader) emit(kind Kind, level int, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	r.page.add(htmlBlock{kind: kind, level: level, text: text, anchor: min(r.anchor, len(text)), links: r.links})
	r.anchor, r.links = 0, 0
}

func (r *htmlReader) finish() {
	for len(r.tables) > 0 {
		r.closeTable()
	}
	r.flushBlock()
	r.page.end()
}

// image writes what stands for a picture, if that says something.
func (r *htmlReader) image(a attributes) {
	alt := strings.Join(strings.Fields(a.alt), " ")
	if len(strings.Fields(alt)) < 3 && len([]rune(alt)) < 20 || r.inLink || strings.Contains(alt, "://") || imageName(alt) {
		return // a mark, a name of a file, or a button
	}
	r.inline.write(" [Image: "+strings.NewReplacer("[", "(", "]", ")").Replace(alt)+"] ", false)
}

func imageName(alt string) bool {
	alt = strings.ToLower(alt)
	for _, ext := range []string{".jpg", ".jpeg", ".png", ".gif", ".svg", ".webp"} {
		if strings.HasSuffix(alt, ext) {
			return true
		}
	}
	return false
}

func (r *htmlReader) openList(list listState) {
	if len(r.lists) >= maxHTMLDepth {
		return
	}
	if len(r.lists) == 0 && r.inCell() == nil {
		r.flushBlock()
	}
	r.lists = append(r.lists, list)
}

func (r *htmlReader) openItem(tag atom.Atom) {
	if len(r.lists) == 0 {
		r.breakBlock()
		return
	}
	last := &r.lists[len(r.lists)-1]
	if tag == atom.Dd && last.term {
		r.inline.glue(strings.TrimPrefix(": ", string(r.inline.last)))
		last.term = false
		return
	}
	last.term = tag == atom.Dt
	mark := "- "
	switch {
	case last.ordered:
		mark = strconv.Itoa(last.next) + ". "
		last.next++
	case tag == atom.Dd:
		mark = "  "
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
