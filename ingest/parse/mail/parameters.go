package mail

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// parameters splits a field such as Content-Type into its value, in lower case,
// and its parameters, names in lower case (RFC 2045, 2231), however badly they
// are written.
func parameters(field string) (value string, params map[string]string) {
	value, rest, _ := strings.Cut(field, ";")
	value = strings.ToLower(strings.TrimSpace(value))
	if at := strings.IndexAny(value, " \t("); at >= 0 {
		value = value[:at]
	}
	raw := map[string]string{}
	for rest != "" {
		var name, v string
		name, v, rest = parameter(rest)
		if _, ok := raw[name]; !ok && name != "" && len(raw) < 100 {
			raw[name] = v
		}
	}
	return value, joinParameters(raw)
}

// parameter reads one, up to its semicolon.
func parameter(s string) (name, value, rest string) {
	at := strings.IndexAny(s, "=;")
	if at < 0 {
		return "", "", ""
	}
	if s[at] == ';' {
		return "", "", s[at+1:]
	}
	name = strings.ToLower(strings.TrimSpace(s[:at]))
	s = strings.TrimLeft(s[at+1:], " \t")
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ";")
		return name, strings.TrimSpace(value), rest
	}
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			out.WriteByte(s[i])
		case s[i] == '"':
			_, rest, _ = strings.Cut(s[i:], ";")
			return name, out.String(), rest
		default:
			out.WriteByte(s[i])
		}
	}
	return name, out.String(), ""
}

// joinParameters puts the parts of long values together (name*0, name*1) and
// decodes those in other charsets (name*).
func joinParameters(raw map[string]string) map[string]string {
	out := map[string]string{}
	type part struct {
		number  int
		encoded bool
		text    string
	}
	parts := map[string][]part{}
	for name, v := range raw {
		base, suffix, starred := strings.Cut(name, "*")
		if !starred {
			if _, ok := out[name]; !ok {
				out[name] = decodeWords(v)
			}
			continue
		}
		p := part{text: v, encoded: strings.HasSuffix(name, "*")}
		p.number, _ = strconv.Atoi(strings.TrimSuffix(suffix, "*"))
		parts[base] = append(parts[base], p)
	}
	for name, list := range parts {
		slices.SortFunc(list, func(a, b part) int { return a.number - b.number })
		charset, text := "", ""
		for i, p := range list {
			if !p.encoded {
				text += p.text
				continue
			}
			if i == 0 {
				if fields := strings.SplitN(p.text, "'", 3); len(fields) == 3 {
					charset, p.text = fields[0], fields[2]
				}
			}
			if plain, err := url.PathUnescape(p.text); err == nil {
				p.text = plain
			}
			text += p.text
		}
		out[name] = decodeText([]byte(text), charset)
	}
	return out
}
