package parse

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"ragagent/store"
)

// readMarkdown reads Markdown with GitHub's extensions and footnotes through
// goldmark's syntax tree. The body holds readable text: marks of emphasis,
// links and headings are gone, lists, tables and code keep their form.
func readMarkdown(b *body, source string) (title string, meta store.Metadata, warnings []string) {
	meta, rest, warnings := frontMatter(source)
	if t, ok := meta["title"].(string); ok {
		title = t
		delete(meta, "title")
	}
	w := markdownWriter{body: b, source: []byte(rest)}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))
	w.blocks(md.Parser().Parse(text.NewReader(w.source)))
	if title == "" {
		title = w.title
	}
	return title, meta, warnings
}

// markdownWriter walks a syntax tree, recursing as deep as it is nested.
type markdownWriter struct {
	body   *body
	source []byte
	title  string // the first heading of level 1
}

// blocks writes the children of a container, each as a block of its own.
func (w *markdownWriter) blocks(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			heading := strings.Join(strings.Fields(w.inline(n)), " ")
			if n.Level == 1 && w.title == "" {
				w.title = heading
			}
			w.body.add(Heading, n.Level, 0, heading)
		case *ast.List:
			w.body.add(List, 0, 0, w.list(n))
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			w.body.add(Code, 0, 0, w.lines(n))
		case *ast.HTMLBlock:
			w.htmlBlock(n)
		case *ast.Blockquote:
			w.body.add(Quote, 0, 0, w.flow(n, "\n\n"))
		case *east.Table:
			w.body.add(Table, 0, 0, w.table(n))
		case *east.FootnoteList:
			for note := n.FirstChild(); note != nil; note = note.NextSibling() {
				w.body.add(Paragraph, 0, 0, w.footnote(note))
			}
		case *ast.ThematicBreak:
		default:
			w.body.add(Paragraph, 0, 0, w.inline(n))
		}
	}
}

// flow writes the blocks inside a container as one text.
func (w *markdownWriter) flow(parent ast.Node, gap string) string {
	var parts []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		var part string
		switch n := n.(type) {
		case *ast.List:
			part = w.list(n)
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			part = w.lines(n)
		case *ast.HTMLBlock:
			part = w.htmlText(n)
		case *ast.Blockquote:
			part = w.flow(n, gap)
		case *east.Table:
			part = w.table(n)
		case *ast.ThematicBreak:
		default:
			part = w.inline(n)
		}
		if part = strings.Trim(part, "\n"); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, gap)
}

// list writes one item a line, what is inside an item indented below it.
func (w *markdownWriter) list(list *ast.List) string {
	var out strings.Builder
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "- "
		if list.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		content := w.flow(item, "\n")
		out.WriteString(mark)
		out.WriteString(strings.ReplaceAll(content, "\n", "\n  "))
		out.WriteByte('\n')
	}
	return out.String()
}

func (w *markdownWriter) footnote(n ast.Node) string {
	content := w.flow(n, "\n")
	if note, ok := n.(*east.Footnote); ok {
		return footnoteMark(note.Index) + " " + content
	}
	return content
}

// table writes one row a line, cells parted by " | ".
func (w *markdownWriter) table(table *east.Table) string {
	var rows []string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, strings.Join(strings.Fields(w.inline(cell)), " "))
		}
		rows = append(rows, joinCells(cells))
	}
	return strings.Join(rows, "\n")
}

// lines returns the raw lines of a block, as of code.
func (w *markdownWriter) lines(n ast.Node) string {
	return string(n.Lines().Value(w.source))
}

func (w *markdownWriter) rawHTML(n *ast.HTMLBlock) string {
	raw := w.lines(n)
	if n.HasClosure() {
		raw += string(n.ClosureLine.Value(w.source))
	}
	return raw
}

// htmlBlock reads a block of HTML as the HTML reader does.
func (w *markdownWriter) htmlBlock(n *ast.HTMLBlock) {
	readHTMLBlock(w.body, w.rawHTML(n))
}

func (w *markdownWriter) htmlText(n *ast.HTMLBlock) string {
	inner := body{maxBytes: w.body.maxBytes, maxBlocks: w.body.maxBlocks}
	readHTMLBlock(&inner, w.rawHTML(n))
	return inner.out.String()
}
