package office

import (
	"fmt"
	"io"
	"strings"

	"ragagent/ingest/parse/doc"
)

// maxSlides bounds the slides of a presentation.
const maxSlides = 20_000

// ReadPPTX reads a presentation of PowerPoint: slides in the order they are
// shown, each with its title as heading, then its texts, tables, diagrams and
// charts in the order of the file, then its notes. A page is a slide. Dates,
// footers and slide numbers are left out.
func ReadPPTX(r io.ReaderAt, size int64, out doc.Sink) error {
	p, err := openPack(r, size, out)
	if err != nil {
		return err
	}
	main, err := p.mainPart("ppt/presentation.xml")
	if err != nil {
		return err
	}
	if _, err := p.properties(); err != nil {
		return err
	}
	slides, err := p.slides(main)
	if err != nil {
		return err
	}
	var hidden []string
	for i, part := range slides {
		if part == "" || out.Full() {
			continue
		}
		s := slide{pack: p, number: i + 1}
		if err := s.read(part); err != nil {
			return err
		}
		if s.hidden {
			hidden = append(hidden, fmt.Sprint(i+1))
		}
	}
	if len(hidden) > 0 {
		out.Warn("hidden slides were read too: " + strings.Join(hidden, ", "))
	}
	return p.finish()
}

// slides returns the parts of the slides in order; "" for one that is missing.
func (p *pack) slides(main string) ([]string, error) {
	relations, err := p.relations(main)
	if err != nil {
		return nil, err
	}
	var out []string
	err = p.walk(main, func(_ *scanner, t token) error {
		if t.kind == start && t.name == "sldId" && len(out) < maxSlides {
			out = append(out, relations[t.reference("id")].target)
		}
		return nil
	})
	return out, err
}

// slide reads one slide, or the notes of one.
type slide struct {
	*pack
	number int
	hidden bool

	title  string
	blocks []doc.Block
	shape  shape
	graph  map[string]relation // what the slide refers to
	table  [][]string          // the rows of the table being read; nil outside of one
	inCell bool
}

// shape is a box of text.
type shape struct {
	role  string // of a placeholder: "title", "body", ...; "" for a box
	lines []slideLine
	now   strings.Builder
	level int
	mark  string // "" for what is no item
	known bool   // the paragraph says whether it is one
}

type slideLine struct {
	text  string
	level int
	mark  string
	known bool
}

// asides are placeholders that belong to no slide in particular.
var asides = map[string]bool{"dt": true, "ftr": true, "hdr": true, "sldNum": true, "sldImg": true}

func (s *slide) read(part string) error {
	var err error
	if s.graph, err = s.relations(part); err != nil {
		return err
	}
	if err := s.walk(part, s.token); err != nil {
		return err
	}
	title := strings.Join(strings.Fields(s.title), " ")
	if title == "" {
		title = fmt.Sprintf("Slide %d", s.number)
	}
	notes := slide{pack: s.pack, number: s.number}
	if part := one(s.graph, "notesSlide", ""); part != "" {
		if err := s.walk(part, notes.token); err != nil {
			return err
		}
	}
	if s.title == "" && len(s.blocks) == 0 && len(notes.blocks) == 0 {
		return nil
	}
	s.emit(doc.Block{Kind: doc.Heading, Level: 1, Text: title})
	for _, b := range s.blocks {
		s.emit(b)
	}
	for i, b := range notes.blocks {
		if i == 0 {
			b.Text = "Notes: " + b.Text
		}
		s.emit(b)
	}
	return nil
}

func (s *slide) emit(b doc.Block) {
	b.Page = s.number
	s.add(b)
}

// token takes the next piece of a slide.
func (s *slide) token(sc *scanner, t token) error {
	switch t.kind {
	case start:
		return s.open(sc, t)
	case end:
		s.close(t.name)
	}
	return nil
}

func (s *slide) open(sc *scanner, t token) error {
	switch t.name {
	case "sld":
		s.hidden = t.attr("show") == "0" || t.attr("show") == "false"
	case "sp":
		s.shape = shape{}
	case "ph":
		s.shape.role = t.attr("type")
		if s.shape.role == "" {
			s.shape.role = "obj"
		}
	case "t":
		return sc.eachText(func(part []byte) { s.write(string(part)) })
	case "br":
		s.write("\n")
	case "tab":
		if t.attr("pos") == "" {
			s.write("\t")
		}
	case "pPr":
		s.shape.level = min(max(t.number("lvl", 0), 0), maxListLevel)
	case "buNone":
		s.shape.mark, s.shape.known = "", true
	case "buChar", "buBlip":
		s.shape.mark, s.shape.known = "-", true
	case "buAutoNum":
		s.shape.mark, s.shape.known = "#", true
	case "tbl":
		s.table = [][]string{}
		s.shape = shape{}
	case "tr":
		if s.table != nil && len(s.table) < maxRows {
			s.table = append(s.table, nil)
		}
	case "tc":
		s.openCell(t)
	case "chart":
		return s.chart(s.graph[t.reference("id")].target)
	case "relIds": // of a diagram
		return s.diagram(s.graph[t.reference("dm")].target)
	case "Fallback", "lstStyle", "extLst":
		return sc.skipElement()
	}
	return nil
}

