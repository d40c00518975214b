package epub

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"strings"
)

// entryTitle is what the navigation calls a text.
type entryTitle struct {
	text  string
	level int // 1..6, of its place in the tree
}

// into puts the title into a text as its heading. As a block before the text, it
// would be a heading above those of the texts that follow.
func (t entryTitle) into(text []byte) []byte {
	at := bytes.Index(text, []byte("<body"))
	if at < 0 {
		at = bytes.Index(text, []byte("<BODY"))
	}
	end := -1
	if at >= 0 {
		end = bytes.IndexByte(text[at:], '>')
	}
	if end < 0 {
		return text
	}
	heading := fmt.Sprintf("<h%d>%s</h%d>", t.level, html.EscapeString(t.text), t.level)
	return bytes.Join([][]byte{text[:at+end+1], text[at+end+1:]}, []byte(heading))
}

// navigation returns the titles of texts, by their names. The first that leads
// to a text counts.
func (b *book) navigation(p *packageFile) map[string]entryTitle {
	titles := map[string]entryTitle{}
	if p.nav != "" {
		if data, err := b.ReadAll(p.nav, maxPackage); err == nil {
			readNav(p.nav, data, titles)
		}
	}
	if p.ncx != "" && len(titles) == 0 {
		if data, err := b.ReadAll(p.ncx, maxPackage); err == nil {
			readNCX(p.ncx, data, titles)
		}
	}
	return titles
}

func put(titles map[string]entryTitle, name, text string, level int) {
	if _, ok := titles[name]; !ok && name != "" && text != "" {
		titles[name] = entryTitle{text, min(max(level, 1), 6)}
	}
}

// readNav reads the lists of links in the nav element that is the table of
// contents. Lists of pages and landmarks are not.
func readNav(from string, data []byte, titles map[string]entryTitle) {
	d := decoder(data)
	inside, depth, lists := 0, 0, 0
	for depth < maxXML {
		token, err := d.Token()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			switch {
			case t.Name.Local == "nav":
				if kind := attr(t, "type"); inside == 0 && (kind == "" || strings.Contains(kind, "toc")) {
					inside, lists = depth, 0
				}
			case inside == 0:
			case t.Name.Local == "ol" || t.Name.Local == "ul":
				lists++
			case t.Name.Local == "a":
				name := resolve(from, attr(t, "href"))
				put(titles, name, textOf(d, &depth), lists)
			}
		case xml.EndElement:
			if t.Name.Local == "ol" || t.Name.Local == "ul" {
				lists--
			}
			if depth == inside {
				inside = 0
			}
			depth--
		}
	}
}

// readNCX reads the tree of navPoint elements; in each, the label comes before
// what it leads to.
func readNCX(from string, data []byte, titles map[string]entryTitle) {
	d := decoder(data)
	depth, points := 0, 0
	label := ""
	for depth < maxXML {
		token, err := d.Token()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			switch t.Name.Local {
			case "navPoint":
				points++
				label = ""
			case "text":
				if points > 0 {
					label = textOf(d, &depth)
				}
			case "content":
				if points > 0 {
					put(titles, resolve(from, attr(t, "src")), label, points)
				}
			}
		case xml.EndElement:
			depth--
			if t.Name.Local == "navPoint" {
				points--
			}
		}
	}
}
