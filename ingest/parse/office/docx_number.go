package office

import (
	"strconv"
	"strings"
)

// numbering are the lists of a document and how far they have counted.
type numbering struct {
	lists  map[string]*list // by number
	levels map[string][]numberLevel
}

// list is one list: those of the same abstract one count on together.
type list struct {
	abstract string
	start    map[int]int // of levels that begin anew
	began    bool
	counts   *[maxListLevel]int
}

const (
	maxListLevel = 9
	maxLists     = 20_000
)

// numberLevel is how a level of a list is marked.
type numberLevel struct {
	format string // "decimal", "bullet", ...
	text   string // "%1.%2)"
	start  int
}

// numbering reads the lists of a document.
func (p *pack) numbering(part string) (*numbering, error) {
	out := &numbering{lists: map[string]*list{}, levels: map[string][]numberLevel{}}
	counts := map[string]*[maxListLevel]int{}
	abstract, number, level := "", "", 0
	override := false
	err := p.walk(part, func(s *scanner, t token) error {
		if t.kind == end {
			override = override && t.name != "lvlOverride"
			return nil
		}
		if t.kind != start {
			return nil
		}
		l := out.level(abstract, level)
		switch t.name {
		case "abstractNum":
			abstract, number = t.attr("abstractNumId"), ""
			if len(out.levels) < maxLists {
				out.levels[abstract] = make([]numberLevel, maxListLevel)
			}
		case "lvl":
			level = t.number("ilvl", 0)
		case "start":
			if l != nil && !override {
				l.start = t.number("val", 1)
			}
		case "numFmt":
			if l != nil && !override {
				l.format = t.attr("val")
			}
		case "lvlText":
			if l != nil && !override {
				l.text = t.attr("val")
			}
		case "num":
			abstract, number = "", t.attr("numId")
		case "abstractNumId":
			if number == "" || len(out.lists) == maxLists {
				break
			}
			id := t.attr("val")
			if counts[id] == nil {
				counts[id] = &[maxListLevel]int{}
			}
			out.lists[number] = &list{abstract: id, counts: counts[id], start: map[int]int{}}
		case "lvlOverride":
			override, level = true, t.number("ilvl", 0)
		case "startOverride":
			if l := out.lists[number]; l != nil && level >= 0 && level < maxListLevel {
				l.start[level] = t.number("val", 1)
			}
		}
		return nil
	})
	return out, err
}

func (n *numbering) level(abstract string, level int) *numberLevel {
	levels := n.levels[abstract]
	if level < 0 || level >= len(levels) {
		return nil
	}
	return &levels[level]
}

// next counts an item and returns its mark, "-" for one that has no number and
// "" for what is no list.
func (n *numbering) next(mark listMark) string {
	l := n.lists[mark.number]
	if l == nil {
		if mark.number == "" || mark.number == "0" {
			return ""
		}
		return "-"
	}
	level := min(max(mark.level, 0), maxListLevel-1)
	if !l.began {
		l.began = true
		if len(l.start) > 0 {
			*l.counts = [maxListLevel]int{}
		}
	}
	for i := level + 1; i < maxListLevel; i++ {
		l.counts[i] = 0
	}
	for i := range level + 1 {
		if l.counts[i] == 0 {
			l.counts[i] = n.first(l, i)
			continue
		}
		if i == level {
			l.counts[i]++
		}
	}
	return n.mark(l, level)
}

// first returns what a level counts from.
func (n *numbering) first(l *list, level int) int {
	if start, ok := l.start[level]; ok {
		return start
	}
	if def := n.level(l.abstract, level); def != nil && def.start > 0 {
		return def.start
	}
	return 1
}

// mark writes the counts of a list the way its level says.
func (n *numbering) mark(l *list, level int) string {
	def := n.level(l.abstract, level)
	if def == nil || def.format == "bullet" || def.format == "" && def.text == "" {
		return "-"
	}
	if def.format == "none" {
		return strings.TrimSpace(def.text)
	}
	out := def.text
	for i := range level + 1 {
		format := ""
		if d := n.level(l.abstract, i); d != nil {
			format = d.format
		}
		out = strings.ReplaceAll(out, "%"+strconv.Itoa(i+1), ordinal(l.counts[i], format))
	}
	return strings.TrimSpace(out)
}

// ordinal writes a number in a format of lists; those not known as decimals.
func ordinal(n int, format string) string {
	switch format {
	case "upperRoman":
		return roman(n)
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperLetter":
		return letters(n)
	case "lowerLetter":
		return strings.ToLower(letters(n))
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
	}
	return strconv.Itoa(n)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var out strings.Builder
	for _, d := range []struct {
		value int
		text  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for n >= d.value {
			out.WriteString(d.text)
			n -= d.value
		}
	}
	return out.String()
}

// letters writes 1 as A, 26 as Z, 27 as AA, 28 as BB, as Word does.
func letters(n int) string {
	if n < 1 || n > 26*20 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune('A'+(n-1)%26)), (n-1)/26+1)
}
