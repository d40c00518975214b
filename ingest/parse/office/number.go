package office

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// numberFormat is how a cell shows its number.
type numberFormat struct {
	kind     formatKind
	decimals int
	grouped  bool   // thousands are set apart
	scale    int    // powers of a thousand that are left out
	prefix   string // what stands before and behind
	suffix   string
	negative *numberFormat // of negative numbers, if it differs
	date     bool          // of a time: day, and time of day
	clock    bool
	seconds  bool
}

type formatKind int

const (
	general formatKind = iota
	fixed
	percent
	scientific
	moment
	elapsed // hours that may pass 24
)

// builtin are the formats that files refer to without saying what they are.
// ECMA-376 Part 1, 18.8.30; those of dates that depend on the user's country are
// dates.
var builtin = map[int]string{
	0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "General", 13: "General",
	14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
	27: "yyyy-mm-dd", 28: "yyyy-mm-dd", 29: "yyyy-mm-dd", 30: "yyyy-mm-dd", 31: "yyyy-mm-dd", 32: "h:mm", 33: "h:mm:ss", 34: "yyyy-mm-dd", 35: "yyyy-mm-dd", 36: "yyyy-mm-dd",
	37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
	41: "#,##0;(#,##0)", 42: "$#,##0;($#,##0)", 43: "#,##0.00;(#,##0.00)", 44: "$#,##0.00;($#,##0.00)",
	45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss", 48: "0.0E+0", 49: "@",
	50: "yyyy-mm-dd", 51: "yyyy-mm-dd", 52: "yyyy-mm-dd", 53: "yyyy-mm-dd", 54: "yyyy-mm-dd", 55: "yyyy-mm-dd", 56: "yyyy-mm-dd", 57: "yyyy-mm-dd", 58: "yyyy-mm-dd",
}

// parseFormat reads a format code such as `#,##0.00 [$€-407];[Red]-0`.
func parseFormat(code string) numberFormat {
	sections := splitSections(code)
	out := parseSection(sections[0])
	if len(sections) > 1 && out.kind != moment && out.kind != elapsed && !strings.HasPrefix(sections[0], "[") {
		negative := parseSection(sections[1])
		out.negative = &negative
	}
	return out
}

// splitSections cuts a code at the semicolons outside of quotes.
func splitSections(code string) []string {
	var out []string
	from, quoted := 0, false
	for i := 0; i < len(code); i++ {
		switch code[i] {
		case '"':
			quoted = !quoted
		case '\\':
			i++
		case ';':
			if !quoted {
				out = append(out, code[from:i])
				from = i + 1
			}
		}
	}
	return append(out, code[from:])
}

// parseSection reads one section: its literals go before or behind the number,
// its placeholders say how the number is written.
func parseSection(code string) numberFormat {
	var f numberFormat
	literal, digits, trailing := &f.prefix, false, 0
	point := false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '"':
			stop := strings.IndexByte(code[i+1:], '"')
			if stop < 0 {
				stop = len(code) - i - 1
			}
			*literal += code[i+1 : i+1+stop]
			i += stop + 1
		case '\\':
			if i+1 < len(code) {
				n := len(string([]rune(code[i+1:])[0]))
				*literal += code[i+1 : min(len(code), i+1+n)]
				i += n
			}
		case '_', '*': // room for a character, or one that fills
			if i+1 < len(code) {
				i += len(string([]rune(code[i+1:])[0]))
			}
		case '[':
			stop := strings.IndexByte(code[i:], ']')
			if stop < 0 {
				return f
			}
			f.bracket(code[i+1:i+stop], literal)
			i += stop
		case '0', '#', '?':
			digits, trailing = true, 0
			literal = &f.suffix
			if f.kind == general {
				f.kind = fixed
			}
			if point {
				f.decimals++
			}
		case '.':
			point = true
		case ',':
			if digits {
				trailing++
				f.grouped = true
			}
		case '%':
			f.kind = percent
			*literal += "%"
		case 'E', 'e':
			if i+1 < len(code) && (code[i+1] == '+' || code[i+1] == '-') {
				f.kind = scientific
				f.prefix, f.suffix = "", ""
				return f
			}
			if c == 'e' {
				f.moment('y')
			}
		case 'y', 'Y', 'd', 'D', 'm', 'M', 'h', 'H', 's', 'S', 'b', 'B':
			if c |= 0x20; c == 'm' && strings.HasPrefix(strings.TrimLeft(code[i:], "mM"), ":") {
				c = 'h' // minutes
			}
			f.moment(c)
		case 'G', 'g':
			if len(code) >= i+7 && strings.EqualFold(code[i:i+7], "general") {
				i += 6
				literal = &f.suffix
			}
		case '/':
			if f.kind == fixed { // a fraction: shown as a number
				return numberFormat{}
			}
		case '@', ':':
		case ' ', '-', '+', '(', ')', '$':
			*literal += string(c)
		default:
			if c >= 0x80 { // of a currency
				*literal += code[i : i+1]
			}
		}
	}
	if trailing > 0 {
		f.scale = trailing
		f.grouped = strings.Contains(strings.TrimRight(code[:strings.LastIndexAny(code, ",")], ","), ",")
	}
	return f
}