func (s *slide) write(text string) {
	if s.shape.now.Len()+len(text) > maxParagraph {
		s.endLine()
	}
	s.shape.now.WriteString(text)
}

func (s *slide) openCell(t token) {
	if n := len(s.table); n > 0 && len(s.table[n-1]) < maxCells {
		s.inCell = true
		s.shape = shape{}
		if t.attr("hMerge") == "1" || t.attr("hMerge") == "true" {
			s.shape.role = "merged"
		}
	}
}

func (s *slide) close(name string) {
	switch name {
	case "p":
		s.endLine()
	case "tc":
		if s.inCell {
			n := len(s.table)
			s.table[n-1] = append(s.table[n-1], s.shape.plain())
			s.inCell = false
			s.shape = shape{}
		}
	case "tbl":
		s.blocks = appendTable(s.blocks, s.table)
		s.table = nil
	case "sp":
		s.endShape()
	}
}

// endLine ends a paragraph of the shape.
func (s *slide) endLine() {
	sh := &s.shape
	if text := strings.TrimSpace(sh.now.String()); text != "" {
		sh.lines = append(sh.lines, slideLine{text: text, level: sh.level, mark: sh.mark, known: sh.known})
	}
	sh.now.Reset()
	sh.level, sh.mark, sh.known = 0, "", false
}

// appendTable adds a table of rows, if there is something in them.
func appendTable(blocks []doc.Block, rows [][]string) []doc.Block {
	var lines []string
	for _, cells := range rows {
		if line := doc.Row(cells); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return blocks
	}
	return append(blocks, doc.Block{Kind: doc.Table, Text: strings.Join(lines, "\n")})
}

func (sh *shape) plain() string {
	var parts []string
	for _, l := range sh.lines {
		parts = append(parts, l.text)
	}
	return strings.Join(parts, "\n")
}

// endShape says what a box of text is: the title, nothing, a list, or text.
func (s *slide) endShape() {
	sh := s.shape
	s.shape = shape{}
	switch {
	case len(sh.lines) == 0 || asides[sh.role]:
	case (sh.role == "title" || sh.role == "ctrTitle") && s.title == "":
		s.title = sh.plain()
	default:
		s.blocks = append(s.blocks, sh.blocks()...)
	}
}

// blocks cuts a box into lists and paragraphs. In the body of a slide, several
// paragraphs are items unless they say that they are not.
func (sh *shape) blocks() []doc.Block {
	var out []doc.Block
	var lines []string // of the block being made
	kind := doc.Paragraph
	flush := func() {
		if len(lines) > 0 {
			out = append(out, doc.Block{Kind: kind, Text: strings.Join(lines, "\n")})
			lines = nil
		}
	}
	items := len(sh.lines) > 1 && (sh.role == "body" || sh.role == "obj")
	number := map[int]int{}
	for _, l := range sh.lines {
		mark := l.mark
		if !l.known && items {
			mark = "-"
		}
		if mark == "#" {
			number[l.level]++
			mark = fmt.Sprintf("%d.", number[l.level])
		} else {
			number[l.level] = 0
		}
		line, is := l.text, doc.Paragraph
		if mark != "" {
			line, is = itemLine(block{Block: doc.Block{Text: l.text}, item: mark, deep: l.level}), doc.List
		}
		if is != kind || len(lines) == maxItems {
			flush()
		}
		kind = is
		lines = append(lines, line)
	}
	flush()
	return out
}

// diagram reads the texts of a diagram.
func (s *slide) diagram(part string) error {
	if part == "" {
		return nil
	}
	var sh shape
	sh.role = "body"
	err := s.walk(part, func(sc *scanner, t token) error {
		switch {
		case t.kind == end && t.name == "p":
			if text := strings.TrimSpace(sh.now.String()); text != "" {
				sh.lines = append(sh.lines, slideLine{text: text})
			}
			sh.now.Reset()
		case t.kind == text && sh.now.Len() < maxParagraph:
			sh.now.Write(t.text)
		}
		return nil
	})
	s.blocks = append(s.blocks, sh.blocks()...)
	return err
}
