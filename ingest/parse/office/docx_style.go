package office

import (
	"regexp"
	"strings"

	"ragagent/ingest/parse/doc"
)

// style is what a paragraph style says that matters here.
type style struct {
	based string
	level int      // of the heading, 1 to 9; 0 for none; unset for what it is based on
	kind  doc.Kind // Code or Quote, if its name says so
	toc   bool     // a line of a table of contents
	list  listMark
}

// listMark names a level of a list; number "" is unset, "0" none.
type listMark struct {
	number string
	level  int
}

const (
	unset     = -1
	maxStyles = 20_000
	maxBased  = 32
)

// headingName is what programs call the styles of headings, in the languages
// in which that name is written to the file.
var headingName = regexp.MustCompile(`^(?:heading|header|überschrift|uberschrift|titre|título|titulo|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|заголовок|başlık|见出し|見出し|标题|標題|제목)\s*([1-9])$`)

// headingLevel returns the level of the heading that a style's name tells, 0
// for none.
func headingLevel(name string) int {
	name = strings.ToLower(strings.TrimSpace(name))
	if m := headingName.FindStringSubmatch(name); m != nil {
		return int(m[1][0] - '0')
	}
	if name == "title" {
		return 1
	}
	return 0
}

// styles reads the paragraph styles by their ids.
func (p *pack) styles(part string) (map[string]style, error) {
	out := map[string]style{}
	id := ""
	var now style
	err := p.walk(part, func(s *scanner, t token) error {
		if t.kind == end && t.name == "style" && id != "" && len(out) < maxStyles {
			out[id] = now
			id = ""
		}
		if t.kind != start {
			return nil
		}
		switch t.name {
		case "style":
			id = t.attr("styleId")
			now = style{level: unset}
			if level := headingLevel(id); level > 0 {
				now.level = level
			}
		case "name":
			now.named(t.attr("val"))
		case "basedOn":
			now.based = t.attr("val")
		case "outlineLvl":
			now.level = outline(t)
		case "ilvl":
			now.list.level = t.number("val", 0)
		case "numId":
			now.list.number = t.attr("val")
		}
		return nil
	})
	return out, err
}

// outline returns the level of a heading: those of the outline count from 0, and
// 9 is body text.
func outline(t token) int {
	if n := t.number("val", 9); n >= 0 && n < 9 {
		return n + 1
	}
	return 0
}

// named takes what the name of a style tells.
func (s *style) named(name string) {
	lower := strings.ToLower(strings.TrimSpace(name))
	switch {
	case headingLevel(name) > 0:
		s.level = headingLevel(name)
	case strings.HasPrefix(lower, "toc ") && len(lower) == 5:
		s.toc = true
	case strings.Contains(lower, "quote"), strings.HasPrefix(lower, "block text"):
		s.kind = doc.Quote
	case lower == "code", strings.HasSuffix(lower, " code"), strings.HasPrefix(lower, "code "), strings.HasPrefix(lower, "html preformatted"), lower == "preformatted text", strings.HasPrefix(lower, "source code"):
		s.kind = doc.Code
	}
}

// resolved returns a style with what it takes from those it is based on.
func resolved(styles map[string]style, id string) style {
	out, ok := styles[id]
	if !ok {
		return style{level: headingLevel(id)}
	}
	for base, depth := out.based, 0; base != "" && depth < maxBased; depth++ {
		s := styles[base]
		if out.level == unset {
			out.level = s.level
		}
		if out.kind == "" {
			out.kind = s.kind
		}
		if out.list.number == "" {
			out.list = listMark{s.list.number, max(out.list.level, s.list.level)}
		}
		base = s.based
	}
	if out.level == unset {
		out.level = 0
	}
	return out
}
