package cite

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Filter copies an answer and keeps of its citations, [1], [1, 2], [Source 3]
// or 【1】, the known ones, written [1][2]. What is stripped takes the blanks
// before it along. Text in back quotes is code and stays as it is; white space
// at both ends goes. The output does not depend on how the text is cut into
// writes; what is held back is never longer than a marker and the white space
// before it. The zero value with Known set is ready to use, for one answer.
type Filter struct {
	// Known says whether an id was given out; required.
	Known func(id int) bool
	// Cited is told each id that stays, with its offset in the output; may be nil.
	Cited func(id, at int)

	out     strings.Builder // what the current call returns
	written int             // bytes returned or about to be
	partial string          // a rune that is not whole yet
	blanks  []byte          // white space that may go with a stripped marker
	marker  []byte          // from the opening bracket on; nil outside
	ticks   int             // back quotes in a row, just seen
	code    int             // back quotes that opened the code we are in
}

// maxMarker bounds a marker, in bytes.
const maxMarker = 48

// Write takes the next piece and returns what is certain by now.
func (f *Filter) Write(text string) string {
	text = f.partial + text
	f.partial = ""
	for len(text) > 0 {
		if !utf8.FullRuneInString(text) {
			f.partial = text
			break
		}
		_, n := utf8.DecodeRuneInString(text)
		f.char(text[:n])
		text = text[n:]
	}
	return f.take()
}

// Flush ends the text and returns what was held back.
func (f *Filter) Flush() string {
	f.giveUp()
	f.blanks = nil // an answer does not end in white space
	f.emit(f.partial)
	f.partial = ""
	return f.take()
}

func (f *Filter) take() string {
	s := f.out.String()
	f.out.Reset()
	return s
}

func (f *Filter) emit(s string) {
	f.out.WriteString(s)
	f.written += len(s)
}

func (f *Filter) char(c string) {
	f.countTicks(c)
	switch {
	case f.marker != nil:
		f.inMarker(c)
	case f.code == 0 && f.ticks == 0 && (c == "[" || c == "【"):
		f.marker = append(f.marker[:0:0], c...)
	case c == " " || c == "\t" || c == "\n" || c == "\r":
		f.blanks = append(f.blanks, c...)
	default:
		f.plain(c)
	}
}

// plain lets white space and a character pass; an answer does not begin with
// white space.
func (f *Filter) plain(c string) {
	if f.written > 0 {
		f.emit(string(f.blanks))
	}
	f.blanks = f.blanks[:0]
	f.emit(c)
}

// inMarker takes a character after an opening bracket. A bracket within one
// opens another level: were the inner marker stripped, what is left of the
// outer one could become a marker itself.
func (f *Filter) inMarker(c string) {
	opens := c == "[" || c == "【"
	f.marker = append(f.marker, c...)
	prefix, inside := innermost(string(f.marker))
	switch {
	case c == "]" || c == "】":
		if ids, ok := parseMarker(inside[:len(inside)-len(c)]); ok {
			f.resolve(prefix, ids)
		} else {
			f.giveUp()
		}
	case len(f.marker) > maxMarker || !opens && !markerStart.MatchString(inside):
		f.marker = f.marker[:len(f.marker)-len(c)]
		f.giveUp()
		f.char1(c)
	}
}

// innermost cuts a held text before its last opening bracket.
func innermost(held string) (prefix, inside string) {
	at := max(strings.LastIndex(held, "["), strings.LastIndex(held, "【"))
	_, width := utf8.DecodeRuneInString(held[at:])
	return held[:at], held[at+width:]
}

// char1 treats a character again that ended a marker without being part of it.
func (f *Filter) char1(c string) {
	f.ticks = 0
	f.char(c)
}

// giveUp lets pass what turned out to be no citation.
func (f *Filter) giveUp() {
	if f.marker != nil {
		m := string(f.marker)
		f.marker = nil
		f.plain(m)
	}
}

// resolve writes the known ids, after the prefix of outer brackets. Without
// any the prefix goes on as if nothing had stood there.
func (f *Filter) resolve(prefix string, ids []int) {
	kept := ids[:0]
	for _, id := range ids {
		if f.Known(id) {
			kept = append(kept, id)
		}
	}
	switch {
	case len(kept) > 0:
		f.marker = nil
		f.cite(prefix, kept)
	case prefix != "":
		f.marker = []byte(strings.TrimRight(prefix, " \t\r\n"))
	default:
		f.marker = nil
		f.blanks = f.blanks[:strings.LastIndexByte(string(f.blanks), '\n')+1] // a line break stays
	}
}

func (f *Filter) cite(prefix string, ids []int) {
	f.plain(prefix)
	for _, id := range ids {
		if f.Cited != nil {
			f.Cited(id, f.written)
		}
		f.emit("[" + strconv.Itoa(id) + "]")
	}
}

// countTicks follows code: it begins with a run of back quotes and ends with
// as many; code of one or two ends with its line at the latest.
func (f *Filter) countTicks(c string) {
	if c == "`" {
		f.ticks++
		return
	}
	if f.ticks > 0 {
		switch f.code {
		case 0:
			f.code = f.ticks
		case f.ticks:
			f.code = 0
		}
		f.ticks = 0
	}
	if c == "\n" && f.code > 0 && f.code < 3 {
		f.code = 0
	}
}

var (
	// markerStart accepts every beginning of what markerWhole accepts, and
	// little else.
	markerStart = regexp.MustCompile(`(?i)^\s*(?:s(?:o(?:u(?:r(?:c(?:es?)?)?)?)?)?|c(?:i(?:t(?:a(?:t(?:i(?:o(?:ns?)?)?)?)?)?)?)?)?[\s:#]*(?:\d{1,6}(?:\s*[,;–-]\s*|\s+)?)*$`)
	markerWhole = regexp.MustCompile(`(?i)^\s*(?:sources?|citations?)?[\s:#]*(\d{1,6}(?:(?:\s*[,;–-]\s*|\s+)\d{1,6})*)\s*$`)
	markerItem  = regexp.MustCompile(`(\d+)(?:\s*[–-]\s*(\d+))?`)
)

// parseMarker reads the inside of a bracket as citation ids; ranges are
// counted out, up to 20 ids.
func parseMarker(inside string) ([]int, bool) {
	m := markerWhole.FindStringSubmatch(inside)
	if m == nil {
		return nil, false
	}
	const most = 20
	var ids []int
	for _, item := range markerItem.FindAllStringSubmatch(m[1], -1) {
		from, _ := strconv.Atoi(item[1])
		to := from
		if item[2] != "" {
			to, _ = strconv.Atoi(item[2])
		}
		for id := from; id <= to && len(ids) < most; id++ {
			ids = append(ids, id)
		}
	}
	return ids, len(ids) > 0
}
