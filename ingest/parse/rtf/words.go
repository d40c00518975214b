package rtf

// word takes a control word or symbol.
func (r *reader) word(t token) {
	g := r.top()
	begins := g.begins
	if t.word == "*" {
		g.star = true
		return
	}
	g.begins = false
	if begins && r.enter(t.word, g) {
		return
	}
	switch g.dest {
	case skipped:
		if t.word == "u" {
			r.skip = g.uc
		}
		return
	case fonts:
		r.fontWord(t)
		return
	case styles:
		r.sheet.word(t)
		return
	case detail:
		r.dateWord(t)
	}
	r.textWord(t, g)
}

// enter begins a destination if the word that a group begins with is one.
func (r *reader) enter(name string, g *group) bool {
	if g.dest == skipped {
		// The second half of \upr stands inside the first's group.
		if name == "ud" && r.upr > 0 {
			g.dest = r.groups[max(0, r.upr-1)].dest
			return true
		}
		return g.star || destinations[name] != body
	}
	if name == "upr" {
		r.upr, g.dest = len(r.groups)-1, skipped
		return true
	}
	if g.dest == info {
		if property, ok := details[name]; ok {
			g.dest = detail
			r.detail = property
		} else {
			g.dest = skipped
		}
		return true
	}
	dest, known := destinations[name]
	if g.star {
		if wanted, ok := starred[name]; ok {
			dest, known = wanted, true
		} else {
			dest, known = skipped, true
		}
	}
	if !known {
		return false
	}
	if dest == aside && g.dest == aside {
		return true // a note in a note is a part of it
	}
	if dest == aside {
		r.page.beginAside()
	}
	if dest != body {
		g.dest = dest
	}
	return true
}

// textWord takes the words that are text or say how text is to be read.
func (r *reader) textWord(t token, g *group) {
	if s, ok := characters[t.word]; ok {
		r.write(s)
		return
	}
	on := !t.has || t.number != 0
	switch t.word {
	case "u":
		r.unicode(t.number)
	case "uc":
		g.uc = min(max(t.number, 0), 16)
	case "f":
		g.font = t.number
	case "deff":
		r.defaultFont = t.number
	case "ansicpg":
		r.codePage = t.number
	case "mac":
		r.codePage = 10000
	case "pc":
		r.codePage = 437
	case "pca":
		r.codePage = 850
	case "v", "deleted":
		g.hidden = on
	case "plain":
		g.font, g.hidden = -1, false
	case "pard":
		g.paragraph = plainParagraph
	case "s":
		g.paragraph.style = t.number
	case "outlinelevel":
		g.paragraph.outline = t.number
	case "intbl":
		g.paragraph.table = on
	case "ls":
		g.paragraph.item = t.number > 0
	case "ilvl":
		g.paragraph.level = min(max(t.number, 0), 8)
	default:
		r.breakWord(t.word, g)
	}
}

// breakWord takes the words that end paragraphs, cells and rows.
func (r *reader) breakWord(name string, g *group) {
	switch name {
	case "par", "sect", "page", "column":
		if g.dest != body {
			r.write("\n")
			return
		}
		r.page.endParagraph(g.paragraph, &r.sheet)
	case "cell":
		r.page.endCell()
	case "row":
		r.page.endRow()
	}
}

// characters are the words that stand for text.
var characters = map[string]string{
	"tab": "\t", "line": "\n", "softline": "\n", "lbr": "\n",
	"~": "\u00a0", "_": "-", "-": "\u00ad",
	"emdash": "—", "endash": "–", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ",
	"lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
	"zwj": "\u200d", "zwnj": "\u200c", "nestcell": " ", "nestrow": " ",
}

// fontWord takes a word of the font table.
func (r *reader) fontWord(t token) {
	switch t.word {
	case "f":
		r.font = t.number
	case "fcharset":
		r.setFont(codePageOf(t.number))
	case "cpg":
		r.setFont(t.number)
	}
}

func (r *reader) setFont(codePage int) {
	if len(r.fonts) < maxFonts {
		r.fonts[r.font] = codePage
	}
}

func (r *reader) dateWord(t token) {
	switch t.word {
	case "yr":
		r.date.year = t.number
	case "mo":
		r.date.month = t.number
	case "dy":
		r.date.day = t.number
	case "hr":
		r.date.hour = t.number
	case "min":
		r.date.minute = t.number
	case "sec":
		r.date.second = t.number
	}
}