// bracket reads what stands in brackets: a currency, or hours that go on.
func (f *numberFormat) bracket(text string, literal *string) {
	switch lower := strings.ToLower(text); {
	case strings.HasPrefix(text, "$"):
		symbol, _, _ := strings.Cut(text[1:], "-")
		*literal += symbol
	case lower == "h" || lower == "hh" || lower == "m" || lower == "mm" || lower == "s" || lower == "ss":
		f.kind, f.clock = elapsed, true
	}
}

// moment takes a letter of a date or time.
func (f *numberFormat) moment(letter byte) {
	if f.kind == general || f.kind == fixed {
		f.kind = moment
	}
	switch letter {
	case 'y', 'd', 'b':
		f.date = true
	case 'h':
		f.clock = true
	case 's':
		f.clock, f.seconds = true, true
	}
	if letter == 'm' && !f.clock {
		f.date = true // a month; that it is minutes shows in what follows
	}
}

// show writes a number. mac says that days count from 1904.
func (f numberFormat) show(n float64, mac bool) string {
	if n < 0 && f.negative != nil {
		return f.negative.show(-n, mac)
	}
	switch f.kind {
	case moment:
		return f.showMoment(n, mac)
	case elapsed:
		minutes := math.Round(n * 24 * 60)
		return strconv.Itoa(int(minutes/60)) + ":" + twoDigits(int(math.Abs(math.Mod(minutes, 60))))
	case percent:
		n *= 100
	case general:
		return f.prefix + shortest(n) + f.suffix
	case scientific:
		return strconv.FormatFloat(n, 'E', min(f.decimals, 15), 64)
	}
	for range f.scale {
		n /= 1000
	}
	sign := ""
	if n < 0 {
		sign = "-"
	}
	text := strconv.FormatFloat(math.Abs(n), 'f', min(f.decimals, 30), 64)
	if f.grouped {
		text = group(text)
	}
	if sign != "" && strings.Trim(text, "0.,") == "" {
		sign = ""
	}
	return strings.TrimSpace(sign + f.prefix + text + f.suffix)
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// group sets thousands apart.
func group(text string) string {
	whole, rest, _ := strings.Cut(text, ".")
	var out strings.Builder
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	if rest != "" {
		out.WriteString("." + rest)
	}
	return out.String()
}

// shortest writes a number with the 15 digits that a spreadsheet keeps.
func shortest(n float64) string {
	if n == math.Trunc(n) && math.Abs(n) < 1e15 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64)
	if err != nil {
		rounded = n
	}
	if abs := math.Abs(rounded); abs != 0 && (abs >= 1e21 || abs < 1e-6) {
		return strconv.FormatFloat(rounded, 'E', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// plainNumber is shortest for a number as it stands in a file.
func plainNumber(text string) string {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return strings.TrimSpace(text)
	}
	return shortest(n)
}

// showMoment writes days since 1899-12-31 or 1904-01-01 as ISO 8601 does. The
// first of these calendars has a 29th of February 1900, which there was not.
func (f numberFormat) showMoment(days float64, mac bool) string {
	if days < 0 || days > 2_958_466 {
		return shortest(days)
	}
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case mac:
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60:
		epoch = epoch.AddDate(0, 0, 1)
	}
	whole, part := math.Modf(days)
	at := epoch.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round(part*86_400)) * time.Second)
	clock := "15:04"
	if f.seconds {
		clock = "15:04:05"
	}
	switch {
	case f.clock && f.date:
		return at.Format(time.DateOnly + " " + clock)
	case f.clock:
		return at.Format(clock)
	}
	return at.Format(time.DateOnly)
}
